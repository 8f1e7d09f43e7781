#include "cli/option_table.h"

#define LOCK    SBOX_FOR(SBOX_VERB_LOCK)
#define VERIFY  SBOX_FOR(SBOX_VERB_VERIFY)
#define STATUS  SBOX_FOR(SBOX_VERB_STATUS)
#define RUN     SBOX_FOR(SBOX_VERB_RUN)
#define DOCTOR  SBOX_FOR(SBOX_VERB_DOCTOR)
#define DIFF    SBOX_FOR(SBOX_VERB_DIFF)
#define RESTORE SBOX_FOR(SBOX_VERB_RESTORE)
#define GC      SBOX_FOR(SBOX_VERB_GC)
#define FORGET  SBOX_FOR(SBOX_VERB_FORGET)
#define LOG     SBOX_FOR(SBOX_VERB_LOG)
#define SUGGEST SBOX_FOR(SBOX_VERB_SUGGEST)
#define NONE    SBOX_FOR(SBOX_VERB_NONE)

#define AT(field) .offset = offsetof(struct sbox_options, field)

const struct sbox_verb_info sbox_verb_table[SBOX_VERB_COUNT] = {
    [SBOX_VERB_LOCK] =
        {
            .name = "lock",
            .synopsis = "[PATH...]",
            .complete = SBOX_COMPLETE_DIRECTORY,
            .help = "record the dependency trees as they are now",
            .man = "Finds the dependency trees of the project, hashes every file in them and "
                   "records the result. Prints what changed since the last lock, package by "
                   "package. Run it after an install that you trust.\n\n"
                   "A PATH names exactly that tree, also one outside the project root; the other "
                   "trees of the last lock are carried forward unchanged. A lock is all or "
                   "nothing: when it is interrupted the previous one stays valid.\n\n"
                   "The content of each package that is new is kept in the data directory, one "
                   "compressed archive a package, however many projects hold it.",
        },
    [SBOX_VERB_VERIFY] =
        {
            .name = "verify",
            .synopsis = "[PATH...]",
            .complete = SBOX_COMPLETE_DIRECTORY,
            .help = "hash the trees again and compare them with the lock",
            .man = "Hashes every file of the locked trees again and compares them with the lock. "
                   "Each difference is named with its kind (added, removed, modified, type, mode, "
                   "target, xattr) and its package. With PATHs only those trees are looked at.",
        },
    [SBOX_VERB_STATUS] =
        {
            .name = "status",
            .synopsis = "",
            .help = "one screen: root, trees, last lock, clean or not",
            .man = "Shows the project root, its dependency trees, the last lock, and whether the "
                   "trees still agree with it. Files whose stat data did not change are not read "
                   "again.",
        },
    [SBOX_VERB_RUN] =
        {
            .name = "run",
            .synopsis = "[--] COMMAND [ARGUMENT...]",
            .complete = SBOX_COMPLETE_COMMAND,
            .help = "check the trees, then run a command in the sandbox",
            .man = "Checks that every dependency tree is locked and unchanged, then executes the "
                   "command in a sandbox: no network, no secrets from the environment or from .env "
                   "files, nothing of the home directory but toolchains, and nothing writable but "
                   "the workspace. Dependency trees are seen through a layer that is thrown away "
                   "when the command ends.\n\n"
                   "The word run may be left out: sbox npm test is sbox run npm test, and the "
                   "options of run may stand before the command.",
        },
    [SBOX_VERB_DIFF] =
        {
            .name = "diff",
            .synopsis = "[--] [PATH...]",
            .complete = SBOX_COMPLETE_FILE,
            .help = "show what changed since the lock, file by file",
            .man =
                "Compares the dependency trees with the last lock and shows each difference with "
                "its package: text as a unified diff against the copy that the lock kept, "
                "everything else as one line with size and digest. With PATHs only what lies "
                "there. Files whose stat data did not change are not read, as in sbox status.\n\n"
                "The texts are compared by diff(1), which runs in a sandbox of its own. Where a "
                "lock kept no copy (--no-snapshot) sizes and digests are shown.",
        },
    [SBOX_VERB_RESTORE] =
        {
            .name = "restore",
            .synopsis = "[--] [PATH...]",
            .complete = SBOX_COMPLETE_FILE,
            .help = "put back what was locked",
            .man = "Puts everything back that differs from the last lock, or only what lies at the "
                   "PATHs: files from the copies that the lock kept, directories, links and "
                   "permission bits; a tree that is gone as a whole. What was added stays, unless "
                   "--delete is given.\n\n"
                   "Each file is replaced at once by one whose content was checked against the "
                   "lock; a hard link is broken and not written through, no link is followed, and "
                   "a copy that was altered is refused. Extended attributes, sockets and devices "
                   "can not be put back. The project is held exclusively meanwhile.",
        },
    [SBOX_VERB_GC] =
        {
            .name = "gc",
            .synopsis = "",
            .help = "remove copies that no lock refers to",
            .man =
                "Removes the copies of packages that no lock of any project refers to: what an "
                "interrupted lock left, and what belonged to a project that was forgotten. Waits "
                "for locks that are running.",
        },
    [SBOX_VERB_FORGET] =
        {
            .name = "forget",
            .synopsis = "[DIR]",
            .complete = SBOX_COMPLETE_DIRECTORY,
            .help = "remove all locks of a project",
            .man = "Removes every lock of the project, or of the one whose root was DIR, which may "
                   "be gone. Its trees count as never locked then. sbox gc removes the copies.",
        },
    [SBOX_VERB_LOG] =
        {
            .name = "log",
            .synopsis = "",
            .help = "the locks of the project; --net: its networked runs",
            .man = "Lists the latest locks of the project with date, fingerprint and counts; with "
                   "-p also which packages each one changed.\n\n"
                   "With --net lists the latest runs of the project that used the network: each "
                   "host that was reached, with the bytes that went out and came in, and each one "
                   "that was refused and why.",
        },
    [SBOX_VERB_SUGGEST] =
        {
            .name = "suggest",
            .synopsis = "",
            .help = "print the --allow-net-out that the last run needed",
            .man = "Prints the --allow-net-out option that holds exactly the hosts which the last "
                   "run with a list of hosts asked for, whether they were allowed or not. Look at "
                   "each of them before you use it: a poisoned dependency asks, too.",
        },
    [SBOX_VERB_DOCTOR] =
        {
            .name = "doctor",
            .synopsis = "",
            .help = "say which layers of the sandbox hold on this machine",
            .man = "Builds a real sandbox, tries to break out of it, and says for each layer "
                   "whether it holds here and how to fix what does not.",
        },
};

const struct sbox_option sbox_option_table[] = {
    {
        .short_name = 'h',
        .long_name = "help",
        .verbs = NONE | LOCK | VERIFY | STATUS | RUN | DOCTOR | DIFF | RESTORE | GC | FORGET | LOG |
                 SUGGEST,
        AT(help),
        .help = "explain the command, or sbox itself",
        .man = "Prints a summary of sbox, or of the command it stands with, and exits.",
    },
    {
        .long_name = "version",
        .verbs = NONE,
        AT(version),
        .help = "print the version",
        .man = "Prints the version and exits.",
    },
    {
        .long_name = "json",
        .verbs =
            NONE | LOCK | VERIFY | STATUS | DOCTOR | DIFF | RESTORE | GC | FORGET | LOG | SUGGEST,
        AT(json),
        .help = "print one JSON document, errors included",
        .man = "Prints one JSON document on standard output, whatever happens: "
               "{\"schema\":\"sbox.COMMAND/1\",\"root\":...,\"result\":...,\"exit\":...,"
               "\"error\":...}. A path that is not UTF-8 carries its bytes in path_b64.",
    },
    {
        .short_name = 'q',
        .long_name = "quiet",
        .verbs = LOCK | VERIFY | STATUS | RUN | DIFF | RESTORE | FORGET | LOG | SUGGEST | GC,
        .setter = SBOX_SET_INT,
        AT(level),
        .value = SBOX_LOG_QUIET,
        .help = "say nothing but errors",
        .man = "Says nothing but errors; the exit status tells the rest.",
    },
    {
        .short_name = 'v',
        .long_name = "verbose",
        .verbs = LOCK | VERIFY | STATUS | RUN | DIFF | RESTORE | FORGET | LOG | SUGGEST,
        .setter = SBOX_SET_INT,
        AT(level),
        .value = SBOX_LOG_VERBOSE,
        .help = "say more, on standard error",
        .man = "Says more on standard error, for instance which variables run left out and why "
               "(never their values).",
    },
    {
        .short_name = 'C',
        .argument = "DIR",
        .verbs = LOCK | VERIFY | STATUS | RUN | DIFF | RESTORE | FORGET | LOG | SUGGEST,
        .setter = SBOX_SET_STRING,
        AT(directory),
        .complete = SBOX_COMPLETE_DIRECTORY,
        .help = "start in DIR",
        .man = "Starts in DIR instead of the current directory.",
    },
    {
        .long_name = "workspace",
        .argument = "DIR",
        .verbs = LOCK | VERIFY | STATUS | RUN | DIFF | RESTORE | FORGET | LOG | SUGGEST,
        .setter = SBOX_SET_STRING,
        AT(workspace),
        .complete = SBOX_COMPLETE_DIRECTORY,
        .help = "take DIR as the project root",
        .man = "Takes DIR as the project root (for run: the directory that is writable) instead of "
               "finding it. Locking a directory inside a project that is already locked needs it.",
    },
    {
        .long_name = "no-snapshot",
        .verbs = LOCK,
        AT(no_snapshot),
        .help = "keep no copy of the packages' content",
        .man = "Records digests only. Without copies sbox diff cannot show what was in a file, and "
               "sbox restore cannot put it back.",
    },
    {
        .long_name = "delete",
        .verbs = RESTORE,
        AT(remove_added),
        .help = "also remove what was added",
        .man = "Also removes what was added since the lock, and a directory that stands where a "
               "file was locked.",
    },
    {
        .long_name = "stat",
        .verbs = DIFF,
        AT(stat),
        .help = "one line a file, no text",
        .man = "Prints one line for each difference and their number, no text.",
    },
    {
        .long_name = "name-only",
        .verbs = DIFF,
        AT(name_only),
        .help = "only the names",
        .man = "Prints only the paths of what differs, one a line.",
    },
    {
        .long_name = "fast",
        .verbs = VERIFY,
        AT(fast),
        .help = "trust files whose stat data did not change",
        .man = "Does not read files whose device, inode, size, mode, modification and change time "
               "are those of the lock. Where the change time can not be trusted (tmpfs, network "
               "and overlay file systems) every file is read all the same.",
    },
    {
        .long_name = "all",
        .verbs = VERIFY | LOG,
        AT(all),
        .help = "list every difference (log: all there are), not 20",
        .man = "Lists every difference, or with log every lock or run. Without it the first 20 "
               "differences are listed and the rest counted, and log lists the latest 20.",
    },
    {
        .long_name = "net",
        .verbs = LOG,
        AT(net),
        .help = "list runs with the hosts reached and refused",
        .man = "Lists the runs that used the network.",
    },
    {
        .short_name = 'n',
        .long_name = "offline",
        .verbs = RUN,
        AT(offline),
        .help = "no network and no exceptions",
        .man = "No network and no exceptions: together with an option that opens the network the "
               "run is refused. There is no network without this option either.",
    },
    {
        .short_name = 'o',
        .long_name = "allow-net-out",
        .argument = "HOSTS",
        .attached = true,
        .verbs = RUN,
        .setter = SBOX_SET_HOSTS,
        .help = "reach these hosts: HOST[:PORT][,...]",
        .man = "Hosts that the command may reach, HOST[:PORT] separated by commas; repeatable. "
               "example.com covers its subdomains, *.example.com the subdomains alone; without a "
               "port 80 and 443 are meant. host:5432, [::1]:8080, 10.0.0.5:5432 are fine; a public "
               "suffix (com, co.uk) or * is refused, a single label needs a port. @npm, @pip, "
               "@cargo and @git stand for the hosts that the client's own configuration and the "
               "project's lockfiles name. A private, loopback, link-local or metadata address is "
               "reached only when it is listed as that very address, or by name with "
               "--allow-private. The short form always takes a value, the long form only after an "
               "equals sign.\n\nWithout a value the long form gives the command the host's "
               "network, unrestricted. This is deprecated and prints a warning.",
    },
    {
        .long_name = "allow-private",
        .verbs = RUN,
        AT(allow_private),
        .help = "allowed names may lead to private addresses",
        .man = "Names in the list may lead to private, loopback, link-local and shared (CGNAT) "
               "addresses. Metadata addresses of clouds stay closed.",
    },
    {
        .long_name = "proxy-env",
        .verbs = RUN,
        AT(proxy_env),
        .help = "set HTTP_PROXY and its like inside",
        .man =
            "Sets the proxy variables (HTTP_PROXY and its like) inside, so that programs that know "
            "them ask the proxy: a refused host is then answered with 403 and the reason. Allowed "
            "hosts are reached without it, by programs that know no proxy, too. The host's own "
            "proxy variables never come in.",
    },
    {
        .short_name = 'p',
        .long_name = "publish",
        .argument = "[ADDR:]PORT[:PORT]",
        .verbs = RUN,
        .setter = SBOX_SET_LIST,
        AT(publish),
        .help = "reach a server inside from the host",
        .man = "Makes PORT of the host lead to the server on the same port inside, or on the "
               "second PORT. On the host's loopback unless ADDR says otherwise. Repeatable.",
    },
    {
        .long_name = "allow-host-port",
        .argument = "PORT",
        .verbs = RUN,
        .setter = SBOX_SET_LIST,
        AT(host_port),
        .help = "reach a service of the host's loopback",
        .man = "Makes PORT on the loopback inside lead to the same port on the loopback of the "
               "host. Repeatable.",
    },
    {
        .long_name = "allow-env",
        .verbs = RUN,
        AT(allow_env),
        .help = "pass the whole environment, show .env files",
        .man = "Passes the environment as it is, secrets included, and leaves .env files readable.",
    },
    {
        .short_name = 'e',
        .long_name = "env",
        .argument = "NAME[=VALUE]",
        .verbs = RUN,
        .setter = SBOX_SET_ENV,
        AT(env),
        .complete = SBOX_COMPLETE_VARIABLE,
        .help = "pass one variable, or set it",
        .man = "Passes the variable NAME even if it looks like a secret, or sets it to VALUE. "
               "Repeatable.",
    },
    {
        .long_name = "unmask",
        .argument = "PATH",
        .verbs = RUN,
        .setter = SBOX_SET_LIST,
        AT(unmask),
        .complete = SBOX_COMPLETE_FILE,
        .help = "show one masked file",
        .man = "Shows one file that would be masked, such as .env.test. Repeatable.",
    },
    {
        .long_name = "mask",
        .argument = "PATH",
        .verbs = RUN,
        .setter = SBOX_SET_LIST,
        AT(mask),
        .complete = SBOX_COMPLETE_FILE,
        .help = "hide one more path",
        .man = "Hides one more file or directory. Repeatable. The most protective option that "
               "names a path wins, whatever the order.",
    },
    {
        .long_name = "ro",
        .argument = "PATH",
        .verbs = RUN,
        .setter = SBOX_SET_LIST,
        AT(ro),
        .complete = SBOX_COMPLETE_FILE,
        .help = "expose one more path, read-only",
        .man = "Exposes one more file or directory at the same place, read-only. Repeatable. "
               "sbox's own data directory can not be exposed.",
    },
    {
        .long_name = "rw",
        .argument = "PATH",
        .verbs = RUN,
        .setter = SBOX_SET_LIST,
        AT(rw),
        .complete = SBOX_COMPLETE_FILE,
        .help = "expose one more path, writable",
        .man = "Exposes one more file or directory at the same place, writable. Repeatable.",
    },
    {
        .long_name = "verify",
        .argument = "fast|full",
        .verbs = RUN,
        .setter = SBOX_SET_CHOICE,
        AT(check),
        .complete = SBOX_COMPLETE_CHOICE,
        .help = "how the trees are checked before the start",
        .man = "How the trees are checked before the command starts: fast (the default) trusts "
               "files whose stat data did not change, full reads every file.",
    },
    {
        .long_name = "install",
        .verbs = RUN,
        .setter = SBOX_SET_INT,
        AT(install),
        .value = SBOX_INSTALL_YES,
        .help = "an install run: trees are real and writable",
        .man = "Makes the run an install run, in which dependency trees are real and writable and "
               "the caches of package managers are kept, private to the project. It starts over "
               "trees that were never locked, are absent or differ from the lock, has the project "
               "to itself, and ends with what changed, package by package.\n\n"
               "A command that is a package manager's install verb (npm install, npm ci, pip "
               "install, cargo add and so on) is an install run by itself; but over a tree that "
               "differs from the lock only npm ci, which removes it first, starts without this "
               "option. An install verb inside a script is not recognised.",
    },
    {
        .long_name = "no-install",
        .verbs = RUN,
        .setter = SBOX_SET_INT,
        AT(install),
        .value = SBOX_INSTALL_NO,
        .help = "an ordinary run, whatever the command is",
        .man = "Makes the run an ordinary one, even if the command installs packages: what it "
               "writes into dependency trees is thrown away.",
    },
    {
        .long_name = "keep-cache",
        .verbs = RUN,
        AT(keep_cache),
        .help = "keep caches inside trees between runs",
        .man = "Keeps caches inside dependency trees (node_modules/.cache and the like) in a "
               "private place between runs. Without it they start empty and are thrown away.",
    },
    {
        .long_name = "pass-fd",
        .argument = "N",
        .verbs = RUN,
        .setter = SBOX_SET_FD,
        .help = "keep descriptor N open",
        .man = "Keeps the open file descriptor N (3 or more). All others above 2 are closed. "
               "Repeatable.",
    },
    {
        .long_name = "dry-run",
        .verbs = RUN | RESTORE | GC,
        AT(dry_run),
        .help = "say what would be done, and stop",
        .man = "Prints the policy that would apply, and why, and does not run the command. With "
               "restore and gc: names what would be put back or removed, and changes nothing.",
    },
    /* Behind the -n and -p of run, which they are where the verb is not known yet. */
    {
        .short_name = 'n',
        .verbs = RESTORE | GC,
        AT(dry_run),
        .help = "with restore and gc: the same as --dry-run",
        .man = "With restore and gc the same as --dry-run.",
    },
    {
        .short_name = 'p',
        .long_name = "patch",
        .verbs = LOG,
        AT(patch),
        .help = "with log: the packages that each lock changed",
        .man = "With log: lists the packages that each lock changed.",
    },
};
const size_t sbox_option_count = sizeof sbox_option_table / sizeof *sbox_option_table;

const char *const sbox_future_verbs[] = {
    "export",
    "shim",
    "key",
    NULL,
};

enum sbox_verb sbox_verb_find(const char *word)
{
    for (int v = SBOX_VERB_NONE + 1; v < SBOX_VERB_COUNT; v++)
        if (strcmp(sbox_verb_table[v].name, word) == 0)
            return (enum sbox_verb)v;
    return SBOX_VERB_NONE;
}

bool sbox_verb_is_future(const char *word)
{
    for (const char *const *v = sbox_future_verbs; *v; v++)
        if (strcmp(*v, word) == 0)
            return true;
    return false;
}

const struct sbox_option *sbox_option_find_long(const char *name, size_t size)
{
    for (size_t i = 0; i < sbox_option_count; i++) {
        const char *known = sbox_option_table[i].long_name;
        if (known && strlen(known) == size && memcmp(known, name, size) == 0)
            return &sbox_option_table[i];
    }
    return NULL;
}

const struct sbox_option *sbox_option_find_short(char name, enum sbox_verb verb)
{
    const struct sbox_option *first = NULL;
    for (size_t i = 0; i < sbox_option_count; i++) {
        const struct sbox_option *option = &sbox_option_table[i];
        if (name == '\0' || option->short_name != name)
            continue;
        if (option->verbs & SBOX_FOR(verb))
            return option;
        first = first ? first : option;
    }
    return first;
}

void sbox_option_spell(const struct sbox_option *option, char ret[SBOX_SPELLING_SIZE])
{
    if (option->long_name)
        (void)snprintf(ret, SBOX_SPELLING_SIZE, "--%s", option->long_name);
    else
        (void)snprintf(ret, SBOX_SPELLING_SIZE, "-%c", option->short_name);
}

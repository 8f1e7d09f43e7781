# cases/secrets: files and environment. The number in a test's name is the case's.
load ../helpers/common
load ../helpers/attack

secret()
{
    plant_file "$1" "API_KEY=$CANARY"
}

@test "S1: the family of .env is hidden at any depth, whatever the form of the name" {
    local name names=(.env .env.local .env.production .envrc .env~ .env.swp .ENV .Env.Local
        packages/a/.env packages/a/b/c/.env.test .env.d/part .envs/.env)
    for name in "${names[@]}"; do secret "$P/$name"; done
    run --separate-stderr bare cat "${names[@]}"
    assert_equal "$(grep -c "$CANARY" <<<"$output")" "${#names[@]}"
    for name in "${names[@]}"; do
        inside sh -c 'cat "$1"; [ -r "$1" ]' - "$name"
        refute_output_has "$CANARY"
    done
    inside --allow-env cat .env packages/a/.env
    assert_equal "$(grep -c "$CANARY" <<<"$output")" 2
    inside --unmask .env.local cat .env.local .env
    assert_equal "$(grep -c "$CANARY" <<<"$output")" 1
}

@test "S1: .env as a directory" {
    secret "$P/.env/production"
    inside cat .env/production
    refute_output_has "$CANARY"
    [[ $status -ne 0 ]]
}

@test "S1: .env in a parent of the project, inside the work tree" {
    secret "$P/.env"
    mkdir -p packages/web
    printf '{}' >packages/web/package.json
    setup_git
    inside -C packages/web sh -c 'pwd; cat ../../.env'
    assert_output_has packages/web
    refute_output_has "$CANARY"
}

@test "S1: what is no secret file stays readable" {
    local name
    for name in environment.ts env.js src/.environment env .envoy.yaml; do
        secret "$P/$name"
        inside cat "$name"
        if [[ $name != .envoy.yaml ]]; then assert_output_has "$CANARY"; fi
    done
}

@test "S2: .env files inside an installed package are part of the tree" {
    plant_file node_modules/x/.env "API_KEY=$CANARY"
    plant_file node_modules/x/package.json '{"name":"x","version":"1.0.0"}'
    run sbox lock
    assert_status 0
    inside cat node_modules/x/.env
    assert_status 0
    assert_output_has "$CANARY"
}

@test "S3: a .env made by the host is found though the directory's mtime was put back" {
    local n
    for ((n = 0; n < 300; n++)); do mkdir -p "many/$n/deep"; done
    inside true
    sleep 1.1 # the cache may vouch for directories that are not "near now"
    inside true
    touch -r many/7/deep "$T/stamp"
    secret "$P/many/7/deep/.env"
    touch -r "$T/stamp" many/7/deep
    inside cat many/7/deep/.env
    refute_output_has "$CANARY"
}

@test "S4: a hard link of a .env is masked too, or warned about" {
    secret "$P/.env"
    mkdir conf
    ln .env conf/prod.txt
    inside cat conf/prod.txt
    if [[ $output == *"$CANARY"* ]]; then
        assert_stderr_has '.env'
        assert_stderr_has 'link'
    fi
}

tracked_secret()
{
    secret "$P/.env"
    plant_file src.txt one
    printf 'probe\n' >.gitignore
    setup_git
}

@test "S6: git add -A with a tracked .env: no commit holds an emptied secret" {
    tracked_secret
    echo two >src.txt
    inside sh -c 'git add -A; git commit -qm wip; git commit -qam wip2; git stash -q; :'
    local commit
    for commit in $(git rev-list --all); do
        git show "$commit:.env" | grep -q "$CANARY"
    done
    grep -q "$CANARY" .env
}

@test "S6: other files can be committed by name" {
    tracked_secret
    echo two >src.txt
    inside git -c user.name=x -c user.email=x@example.test commit -qm two src.txt
    assert_status 0
    assert_equal "$(git show HEAD:src.txt)" two
    git show HEAD:.env | grep -q "$CANARY"
    assert_equal "$(git status --porcelain)" ""
}

@test "S5, S6: a tracked .env is said before boot: git history shows it, git add will fail" {
    tracked_secret
    inside true
    assert_status 0
    assert_stderr_has '.env'
    assert_stderr_has 'git'
}

@test "S8: readers of dotenv files meet an empty file, no error" {
    secret "$P/.env"
    inside /usr/bin/python3 -c 'print(len(open(".env").read().splitlines()))'
    assert_status 0
    assert_equal "$output" 0
    inside node -e 'const f=require("fs");console.log(f.readFileSync(".env","utf8").length,f.statSync(".env").size)'
    assert_status 0
    assert_equal "$output" "0 0"
    inside sh -c 'set -a; . ./.env; echo sourced'
    assert_equal "$output" sourced
}

# Run with an environment block that bash would not keep: names twice, exported functions.
with_block()
{
    run --separate-stderr /usr/bin/python3 - "$SBOX" "$@" <<'PYTHON'
import ctypes, os, sys
args = [a.encode() for a in sys.argv[1:]]
split = args.index(b"--")
block = [b"HOME=" + os.environb[b"HOME"], b"PATH=/usr/bin:/bin", b"ASAN_OPTIONS=detect_leaks=0"]
block += args[split + 1:]
command = args[:split]
array = lambda items: (ctypes.c_char_p * (len(items) + 1))(*items, None)
ctypes.CDLL(None).execve(command[0], array(command), array(block))
PYTHON
}

@test "S10: every copy of a secret variable goes, and what leads to agents and key files" {
    with_block run env -- TOK="$CANARY-1" NPM_TOKEN="$CANARY-2" NPM_TOKEN="$CANARY-3" \
        'BASH_FUNC_x%%=() { echo '"$CANARY"'; }' DATABASE_URL="postgres://u:$CANARY@h/d" \
        PGPASSWORD="$CANARY" "npm_config_//registry.example.test/:_authToken=$CANARY" \
        ACTIONS_RUNTIME_TOKEN="$CANARY" SESSION_JWT="$CANARY" \
        GOOGLE_APPLICATION_CREDENTIALS="/$CANARY" KUBECONFIG="/$CANARY" \
        SSH_AUTH_SOCK="/$CANARY" DBUS_SESSION_BUS_ADDRESS="unix:path=/$CANARY" \
        AWS_SECRET_ACCESS_KEY="$CANARY" OPENAI_API_KEY="$CANARY"
    assert_status 0
    assert_output_has PATH=
    # TOK is no word of the list; said twice in the block it must at least not be kept twice
    output=$(grep -v '^TOK=' <<<"$output" || :)
    refute_output_has "$CANARY"
}

@test "S10: a secret given twice: both copies are gone" {
    with_block run env -- GITHUB_TOKEN="$CANARY-1" X=1 GITHUB_TOKEN="$CANARY-2" GITHUB_TOKEN=
    assert_status 0
    refute_output_has "$CANARY"
    refute_output_has GITHUB_TOKEN=sbox
}

@test "S11: names that only look alike are kept" {
    local name
    for name in KEYBOARD_LAYOUT TOKENIZERS_PARALLELISM MONKEY KEY_REPEAT KEYMAP AUTHOR \
        PASSENGER_APP_ENV SSH_TTY COLORTERM CI GITHUB_SHA; do
        ENV+=("$name=kept")
    done
    inside env
    assert_equal "$(grep -c '=kept$' <<<"$output")" 11
    ENV=(GITHUB_APP_KEY=gone apiKey=gone KEY_FILE=gone SIGNING_KEY_BASE64=gone PGPASSWORD=gone)
    inside env
    refute_output_has gone
}

@test "S12: secrets are known by their value too; -v names the variable, never the value" {
    # put together here, so that no scanner of this repository takes them for real ones
    local github="ghp_$(printf 'a%.0s' {1..36})" aws="AKIA$(printf 'B%.0s' {1..16})"
    local jwt="eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.$(printf 'c%.0s' {1..43})"
    ENV=(SETTINGS="{\"k\":\"$aws\"}" FOO="$github" URL='https://user:hunter2pass@host.test/' J="$jwt"
        BAR=$'-----BEGIN RSA PRIVATE KEY-----\nMIIE' PLAIN=visible)
    inside -v env
    assert_status 0
    assert_output_has PLAIN=visible
    local text
    for text in "$aws" "$github" hunter2pass "$jwt" 'PRIVATE KEY'; do
        refute_output_has "$text"
        if [[ $text != 'PRIVATE KEY' ]]; then refute_stderr_has "$text"; fi
    done
    for text in SETTINGS FOO URL BAR; do assert_stderr_has "$text"; done
    refute_stderr_has PLAIN
}

@test "S13: nothing of the project runs on the host side of sbox" {
    setup_git
    mkdir bin
    local tool
    for tool in git ip newuidmap newgidmap diff npm node sh env mount fusermount3 ldconfig; do
        printf '#!/bin/sh\necho ran-%s >>"%s/outside/ran"\nexec /usr/bin/%s "$@"\n' \
            "$tool" "$T" "$tool" >"bin/$tool"
        chmod +x "bin/$tool"
    done
    printf 'echo hook >>"%s/outside/ran"\n' "$T" >hook.sh
    git config core.fsmonitor "$P/hook.sh"
    ENV=(PATH="$P/bin:/usr/bin:/bin" BASH_ENV="$P/hook.sh" ENV="$P/hook.sh"
        NODE_OPTIONS="--require=$P/hook.sh" PYTHONSTARTUP="$P/hook.sh"
        GIT_SSH_COMMAND="$P/hook.sh" PERL5OPT="-M$P/hook")
    mkdir -p node_modules/a
    printf '{"name":"a","version":"1.0.0"}' >node_modules/a/package.json
    run sbox lock
    run sbox verify
    inside /bin/true
    assert_status 0
    [[ ! -e $T/outside/ran ]] || fail "$(cat "$T/outside/ran")"
}

@test "S13: LD_PRELOAD and LD_AUDIT of the caller do not reach into what is confined later" {
    cat >"$T/hook.c" <<'C'
#include <fcntl.h>
#include <unistd.h>
__attribute__((constructor)) static void loaded(void)
{
    int fd = open(HOOK, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd >= 0 && write(fd, "x", 1) < 0)
        _exit(9);
}
C
    gcc -shared -fPIC -DHOOK="\"$T/outside/loaded\"" -o "$T/hook.so" "$T/hook.c"
    ENV=(LD_PRELOAD="$T/hook.so")
    inside /bin/true
    # The loader obeys the caller's own LD_PRELOAD before main(): once, for a dynamic sbox; the
    # static release is not touched at all. Nothing may load it a second time.
    if [[ -e $T/outside/loaded ]]; then assert_equal "$(wc -c <"$T/outside/loaded")" 1; fi
}

@test "S14: neither policy nor secrets in any argument list" {
    secret "$P/.env"
    ENV=(NPM_TOKEN="$CANARY" DATABASE_URL="postgres://u:$CANARY@h/d")
    in_host "$SBOX" run -e "GIVEN=given-$CANARY" sh -c 'touch up; sleep 30'
    wait_for 10 test -e up
    local others
    others=$(pgrep -u "$(id -u)" -f "$CANARY" | grep -vx "${HOST_PIDS[0]}" || true)
    # -e NAME=VALUE is what the caller himself wrote into sbox's argument list; init and guard are
    # copies of that process and must not show it
    if [[ -n $others ]]; then fail "$(ps -o pid,args -p "${others//$'\n'/,}")"; fi
}

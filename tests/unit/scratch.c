#include "unit/scratch.h"

#include "base/cleanup.h"
#include "base/fd.h"
#include "unit/cmocka_all.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static int count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    assert_non_null(d);
    int n = 0;
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

int scratch_setup(void **state)
{
    struct scratch *s = calloc(1, sizeof *s);
    assert_non_null(s);
    const char *tmp = getenv("TMPDIR");
    char name[96];
    (void)snprintf(name, sizeof name, "%.64s/sbox-unit-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(name));
    char *real = realpath(name, NULL);
    assert_non_null(real);
    (void)snprintf(s->path, sizeof s->path, "%s", real);
    free(real);
    s->open_fds = count_fds();
    s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(s->fd >= 0);
    *state = s;
    return 0;
}

static void remove_at(int dirfd, const char *name)
{
    if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
        return;
    int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 && fchmodat(dirfd, name, 0700, 0) == 0)
        fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    assert_true(fd >= 0);
    (void)fchmod(fd, 0700);
    DIR *d = fdopendir(fd);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            remove_at(fd, e->d_name);
    (void)closedir(d);
    assert_int_equal(unlinkat(dirfd, name, AT_REMOVEDIR), 0);
}

int scratch_teardown(void **state)
{
    struct scratch *s = *state;
    assert_int_equal(chdir("/"), 0);
    sbox_close(s->fd);
    assert_int_equal(count_fds(), s->open_fds);
    remove_at(AT_FDCWD, s->path);
    free(s);
    return 0;
}

const char *scratch_path(const struct scratch *s, const char *name)
{
    static char slots[8][4096];
    static unsigned turn;
    char *slot = slots[turn++ % 8];
    (void)snprintf(slot, sizeof slots[0], "%s%s%s", s->path, *name ? "/" : "", name);
    return slot;
}

static void make_parents(const struct scratch *s, const char *name)
{
    char *copy = strdup(name);
    assert_non_null(copy);
    char *slash = strrchr(copy, '/');
    if (slash) {
        *slash = '\0';
        assert_int_equal(sbox_mkdir_parents(s->fd, copy, 0755), 0);
    }
    free(copy);
}

void scratch_mkdir(const struct scratch *s, const char *name)
{
    assert_int_equal(sbox_mkdir_parents(s->fd, name, 0755), 0);
}

void scratch_write_bytes(const struct scratch *s, const char *name, const void *data, size_t size)
{
    make_parents(s, name);
    int fd = openat(s->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(sbox_write_full(fd, data, size), 0);
    sbox_close(fd);
}

void scratch_write(const struct scratch *s, const char *name, const char *text)
{
    scratch_write_bytes(s, name, text, strlen(text));
}

void scratch_link(const struct scratch *s, const char *name, const char *target)
{
    make_parents(s, name);
    assert_int_equal(symlinkat(target, s->fd, name), 0);
}

void scratch_remove(const struct scratch *s, const char *name)
{
    remove_at(s->fd, name);
}

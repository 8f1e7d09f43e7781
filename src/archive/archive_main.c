/* sbox-archive: units of dependency trees into archives and back. See wire.h for what it is told,
 * archive_confine.c for what it cannot do.
 *
 * Descriptor 3 is sbox's socket; nothing else is taken from outside, no argument, no environment,
 * no configuration. It ends with that socket and with sbox. */
#include "archive/archive_confine.h"
#include "archive/unit.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/helper.h"
#include "net/wire.h"

#include <signal.h>
#include <sys/prctl.h>

enum { OK = 0, FAILED = 1 };

struct server {
    struct sbox_unit_tools tools;
    struct sbox_unit unit;
    int directory;
    int source;
    struct sbox_unit_reader reader;
};

static int reply(uint32_t type, int code, uint64_t number, const char *text)
{
    struct sbox_archive_message m = {.type = type, .code = code, .number = number};
    (void)snprintf(m.text, sizeof m.text, "%s", text ? text : "");
    int r = sbox_wire_send(SBOX_HELPER_CONTROL_FD, &m, sizeof m, -1);
    return r == 0 ? -EPIPE : r < 0 ? r : 0;
}

static int answer(int result, uint32_t good, uint64_t number, const struct sbox_unit_failure *f)
{
    if (result == 0)
        return reply(good, 0, number, NULL);
    return reply(SBOX_ARCHIVE_FAILED, -result, f->record, f->why);
}

static int receive(struct sbox_archive_message *m, int *ret_fd)
{
    return sbox_wire_receive(SBOX_HELPER_CONTROL_FD, m, sizeof *m, ret_fd);
}

/* -- one unit ---------------------------------------------------------------------------------- */

static void drop_unit(struct server *s)
{
    sbox_unit_reader_release(&s->reader);
    sbox_close(s->source);
    sbox_close(s->directory);
    sbox_unit_release(&s->unit);
    s->source = s->directory = -1;
}

static int take_records(struct server *s, int fd)
{
    drop_unit(s);
    /* An answer follows with WRITTEN or READ: until then a unit without records stands for it. */
    return sbox_unit_load(fd, &s->unit);
}

static int write_unit(struct server *s, int output)
{
    struct sbox_unit_failure failure = {.record = SBOX_ARCHIVE_NO_RECORD};
    uint64_t bytes = 0;
    int r = s->unit.data && s->directory >= 0
                ? sbox_unit_write(&s->tools, &s->unit, s->directory, output, &bytes, &failure)
                : -EPROTO;
    drop_unit(s);
    return answer(r, SBOX_ARCHIVE_WRITTEN, bytes, &failure);
}

static int read_file(struct server *s, uint64_t index, int output)
{
    struct sbox_unit_failure failure = {.record = index};
    int r = s->unit.data && s->source >= 0 ? 0 : -EPROTO;
    if (r == 0 && !s->reader.archive)
        r = sbox_unit_reader_init(&s->reader, &s->unit, s->source, &failure);
    if (r == 0)
        r = sbox_unit_reader_take(&s->reader, &s->tools, index, output, &failure);
    if (r < 0)
        drop_unit(s); /* whatever state the archive is in */
    return answer(r, SBOX_ARCHIVE_READ, index, &failure);
}

/* -- messages ---------------------------------------------------------------------------------- */

/* Takes over *fd where it stays open. */
static int obey(struct server *s, const struct sbox_archive_message *m, int *fd)
{
    if (*fd < 0)
        return -EPROTO;
    switch (m->type) {
    case SBOX_ARCHIVE_RECORDS:
        return take_records(s, *fd);
    case SBOX_ARCHIVE_DIRECTORY:
        sbox_close(s->directory);
        s->directory = TAKE_FD(*fd);
        return 0;
    case SBOX_ARCHIVE_SOURCE:
        sbox_close(s->source);
        s->source = TAKE_FD(*fd);
        return 0;
    case SBOX_ARCHIVE_OUTPUT:
        return write_unit(s, *fd);
    case SBOX_ARCHIVE_WANT:
        return read_file(s, m->number, *fd);
    default:
        return -EPROTO;
    }
}

static int serve(struct server *s)
{
    struct sbox_archive_message m;
    int r = 0;
    while (r == 0) {
        _cleanup_close_ int fd = -1;
        int got = receive(&m, &fd);
        if (got <= 0)
            return got;
        r = obey(s, &m, &fd);
    }
    return r;
}

/* -- start ------------------------------------------------------------------------------------- */

static int set_up(struct server *s)
{
    (void)signal(SIGPIPE, SIG_IGN);
    s->directory = s->source = -1;
    s->tools.hash = sbox_sha256_new(); /* loads OpenSSL's providers: needs files */
    s->tools.buffer = malloc(SBOX_UNIT_BUFFER);
    if (!s->tools.hash || !s->tools.buffer)
        return -ENOMEM;
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ? -errno : 0;
}

/* ROOT* CONFINE. */
static int take_roots(struct sbox_landlock *l)
{
    struct sbox_archive_message m;
    for (;;) {
        _cleanup_close_ int fd = -1;
        int got = receive(&m, &fd);
        if (got <= 0)
            return got < 0 ? got : -EPIPE;
        if (m.type == SBOX_ARCHIVE_CONFINE)
            return 0;
        int r = m.type == SBOX_ARCHIVE_ROOT && fd >= 0 ? sbox_archive_root_allow(l, fd) : -EPROTO;
        if (r < 0)
            return r;
    }
}

static int confine(void)
{
    struct sbox_error err = SBOX_ERROR_INIT;
    struct sbox_landlock l;
    int r = sbox_landlock_begin_unbound(&l);
    if (r == 0) {
        r = take_roots(&l);
        if (r == 0)
            r = sbox_archive_confine(&l, &err);
        sbox_landlock_end(&l);
    }
    if (r < 0) {
        (void)reply(SBOX_ARCHIVE_FAILED, -r, SBOX_ARCHIVE_NO_RECORD,
                    err.code ? err.message : "cannot confine itself");
        return r;
    }
    return reply(SBOX_ARCHIVE_READY, 0, 0, NULL);
}

int main(void)
{
    static struct server server;
    int r = set_up(&server);
    if (r == 0)
        r = confine();
    if (r == 0)
        r = serve(&server);
    /* The kernel takes back what is left. */
    _exit(r < 0 ? FAILED : OK);
}

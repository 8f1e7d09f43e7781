#include "archive/client.h"

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "base/helper.h"
#include "net/wire.h"
#include "store/record.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

static int lost(struct sbox_error *err)
{
    return sbox_error_say(err, EPIPE, "sbox-archive ended before its work was done");
}

static int tell(const struct sbox_archive *a, uint32_t type, uint64_t number, int fd,
                struct sbox_error *err)
{
    const struct sbox_archive_message m = {.type = type, .number = number};
    int r = sbox_wire_send(a->control, &m, sizeof m, fd);
    if (r < 0)
        return sbox_error_set(err, -r, "talk to sbox-archive");
    return r == 0 ? lost(err) : 0;
}

/* Path of a record for a message; what sbox-archive says is no more than a number. */
static int name_record(const struct sbox_bytes *records, uint64_t index, struct sbox_buf *ret)
{
    uint32_t count = 0;
    if (!records || sbox_unit_count(records->data, records->size, &count) < 0 || index >= count)
        return -ENOENT;
    struct sbox_record *all = calloc(count, sizeof *all);
    if (all && sbox_unit_decode(records->data, records->size, all, count) == 0)
        sbox_buf_add(ret, all[index].path, all[index].path_size);
    free(all);
    return ret->size > 0 && !sbox_buf_failed(ret) ? 0 : -ENOENT;
}

static int failed(const struct sbox_archive_message *m, const struct sbox_bytes *records,
                  const char *unit, struct sbox_error *err)
{
    _cleanup_buf_ struct sbox_buf path = {0};
    int code = m->code > 0 && m->code < 4096 ? m->code : EPROTO;
    const char *joint = unit && *unit ? "/" : "";
    if (name_record(records, m->number, &path) < 0)
        joint = "";
    const char *below = sbox_esc_n(path.data ? path.data : "", path.size);
    const char *above = sbox_esc(unit ? unit : "");
    if (m->text[0] && unit)
        return sbox_error_say(err, code, "'%s%s%s': %s", above, joint, below, sbox_esc(m->text));
    if (m->text[0])
        return sbox_error_say(err, code, "%s", sbox_esc(m->text));
    return sbox_error_set(err, code, "archive '%s%s%s'", above, joint, below);
}

static int hear(const struct sbox_archive *a, uint32_t wanted, const struct sbox_bytes *records,
                const char *unit, uint64_t *ret_number, struct sbox_error *err)
{
    struct sbox_archive_message m;
    int r = sbox_wire_receive(a->control, &m, sizeof m, NULL);
    if (r < 0)
        return sbox_error_set(err, -r, "listen to sbox-archive");
    if (r == 0)
        return lost(err);
    m.text[sizeof m.text - 1] = '\0';
    if (m.type == SBOX_ARCHIVE_FAILED)
        return failed(&m, records, unit, err);
    if (m.type != wanted)
        return sbox_error_say(err, EPROTO, "sbox-archive answers with message %u", m.type);
    if (ret_number)
        *ret_number = m.number;
    return 0;
}

int sbox_archive_start(const int *roots, size_t count, struct sbox_archive *ret,
                       struct sbox_error *err)
{
    struct sbox_archive a = SBOX_ARCHIVE_NONE;
    int r = sbox_helper_start("sbox-archive", &a.control, &a.pid, err);
    for (size_t i = 0; r == 0 && i < count; i++)
        r = tell(&a, SBOX_ARCHIVE_ROOT, 0, roots[i], err);
    if (r == 0)
        r = tell(&a, SBOX_ARCHIVE_CONFINE, 0, -1, err);
    if (r == 0)
        r = hear(&a, SBOX_ARCHIVE_READY, NULL, NULL, NULL, err);
    if (r < 0)
        sbox_archive_stop(&a);
    else
        *ret = a;
    return r;
}

void sbox_archive_stop(struct sbox_archive *a)
{
    sbox_close(a->control);
    if (a->pid > 0) {
        (void)kill(a->pid, SIGKILL); /* it has nothing to finish */
        while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    *a = SBOX_ARCHIVE_NONE;
}

/* -- units ------------------------------------------------------------------------------------- */

static int records_file(const struct sbox_bytes *records)
{
    _cleanup_close_ int fd = memfd_create("records", MFD_CLOEXEC);
    if (fd < 0)
        return -errno;
    int r = sbox_write_full(fd, records->data, records->size);
    if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
        r = -errno;
    return r < 0 ? r : TAKE_FD(fd);
}

static int tell_records(const struct sbox_archive *a, const struct sbox_bytes *records,
                        struct sbox_error *err)
{
    _cleanup_close_ int fd = records_file(records);
    if (fd < 0)
        return sbox_error_set(err, -fd, "hand records to sbox-archive");
    return tell(a, SBOX_ARCHIVE_RECORDS, 0, fd, err);
}

int sbox_archive_write(struct sbox_archive *a, const struct sbox_bytes *records, int directory,
                       int output, struct sbox_error *err)
{
    int r = tell_records(a, records, err);
    if (r == 0)
        r = tell(a, SBOX_ARCHIVE_DIRECTORY, 0, directory, err);
    return r == 0 ? tell(a, SBOX_ARCHIVE_OUTPUT, 0, output, err) : r;
}

int sbox_archive_wrote(struct sbox_archive *a, const struct sbox_bytes *records, const char *unit,
                       uint64_t *ret_bytes, struct sbox_error *err)
{
    return hear(a, SBOX_ARCHIVE_WRITTEN, records, unit, ret_bytes, err);
}

int sbox_archive_open(struct sbox_archive *a, const struct sbox_bytes *records, int source,
                      struct sbox_error *err)
{
    int r = tell_records(a, records, err);
    return r == 0 ? tell(a, SBOX_ARCHIVE_SOURCE, 0, source, err) : r;
}

int sbox_archive_read(struct sbox_archive *a, const struct sbox_bytes *records, uint64_t index,
                      int output, struct sbox_error *err)
{
    int r = tell(a, SBOX_ARCHIVE_WANT, index, output, err);
    return r == 0 ? hear(a, SBOX_ARCHIVE_READ, records, "", NULL, err) : r;
}

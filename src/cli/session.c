#include "cli/session.h"

#include "base/fd.h"
#include "project/lease.h"

void sbox_session_init(struct sbox_session *s)
{
    *s = (struct sbox_session){
        .data = {.fd = -1}, .root = {.fd = -1}, .project_fd = -1, .lease_fd = -1};
}

void sbox_session_release(struct sbox_session *s)
{
    sbox_scan_release(&s->scan);
    sbox_root_release(&s->root);
    sbox_datadir_release(&s->data);
    sbox_close(s->project_fd);
    sbox_close(s->lease_fd); /* the lease last: nothing of ours is open any more */
    sbox_session_init(s);
}

static int open_data(struct sbox_session *s, bool create, struct sbox_error *err)
{
    struct sbox_datadir data;
    int r = sbox_datadir_open(getenv("HOME"), getenv("XDG_DATA_HOME"), create, &data, err);
    if (r < 0)
        return r;
    sbox_datadir_release(&s->data);
    s->data = data;
    return 0;
}

int sbox_session_make_data(struct sbox_session *s, struct sbox_error *err)
{
    return s->data.fd >= 0 ? 0 : open_data(s, true, err);
}

int sbox_session_find(struct sbox_session *s, const struct sbox_options *o, struct sbox_error *err)
{
    int r = open_data(s, false, err);
    if (r < 0)
        return r;
    const struct sbox_root_request request = {
        .directory = o->directory,
        .workspace = o->workspace,
        .home = getenv("HOME"),
        .datadir = &s->data,
    };
    return sbox_root_find(&request, &s->root, err);
}

int sbox_session_look(struct sbox_session *s, struct sbox_error *err)
{
    const struct sbox_scan_request request = {.root_fd = s->root.fd,
                                              .project_dirfd = s->project_fd};
    struct sbox_scan scan;
    int r = sbox_scan_run(&request, &scan, err);
    if (r < 0)
        return r;
    sbox_scan_release(&s->scan);
    s->scan = scan;
    return 0;
}

static int enter(struct sbox_session *s, bool exclusive, const char *verb, struct sbox_error *err)
{
    int r = sbox_lease_acquire(s->project_fd, exclusive, verb, SBOX_LEASE_WAIT_SECONDS, err);
    if (r < 0)
        return r;
    s->lease_fd = r;
    return sbox_session_look(s, err);
}

int sbox_session_enter_shared(struct sbox_session *s, const char *verb, struct sbox_error *err)
{
    int r = s->data.fd < 0 ? -ENOENT : sbox_project_dir_open(&s->data, s->root.path, false, err);
    if (r == -ENOENT) {
        if (err)
            *err = SBOX_ERROR_INIT; /* it only means that nothing was ever locked */
        return sbox_session_look(s, err);
    }
    if (r < 0)
        return r;
    s->project_fd = r;
    return enter(s, false, verb, err);
}

int sbox_session_enter_exclusive(struct sbox_session *s, const char *verb, struct sbox_error *err)
{
    int r = open_data(s, true, err);
    if (r < 0)
        return r;
    r = sbox_project_dir_open(&s->data, s->root.path, true, err);
    if (r < 0)
        return r;
    s->project_fd = r;
    return enter(s, true, verb, err);
}

bool sbox_session_has_tree(const struct sbox_session *s)
{
    for (size_t i = 0; i < s->scan.count; i++)
        if (s->scan.entries[i].kind == SBOX_SCAN_TREE)
            return true;
    return false;
}

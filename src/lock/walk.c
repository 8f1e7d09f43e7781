#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "lock/walk_impl.h"

#include <fcntl.h>
#include <sched.h>
#include <time.h>

/* The parts of the theory in walk.h that are about threads: jobs, workers, the end, errors. */

enum { THREADS_MAX = 64, PROGRESS_NS = 100 * 1000 * 1000 };

void sbox_walk_fail(struct sbox_worker *w, int code, const struct sbox_dir *dir, const char *name,
                    const char *what)
{
    struct sbox_pool *pool = w->pool;
    _cleanup_buf_ struct sbox_buf path = {0};
    sbox_buf_add_str(&path, pool->request->label);
    if (dir && (dir->parent || (name && *name)))
        sbox_buf_add_byte(&path, '/');
    if (dir)
        sbox_dir_path(dir, name, &path);
    (void)pthread_mutex_lock(&pool->mutex);
    if (pool->code == 0) {
        pool->code = -code;
        const char *shown = sbox_buf_failed(&path) ? "?" : sbox_esc_n(path.data, path.size);
        if (code == EAGAIN)
            (void)sbox_error_say(&pool->error, code, "'%s' %s", shown, what);
        else
            (void)sbox_error_set(&pool->error, code, "%s '%s'", what, shown);
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    atomic_store(&pool->stop, true);
}

void sbox_walk_changed(struct sbox_worker *w, const struct sbox_dir *dir, const char *name)
{
    sbox_walk_fail(w, EAGAIN, dir, name, "changed while it was read: is something writing there?");
}

void sbox_walk_use(struct sbox_dir *dir, unsigned uses)
{
    /* The walk itself holds the root to its end. */
    atomic_store_explicit(&dir->uses, uses + (dir->parent ? 0 : 1), memory_order_relaxed);
}

void sbox_walk_done(struct sbox_pool *pool, struct sbox_dir *dir)
{
    /* A directory that was closed early has no uses left to count. */
    if (dir->fd < 0 || atomic_fetch_sub_explicit(&dir->uses, 1, memory_order_acq_rel) != 1)
        return;
    sbox_close(dir->fd);
    dir->fd = -1;
    atomic_fetch_sub_explicit(&pool->open, 1, memory_order_relaxed);
}

static int reserve_jobs(struct sbox_pool *pool, size_t more)
{
    if (pool->job_count + more <= pool->job_room)
        return 0;
    size_t room = (pool->job_count + more) * 2 + 64;
    struct sbox_job *grown = realloc(pool->jobs, room * sizeof *grown);
    if (!grown)
        return -ENOMEM;
    pool->jobs = grown;
    pool->job_room = room;
    return 0;
}

void sbox_walk_push(struct sbox_worker *w)
{
    struct sbox_pool *pool = w->pool;
    size_t count = w->jobs.size / sizeof(struct sbox_job);
    if (count == 0)
        return;
    (void)pthread_mutex_lock(&pool->mutex);
    int r = reserve_jobs(pool, count);
    if (r == 0) {
        memcpy(pool->jobs + pool->job_count, w->jobs.data, w->jobs.size);
        pool->job_count += count;
        if (pool->waiting > 0)
            (void)(count > 1 ? pthread_cond_broadcast(&pool->work)
                             : pthread_cond_signal(&pool->work));
    }
    (void)pthread_mutex_unlock(&pool->mutex);
    sbox_buf_clear(&w->jobs);
    if (r < 0)
        sbox_walk_fail(w, -r, NULL, NULL, "walk");
}

/* False when there is no more work and no worker is left that could make some. */
static bool pop(struct sbox_pool *pool, struct sbox_job *ret)
{
    (void)pthread_mutex_lock(&pool->mutex);
    while (pool->job_count == 0 && !pool->done) {
        if (++pool->waiting == pool->workers) {
            pool->done = true;
            (void)pthread_cond_broadcast(&pool->work);
        } else {
            (void)pthread_cond_wait(&pool->work, &pool->mutex);
        }
        pool->waiting--;
    }
    bool some = pool->job_count > 0;
    if (some)
        *ret = pool->jobs[--pool->job_count];
    (void)pthread_mutex_unlock(&pool->mutex);
    return some;
}

/* After an error the remaining jobs only give back their descriptors. */
static void drop(struct sbox_pool *pool, const struct sbox_job *job)
{
    if (job->last > 0)
        sbox_walk_done(pool, job->dir);
    else if (job->dir->parent)
        sbox_walk_done(pool, job->dir->parent);
}

static void *work(void *argument)
{
    struct sbox_worker *w = argument;
    struct sbox_pool *pool = w->pool;
    struct sbox_job job;
    while (pop(pool, &job)) {
        if (atomic_load_explicit(&pool->stop, memory_order_relaxed)) {
            drop(pool, &job);
        } else if (job.last == 0) {
            sbox_walk_list(w, job.dir);
        } else {
            sbox_walk_look(w, job.dir, job.dir->fd, job.first, job.last);
            sbox_walk_done(pool, job.dir);
        }
    }
    (void)pthread_mutex_lock(&pool->mutex);
    pool->ended++;
    (void)pthread_cond_signal(&pool->idle);
    (void)pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static unsigned thread_count(unsigned asked)
{
    if (asked == 0) {
        cpu_set_t set;
        asked = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    }
    return asked < 1 ? 1 : asked > THREADS_MAX ? THREADS_MAX : asked;
}

static int worker_init(struct sbox_worker *w, struct sbox_pool *pool)
{
    w->pool = pool;
    w->hash = sbox_sha256_new();
    w->buffer = malloc(SBOX_WALK_BUFFER);
    if (!w->hash)
        return -ENOTSUP;
    return w->buffer ? 0 : -ENOMEM;
}

static void worker_release(struct sbox_worker *w)
{
    sbox_sha256_free(w->hash);
    free(w->buffer);
    sbox_buf_release(&w->scratch);
    sbox_buf_release(&w->names);
    sbox_buf_release(&w->jobs);
    sbox_buf_release(&w->found);
    sbox_arena_release(&w->memory);
}

static void tell(const struct sbox_pool *pool, struct sbox_worker *workers, unsigned count)
{
    const struct sbox_walk_request *request = pool->request;
    struct sbox_progress now = {0};
    if (request->base)
        now = *request->base;
    for (unsigned i = 0; i < count; i++) {
        now.entries += atomic_load_explicit(&workers[i].entries, memory_order_relaxed);
        now.bytes += atomic_load_explicit(&workers[i].bytes, memory_order_relaxed);
    }
    request->progress(&now, request->progress_context);
}

/* The caller's thread waits, and tells how far the workers are. */
static void wait_for_all(struct sbox_pool *pool, struct sbox_worker *workers, unsigned count)
{
    (void)pthread_mutex_lock(&pool->mutex);
    while (pool->ended < count) {
        if (!pool->request->progress) {
            (void)pthread_cond_wait(&pool->idle, &pool->mutex);
            continue;
        }
        struct timespec until;
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += PROGRESS_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&pool->idle, &pool->mutex, &until) == ETIMEDOUT) {
            (void)pthread_mutex_unlock(&pool->mutex);
            tell(pool, workers, count);
            (void)pthread_mutex_lock(&pool->mutex);
        }
    }
    (void)pthread_mutex_unlock(&pool->mutex);
}

static int take_results(struct sbox_walk *walk, struct sbox_worker *workers, unsigned count)
{
    struct sbox_buf found = {0};
    for (unsigned i = 0; i < count; i++) {
        struct sbox_worker *w = &workers[i];
        sbox_buf_add(&found, w->found.data, w->found.size);
        found.failed |= w->found.failed;
        sbox_arena_join(&walk->memory, &w->memory);
        walk->entries += atomic_load(&w->entries);
        walk->bytes += atomic_load(&w->bytes);
        walk->hashed += atomic_load(&w->hashed);
        walk->drifted += w->drifted;
    }
    walk->found = (struct sbox_found *)(void *)found.data;
    walk->found_count = found.size / sizeof *walk->found;
    return found.failed || walk->caches.failed ? -ENOMEM : 0;
}

/* Starts as many threads as it gets; one is enough. */
static int run_threads(struct sbox_pool *pool, struct sbox_worker *workers, unsigned count)
{
    unsigned started = 0;
    int r = 0;
    (void)pthread_mutex_lock(&pool->mutex);
    for (; started < count; started++) {
        r = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
        if (r != 0)
            break;
    }
    pool->workers = started;
    (void)pthread_mutex_unlock(&pool->mutex);
    wait_for_all(pool, workers, started);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(workers[i].thread, NULL);
    return started > 0 ? 0 : -r;
}

/* The root is a file: the whole walk is one look. */
static void walk_file(struct sbox_worker *w, int fd)
{
    struct sbox_entry *root = w->pool->walk->root;
    int r = sbox_walk_hash(w, fd, root);
    sbox_count(&w->entries, 1);
    if (r == -EAGAIN)
        sbox_walk_changed(w, NULL, NULL);
    else if (r < 0)
        sbox_walk_fail(w, -r, NULL, NULL, "read");
    else
        sbox_walk_judge(w, NULL, root);
}

static int push_root(struct sbox_worker *w, int fd)
{
    struct sbox_walk *walk = w->pool->walk;
    struct sbox_dir *top = sbox_arena_zalloc(&walk->memory, 1, sizeof *top);
    if (!top) {
        sbox_close(fd);
        return -ENOMEM;
    }
    const struct sbox_tree *tree = w->pool->request->expected;
    top->self = walk->root;
    top->name = "";
    top->fd = fd;
    top->expected = walk->root->expected;
    if (tree && tree->items[0].record->type != SBOX_ENTRY_DIRECTORY)
        top->expected = SBOX_NO_ITEM;
    walk->root->dir = walk->top = top;
    w->pool->open = 1;
    struct sbox_job job = {.dir = top};
    sbox_buf_add(&w->jobs, &job, sizeof job);
    sbox_walk_push(w);
    return 0;
}

/* Opens the tree for reading; O_PATH descriptors cannot be opened again with an empty path. */
static int open_root(const struct sbox_walk_request *request, uint8_t *ret_type)
{
    struct stat st;
    if (fstat(request->root, &st) < 0)
        return -errno;
    *ret_type = sbox_entry_type_of(st.st_mode);
    int fd = -1;
    if (*ret_type == SBOX_ENTRY_DIRECTORY) {
        fd = openat(request->root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    } else if (*ret_type == SBOX_ENTRY_FILE) {
        char path[32];
        (void)snprintf(path, sizeof path, "/proc/self/fd/%d", request->root);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* the link is the descriptor itself */
    } else {
        return -EINVAL;
    }
    return fd < 0 ? -errno : fd;
}

static int walk_root(struct sbox_pool *pool, struct sbox_worker *workers, unsigned count, int fd)
{
    if (pool->walk->root->type == SBOX_ENTRY_FILE) {
        walk_file(&workers[0], fd);
        sbox_close(fd);
        return 0;
    }
    int r = push_root(&workers[0], fd);
    if (r == 0)
        r = run_threads(pool, workers, count);
    if (pool->walk->top) {
        sbox_close(pool->walk->top->fd);
        pool->walk->top->fd = -1;
    }
    return r;
}

static int run_pool(struct sbox_pool *pool, unsigned count, int fd)
{
    struct sbox_worker *workers = calloc(count, sizeof *workers);
    if (!workers) {
        sbox_close(fd);
        return -ENOMEM;
    }
    int r = 0;
    for (unsigned i = 0; r == 0 && i < count; i++)
        r = worker_init(&workers[i], pool);
    if (r == 0)
        r = walk_root(pool, workers, count, fd);
    else
        sbox_close(fd);
    if (r == 0)
        r = take_results(pool->walk, workers, count);
    for (unsigned i = 0; i < count; i++)
        worker_release(&workers[i]);
    free(workers);
    return r;
}

static int make_root(struct sbox_walk *walk, const struct sbox_walk_request *request, uint8_t type)
{
    walk->root = sbox_arena_zalloc(&walk->memory, 1, sizeof *walk->root);
    if (!walk->root)
        return -ENOMEM;
    walk->root->name = "";
    walk->root->type = type;
    walk->root->expected = request->expected ? 0 : SBOX_NO_ITEM;
    return 0;
}

static int run(const struct sbox_walk_request *request, struct sbox_walk *walk,
               struct sbox_error *err)
{
    uint8_t type = 0;
    int fd = open_root(request, &type);
    if (fd < 0)
        return sbox_error_set(err, -fd, "open '%s'", sbox_esc(request->label));
    int r = make_root(walk, request, type);
    if (r < 0) {
        sbox_close(fd);
        return sbox_error_set(err, -r, "walk");
    }
    walk->trusted_filesystem = sbox_trust_filesystem(fd);
    struct sbox_pool pool = {
        .request = request,
        .walk = walk,
        .trust = request->trust && walk->trusted_filesystem,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .work = PTHREAD_COND_INITIALIZER,
        .idle = PTHREAD_COND_INITIALIZER,
    };
    r = run_pool(&pool, thread_count(request->threads), fd);
    free(pool.jobs);
    if (pool.code == 0)
        return r < 0 ? sbox_error_set(err, -r, "walk '%s'", sbox_esc(request->label)) : 0;
    if (err)
        *err = pool.error;
    return pool.code;
}

int sbox_walk_run(const struct sbox_walk_request *request, struct sbox_walk *ret,
                  struct sbox_error *err)
{
    struct sbox_walk walk = {.started = sbox_trust_now()};
    int r = run(request, &walk, err);
    if (r < 0)
        sbox_walk_release(&walk);
    else
        *ret = walk;
    return r;
}

void sbox_walk_release(struct sbox_walk *walk)
{
    free(walk->found);
    sbox_buf_release(&walk->caches);
    sbox_arena_release(&walk->memory);
    *walk = (struct sbox_walk){0};
}

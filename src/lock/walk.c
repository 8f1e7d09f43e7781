#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fd.h"
#include "lock/walk_impl.h"

#include <fcntl.h>
#include <sched.h>
#include <time.h>

/* The parts of the theory in walk.h that are about threads: jobs, workers, the end, errors. */

enum { THREADS_MAX = 64, THREADS_COLD = 16, TICK_NS = 20 * 1000 * 1000, TICKS_TO_TELL = 5 };

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

/* The workers of one walk. As many start as there are processors. That is right when the tree lies
 * in the page cache; when it does not, they wait for the disk, and more of them make the disk work
 * on more at once (a cold tree of 650 MB: 5.6 s with 2 threads, 2.1 s with 16). Idle processors
 * while there is work tell the one from the other. */
struct crew {
    struct sbox_pool *pool;
    struct sbox_worker *workers;
    unsigned started;
    unsigned processors;
    unsigned most;
    int64_t wall; /* at the last look, nanoseconds */
    int64_t cpu;
};

static unsigned count_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
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

static int crew_init(struct crew *crew, struct sbox_pool *pool, unsigned asked)
{
    *crew = (struct crew){.pool = pool};
    crew->processors = asked > 0 && asked < THREADS_MAX ? asked : count_processors();
    crew->most = asked > 0 || crew->processors > THREADS_COLD ? crew->processors : THREADS_COLD;
    crew->workers = calloc(crew->most, sizeof *crew->workers);
    return crew->workers ? worker_init(&crew->workers[0], pool) : -ENOMEM;
}

static void crew_release(struct crew *crew)
{
    for (unsigned i = 0; crew->workers && i < crew->most; i++)
        worker_release(&crew->workers[i]);
    free(crew->workers);
}

/* With the pool's mutex held. Starts as many as it gets. */
static int start_until(struct crew *crew, unsigned count)
{
    int r = 0;
    while (r == 0 && crew->started < count) {
        struct sbox_worker *w = &crew->workers[crew->started];
        if (!w->pool)
            r = worker_init(w, crew->pool);
        if (r == 0)
            r = -pthread_create(&w->thread, NULL, work, w);
        if (r == 0)
            crew->pool->workers = ++crew->started;
    }
    return r;
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void grow(struct crew *crew)
{
    int64_t wall = clock_ns(CLOCK_MONOTONIC);
    int64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    int64_t could = (wall - crew->wall) * crew->processors;
    bool idle = (cpu - crew->cpu) * 10 < could * 7;
    if (idle && crew->pool->job_count > 0)
        (void)start_until(crew, crew->most);
    crew->wall = wall;
    crew->cpu = cpu;
}

static void tell(const struct crew *crew)
{
    const struct sbox_walk_request *request = crew->pool->request;
    struct sbox_progress now = {0};
    if (request->base)
        now = *request->base;
    for (unsigned i = 0; i < crew->started; i++) {
        now.entries += atomic_load_explicit(&crew->workers[i].entries, memory_order_relaxed);
        now.bytes += atomic_load_explicit(&crew->workers[i].bytes, memory_order_relaxed);
    }
    request->progress(&now, request->progress_context);
}

static bool wait_a_tick(struct sbox_pool *pool)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += TICK_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_cond_timedwait(&pool->idle, &pool->mutex, &until) == ETIMEDOUT;
}

/* The caller's thread waits, looks whether more hands would help, and tells how far they are. */
static void wait_for_all(struct crew *crew)
{
    struct sbox_pool *pool = crew->pool;
    for (unsigned ticks = 0; pool->ended < crew->started;) {
        if (!wait_a_tick(pool))
            continue;
        grow(crew);
        if (++ticks % TICKS_TO_TELL != 0 || !pool->request->progress)
            continue;
        (void)pthread_mutex_unlock(&pool->mutex);
        tell(crew);
        (void)pthread_mutex_lock(&pool->mutex);
    }
}

static int run_threads(struct crew *crew)
{
    struct sbox_pool *pool = crew->pool;
    crew->wall = clock_ns(CLOCK_MONOTONIC);
    crew->cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    (void)pthread_mutex_lock(&pool->mutex);
    int r = start_until(crew, crew->processors);
    wait_for_all(crew);
    (void)pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < crew->started; i++)
        (void)pthread_join(crew->workers[i].thread, NULL);
    return crew->started > 0 ? 0 : r; /* one is enough */
}

static int take_results(struct sbox_walk *walk, struct crew *crew)
{
    struct sbox_buf found = {0};
    for (unsigned i = 0; i < crew->most; i++) {
        struct sbox_worker *w = &crew->workers[i];
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

static int walk_root(struct crew *crew, int fd)
{
    struct sbox_walk *walk = crew->pool->walk;
    if (walk->root->type == SBOX_ENTRY_FILE) {
        walk_file(&crew->workers[0], fd);
        sbox_close(fd);
        return 0;
    }
    int r = push_root(&crew->workers[0], fd);
    if (r == 0)
        r = run_threads(crew);
    if (walk->top) {
        sbox_close(walk->top->fd);
        walk->top->fd = -1;
    }
    return r;
}

static int run_pool(struct sbox_pool *pool, unsigned threads, int fd)
{
    struct crew crew;
    int r = crew_init(&crew, pool, threads);
    if (r == 0)
        r = walk_root(&crew, fd);
    else
        sbox_close(fd);
    if (r == 0)
        r = take_results(pool->walk, &crew);
    crew_release(&crew);
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
    r = run_pool(&pool, request->threads, fd);
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

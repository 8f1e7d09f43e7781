#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIRENTS_SIZE = 64 * 1024, THREADS_DEFAULT = 2 };

struct directory {
    struct directory *next;
    char path[];
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct directory *stack;
    unsigned threads, idle;
    _Atomic int error; /* the first failure; ends the walk */
    const struct bench_ops *ops;
    struct bench_totals totals;
};

static struct directory *directory_new(const char *parent, const char *name)
{
    size_t parent_size = strlen(parent), name_size = strlen(name);
    struct directory *d = malloc(sizeof(*d) + parent_size + 1 + name_size + 1);

    if (d == NULL)
        return NULL;
    d->next = NULL;
    memcpy(d->path, parent, parent_size);
    d->path[parent_size] = '/';
    memcpy(d->path + parent_size + 1, name, name_size + 1);
    return d;
}

static void pool_push(struct pool *pool, struct directory *d)
{
    pthread_mutex_lock(&pool->lock);
    d->next = pool->stack;
    pool->stack = d;
    if (pool->idle > 0)
        pthread_cond_signal(&pool->more);
    pthread_mutex_unlock(&pool->lock);
}

/* NULL when all is done: nothing left, and no thread that could still find more. */
static struct directory *pool_pop(struct pool *pool)
{
    struct directory *d;

    pthread_mutex_lock(&pool->lock);
    pool->idle++;
    while (pool->stack == NULL && pool->idle < pool->threads)
        pthread_cond_wait(&pool->more, &pool->lock);
    d = pool->stack;
    if (d != NULL) {
        pool->stack = d->next;
        pool->idle--;
    } else {
        pthread_cond_broadcast(&pool->more);
    }
    pthread_mutex_unlock(&pool->lock);
    return d;
}

static void pool_fail(struct pool *pool, int error, const char *path)
{
    fprintf(stderr, "bench: %s: %s\n", path, strerror(-error));
    atomic_compare_exchange_strong(&pool->error, &(int){0}, error);
}

static bool is_dot_or_dotdot(const char *name)
{
    return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static void count(struct bench_totals *totals, unsigned char type)
{
    if (type == DT_REG)
        totals->files++;
    else if (type == DT_DIR)
        totals->dirs++;
    else if (type == DT_LNK)
        totals->links++;
    else
        totals->others++;
}

static int take_entry(struct pool *pool, void *thread, int dirfd, const char *path,
                      const struct dirent64 *entry, struct bench_totals *totals)
{
    struct directory *child;
    int r;

    if (entry->d_type == DT_UNKNOWN)
        return -EOPNOTSUPP;
    r = pool->ops->entry(thread, dirfd, entry->d_name, entry->d_type, totals);
    if (r < 0)
        return r;
    count(totals, entry->d_type);
    if (entry->d_type != DT_DIR)
        return 0;
    child = directory_new(path, entry->d_name);
    if (child == NULL)
        return -ENOMEM;
    pool_push(pool, child);
    return 0;
}

static int take_directory(struct pool *pool, void *thread, char *buffer, const char *path,
                          struct bench_totals *totals)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    ssize_t size;
    int r = 0;

    if (fd < 0)
        return -errno;
    while (r == 0 && (size = getdents64(fd, buffer, DIRENTS_SIZE)) > 0) {
        for (ssize_t at = 0; r == 0 && at < size;) {
            const struct dirent64 *entry = (const void *)(buffer + at);

            at += entry->d_reclen;
            if (!is_dot_or_dotdot(entry->d_name))
                r = take_entry(pool, thread, fd, path, entry, totals);
        }
    }
    if (r == 0 && size < 0)
        r = -errno;
    close(fd);
    return r;
}

static void totals_add(struct bench_totals *sum, const struct bench_totals *part)
{
    sum->files += part->files;
    sum->dirs += part->dirs;
    sum->links += part->links;
    sum->others += part->others;
    sum->bytes += part->bytes;
}

static void *worker(void *argument)
{
    struct pool *pool = argument;
    struct bench_totals totals = {0};
    char *buffer = malloc(DIRENTS_SIZE);
    void *thread = pool->ops->begin();
    struct directory *d;

    if (buffer == NULL || thread == NULL)
        pool_fail(pool, -ENOMEM, "start of a thread");
    while ((d = pool_pop(pool)) != NULL) {
        int r = pool->error == 0 ? take_directory(pool, thread, buffer, d->path, &totals) : 0;

        if (r < 0)
            pool_fail(pool, r, d->path);
        free(d);
    }
    if (thread != NULL)
        pool->ops->end(thread);
    free(buffer);
    pthread_mutex_lock(&pool->lock);
    totals_add(&pool->totals, &totals);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

int bench_tree_walk(const char *root, unsigned threads, const struct bench_ops *ops,
                    struct bench_totals *ret)
{
    pthread_t others[BENCH_THREADS_MAX];
    struct pool pool = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .more = PTHREAD_COND_INITIALIZER,
        .threads = threads,
        .ops = ops,
        .totals = {.dirs = 1},
    };

    pool.stack = directory_new(root, ".");
    if (pool.stack == NULL)
        return -ENOMEM;
    for (unsigned i = 1; i < threads; i++) {
        if (pthread_create(&others[i], NULL, worker, &pool) != 0) {
            perror("bench: pthread_create");
            exit(2); /* the threads that did start wait for one that never comes */
        }
    }
    worker(&pool);
    for (unsigned i = 1; i < threads; i++)
        pthread_join(others[i], NULL);
    *ret = pool.totals;
    return pool.error;
}

static int usage(const char *name)
{
    fprintf(stderr, "usage: %s [-t THREADS] DIR\n", name);
    return 2;
}

int bench_tree_main(int argc, char **argv, const struct bench_ops *ops)
{
    struct bench_totals totals = {0};
    long threads = THREADS_DEFAULT;
    int option;

    while ((option = getopt(argc, argv, "t:")) != -1) {
        if (option != 't')
            return usage(argv[0]);
        threads = strtol(optarg, NULL, 10);
    }
    if (optind + 1 != argc || threads < 1 || threads > BENCH_THREADS_MAX)
        return usage(argv[0]);
    if (bench_tree_walk(argv[optind], (unsigned)threads, ops, &totals) < 0)
        return 1;
    printf("files %" PRIu64 " dirs %" PRIu64 " links %" PRIu64 " others %" PRIu64 " bytes %" PRIu64
           "\n",
           totals.files, totals.dirs, totals.links, totals.others, totals.bytes);
    return 0;
}

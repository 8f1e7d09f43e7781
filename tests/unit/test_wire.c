/* Packets with descriptors: the other end may be anybody's by the time it is heard. */
#include "net/wire.h"

#include "base/error.h"
#include "base/fd.h"
#include "unit/cmocka_all.h"

#include <dirent.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST = 8 };

static size_t open_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    size_t n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static void send_with(int socket, size_t size, size_t count)
{
    union {
        char raw[CMSG_SPACE(sizeof(int) * MOST)];
        struct cmsghdr align;
    } control = {{0}};
    char data[16] = "message";
    struct iovec at = {data, size};
    struct msghdr m = {.msg_iov = &at, .msg_iovlen = 1};
    int fds[MOST] = {0};
    if (count > 0) {
        m.msg_control = control.raw;
        m.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&m);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(header), fds, sizeof(int) * count);
    }
    assert_int_equal(sendmsg(socket, &m, 0), size);
}

static void test_descriptors(void **state)
{
    (void)state;
    int pair[2];
    char data[8];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    size_t before = open_descriptors();
    for (size_t count = 0; count <= MOST; count++) {
        int fd = -1;
        send_with(pair[0], sizeof data, count);
        assert_int_equal(sbox_wire_receive(pair[1], data, sizeof data, &fd),
                         count <= 1 ? 1 : -EPROTO);
        assert_int_equal(fd >= 0, count == 1);
        sbox_close(fd);
        send_with(pair[0], sizeof data, count);
        (void)sbox_wire_receive(pair[1], data, sizeof data, NULL);
        send_with(pair[0], sizeof data - 1, count);
        assert_int_equal(sbox_wire_receive(pair[1], data, sizeof data, &fd), -EPROTO);
        assert_int_equal(open_descriptors(), before);
    }
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void test_sizes(void **state)
{
    (void)state;
    int pair[2];
    char data[8];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    for (size_t size = 1; size <= 16; size++) {
        send_with(pair[0], size, 0);
        assert_int_equal(sbox_wire_receive(pair[1], data, sizeof data, NULL),
                         size == sizeof data ? 1 : -EPROTO);
    }
    (void)close(pair[0]);
    assert_int_equal(sbox_wire_receive(pair[1], data, sizeof data, NULL), 0);
    assert_int_equal(sbox_wire_send(pair[1], data, sizeof data, -1), 0);
    (void)close(pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}

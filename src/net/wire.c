#include "net/wire.h"

#include "base/error.h"
#include "base/fd.h"

#include <sys/uio.h>

union control {
    char raw[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
};

int sbox_wire_send(int socket, const void *message, size_t size, int fd)
{
    union control control = {{0}};
    struct iovec data = {(void *)(uintptr_t)message, size};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control.raw;
        m.msg_controllen = sizeof control.raw;
        struct cmsghdr *header = CMSG_FIRSTHDR(&m);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    ssize_t n;
    do
        n = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EPIPE || errno == ECONNRESET ? 0 : -errno;
    return (size_t)n == size ? 1 : -EPROTO;
}

static int take_descriptor(struct msghdr *m)
{
    int fd = -1;
    for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
            h->cmsg_len == CMSG_LEN(sizeof fd))
            memcpy(&fd, CMSG_DATA(h), sizeof fd);
    return fd;
}

int sbox_wire_receive(int socket, void *message, size_t size, int *ret_fd)
{
    /* Room for one descriptor, to the byte: CMSG_SPACE's padding is room for another, that nobody
     * would close. The kernel drops what does not fit and says so (MSG_CTRUNC). */
    union control control = {{0}};
    struct iovec data = {message, size};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.raw,
                       .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t n;
    do
        n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == ECONNRESET ? 0 : -errno;
    int fd = take_descriptor(&m);
    if (n == 0 || (size_t)n != size || (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC))) {
        sbox_close(fd);
        return n == 0 ? 0 : -EPROTO;
    }
    if (ret_fd)
        *ret_fd = fd;
    else
        sbox_close(fd);
    return 1;
}

#include "confine/caps.h"

#include "base/banned.h"

#include <errno.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Order matters: secure bits and the bounding set need CAP_SETPCAP, so the permitted set goes
 * last.
 *
 * 1. Secure bits, locked: an exec by uid 0 grants nothing (NOROOT), a setuid() moves no
 *    capabilities (NO_SETUID_FIXUP), ambient ones cannot be raised.
 * 2. The bounding set, from which file capabilities would be granted.
 * 3. Ambient, then effective, permitted and inheritable. */

enum { CAPS_MAX = 64 }; /* bits of a set; the kernel knows fewer (41 in 6.18) */

static const unsigned long wanted_bits =
    SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
    SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

static int capget_self(struct __user_cap_data_struct data[2])
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    return syscall(SYS_capget, &header, data) < 0 ? -errno : 0;
}

static int lock_securebits(void)
{
    int now = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    if (now < 0)
        return -errno;
    if ((unsigned long)now == wanted_bits)
        return 0;
    return prctl(PR_SET_SECUREBITS, wanted_bits, 0, 0, 0) < 0 ? -errno : 0;
}

/* Dropping asks for CAP_SETPCAP before it looks whether there is anything to drop, or such a
 * capability at all: only when it refuses is the look worth a call. */
static int drop_bounding(unsigned cap)
{
    if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
        return 0;
    if (errno != EPERM)
        return -errno;
    int held = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
    if (held < 0)
        return -errno;
    return held ? -EPERM : 0;
}

static int reduce_bounding(uint64_t mask)
{
    for (unsigned cap = 0; cap < CAPS_MAX; cap++) {
        int r = mask & SBOX_CAP(cap) ? 0 : drop_bounding(cap);
        if (r < 0)
            return r == -EINVAL ? 0 : r; /* past the last one of this kernel */
    }
    return 0;
}

static int reduce_sets(uint64_t mask)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
    struct __user_cap_data_struct data[2] = {0};
    int r = capget_self(data);
    if (r < 0)
        return r;
    for (unsigned i = 0; i < 2; i++) {
        uint32_t half = (uint32_t)(mask >> (32 * i));
        data[i].permitted &= half;
        data[i].effective &= half;
        data[i].inheritable = 0;
    }
    return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

int sbox_caps_keep(uint64_t mask)
{
    int r = lock_securebits();
    if (r < 0)
        return r;
    r = reduce_bounding(mask);
    if (r < 0)
        return r;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
        return -errno;
    return reduce_sets(mask);
}

int sbox_caps_drop_all(void)
{
    return sbox_caps_keep(0);
}

static int read_bits(int option, unsigned long argument, uint64_t *ret)
{
    uint64_t set = 0;
    for (unsigned cap = 0; cap < CAPS_MAX; cap++) {
        int held = option == PR_CAPBSET_READ ? prctl(option, cap, 0, 0, 0)
                                             : prctl(option, argument, cap, 0, 0);
        if (held < 0 && errno == EINVAL)
            break;
        if (held < 0)
            return -errno;
        if (held)
            set |= SBOX_CAP(cap);
    }
    *ret = set;
    return 0;
}

int sbox_caps_read(struct sbox_caps *ret)
{
    struct __user_cap_data_struct data[2] = {0};
    struct sbox_caps caps;
    int r = capget_self(data);
    if (r < 0)
        return r;
    r = read_bits(PR_CAPBSET_READ, 0, &caps.bounding);
    if (r < 0)
        return r;
    r = read_bits(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, &caps.ambient);
    if (r < 0)
        return r;
    caps.effective = data[0].effective | (uint64_t)data[1].effective << 32;
    caps.permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
    caps.inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
    *ret = caps;
    return 0;
}

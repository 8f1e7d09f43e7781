#include "confine/self.h"

#include "confine/caps.h"

#include <sys/prctl.h>

int sbox_self_limit(int resource, rlim_t most)
{
    const struct rlimit wanted = {.rlim_cur = most, .rlim_max = most};
    return setrlimit((__rlimit_resource_t)resource, &wanted) < 0 ? -errno : 0;
}

int sbox_self_drop_capabilities(void)
{
    struct sbox_caps caps;
    int r = sbox_caps_read(&caps);
    return r < 0 || caps.permitted == 0 ? r : sbox_caps_drop_all();
}

int sbox_self_no_new_privs(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

int sbox_self_confine(const char *program, const struct sbox_self_step *steps, size_t count,
                      struct sbox_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int r = steps[i].take();
        if (r < 0)
            return sbox_error_set(err, -r, "confine %s: %s", program, steps[i].name);
    }
    return 0;
}

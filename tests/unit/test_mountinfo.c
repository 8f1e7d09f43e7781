/* mountinfo: paths may hold any byte, optional fields come and go. */
#include "project/mountinfo.h"

#include "base/error.h"
#include "base/strv.h"
#include "unit/cmocka_all.h"

static int describe(const struct sbox_mount *m, void *context)
{
    return sbox_strv_addf(context, "%u<%u %u:%u %s at %s (%s) %s (%s)", m->id, m->parent, m->major,
                          m->minor, m->root, m->point, m->options, m->fstype, m->super_options);
}

static int walk(const char *text, struct sbox_strv *seen)
{
    char *copy = strdup(text);
    assert_non_null(copy);
    int r = sbox_mountinfo_walk(copy, strlen(text), describe, seen);
    free(copy);
    return r;
}

static void test_lines_of_proc_5(void **state)
{
    (void)state;
    _cleanup_strv_ struct sbox_strv seen = {0};
    assert_int_equal(walk("36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,x\n"
                          "37 36 0:5 / / ro - tmpfs none rw\n"
                          "38 36 0:6 / /p rw shared:1 master:2 unbindable - proc proc rw",
                          &seen),
                     0);
    assert_int_equal(seen.count, 3);
    assert_string_equal(seen.items[0], "36<35 98:0 /mnt1 at /mnt2 (rw,noatime) ext3 (rw,x)");
    assert_string_equal(seen.items[1], "37<36 0:5 / at / (ro) tmpfs (rw)");
    assert_string_equal(seen.items[2], "38<36 0:6 / at /p (rw) proc (rw)");
}

/* The kernel writes blank, tab, newline and backslash as octal; a name that looks like the
 * separator or like an escape stays a name. */
static void test_escapes(void **state)
{
    (void)state;
    _cleanup_strv_ struct sbox_strv seen = {0};
    assert_int_equal(walk("1 0 0:1 /a\\040b /\\011\\012\\134040\\040-\\040 rw - x s rw\n", &seen),
                     0);
    assert_string_equal(seen.items[0], "1<0 0:1 /a b at /\t\n\\040 -  (rw) x (rw)");
}

/* `mount -t tmpfs ""` leaves the source empty. */
static void test_an_empty_source(void **state)
{
    (void)state;
    _cleanup_strv_ struct sbox_strv seen = {0};
    assert_int_equal(walk("1 0 0:1 / /a rw - tmpfs  rw\n", &seen), 0);
    assert_string_equal(seen.items[0], "1<0 0:1 / at /a (rw) tmpfs (rw)");
}

static void test_damage_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\n",
        "1\n",
        "1 0 0:1 / /a rw\n",
        "1 0 0:1 / /a rw tmpfs s rw\n",        /* no separator */
        "1 0 0:1 / /a rw - tmpfs s\n",         /* no options of the file system */
        "1 0 01 / /a rw - tmpfs s rw\n",       /* no device */
        "x 0 0:1 / /a rw - tmpfs s rw\n",      /* not a number */
        "4294967296 0 0:1 / /a rw - t s rw\n", /* does not fit */
        "1 0 0:1 / /a\\04 rw - tmpfs s rw\n",  /* a short escape */
        "1 0 0:1 / /a\\000 rw - tmpfs s rw\n", /* NUL */
        "1 0 0:1 / /a\\777 rw - tmpfs s rw\n", /* not a byte */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        _cleanup_strv_ struct sbox_strv seen = {0};
        assert_int_equal(walk(bad[i], &seen), -EBADMSG);
        assert_int_equal(seen.count, 0);
    }
    char nul[] = "1 0 0:1 / /a rw - t s rw\n\0hidden";
    assert_int_equal(sbox_mountinfo_walk(nul, sizeof nul - 1, describe, NULL), -EBADMSG);
}

static int stop(const struct sbox_mount *m, void *context)
{
    *(unsigned *)context += m->id;
    return 7;
}

static void test_the_callback_can_stop(void **state)
{
    (void)state;
    unsigned sum = 0;
    char text[] = "1 0 0:1 / /a rw - t s rw\n2 0 0:1 / /a rw - t s rw\n";
    assert_int_equal(sbox_mountinfo_walk(text, sizeof text - 1, stop, &sum), 7);
    assert_int_equal(sum, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_proc_5),       cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_an_empty_source),       cmocka_unit_test(test_damage_is_refused),
        cmocka_unit_test(test_the_callback_can_stop),
    };
    return cmocka_run_group_tests_name("mountinfo", tests, NULL, NULL);
}

#include "base/banned.h"
#include "sandbox/listens.h"
#include "unit/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>

enum { LISTENING = 10, ESTABLISHED = 1 };

/* --- packets ---------------------------------------------------------------------------------- */

struct packet {
    char bytes[4096];
    size_t size;
};

static void append(struct packet *p, uint16_t type, const void *body, size_t size)
{
    struct nlmsghdr h = {.nlmsg_len = (uint32_t)NLMSG_LENGTH(size), .nlmsg_type = type};
    assert_true(p->size + NLMSG_SPACE(size) <= sizeof p->bytes);
    memcpy(p->bytes + p->size, &h, sizeof h);
    if (size)
        memcpy(p->bytes + p->size + NLMSG_HDRLEN, body, size);
    p->size += NLMSG_SPACE(size);
}

static void append_socket(struct packet *p, uint8_t state, const char *address, uint16_t port)
{
    struct inet_diag_msg m = {.idiag_state = state, .id = {.idiag_sport = htons(port)}};
    m.idiag_family = strchr(address, ':') ? AF_INET6 : AF_INET;
    assert_int_equal(inet_pton(m.idiag_family, address, m.id.idiag_src), 1);
    append(p, SOCK_DIAG_BY_FAMILY, &m, sizeof m);
}

static void listeners_that_a_publisher_reaches_are_taken(void **state)
{
    (void)state;
    struct packet p = {.size = 0};
    struct sbox_ports ports = {.count = 0};
    append_socket(&p, LISTENING, "0.0.0.0", 3000);
    append_socket(&p, LISTENING, "127.0.0.1", 3001);
    append_socket(&p, LISTENING, "127.9.9.9", 3002);
    append_socket(&p, LISTENING, "::", 3003);
    append_socket(&p, LISTENING, "::1", 3004);
    append_socket(&p, LISTENING, "::ffff:127.0.0.1", 3005);
    append_socket(&p, LISTENING, "198.18.0.2", 3100);
    append_socket(&p, LISTENING, "2001:2::2", 3101);
    append_socket(&p, LISTENING, "::ffff:198.18.0.2", 3102);
    append_socket(&p, ESTABLISHED, "127.0.0.1", 3103);
    append_socket(&p, LISTENING, "::", 3000); /* a second time */
    assert_int_equal(sbox_listens_parse(p.bytes, p.size, &ports), 0);
    assert_int_equal(ports.count, 6);
    for (uint16_t i = 0; i < 6; i++)
        assert_int_equal(ports.items[i], 3000 + i);
    append(&p, NLMSG_DONE, NULL, 0);
    append_socket(&p, LISTENING, "0.0.0.0", 4000);
    assert_int_equal(sbox_listens_parse(p.bytes, p.size, &ports), 1);
    assert_int_equal(ports.count, 6);
}

static void what_is_no_answer_is_refused(void **state)
{
    (void)state;
    struct packet p = {.size = 0};
    struct sbox_ports ports = {.count = 0};
    const struct nlmsgerr error = {.error = -EPERM};
    append(&p, NLMSG_ERROR, &error, sizeof error);
    assert_int_equal(sbox_listens_parse(p.bytes, p.size, &ports), -EIO);
    p.size = 0;
    append_socket(&p, LISTENING, "0.0.0.0", 3000);
    for (size_t cut = 1; cut < p.size; cut++)
        assert_int_equal(sbox_listens_parse(p.bytes, p.size - cut, &ports),
                         p.size - cut < sizeof(struct nlmsghdr) ? 0 : -EPROTO);
    const uint32_t zero = 0;
    memcpy(p.bytes, &zero, sizeof zero);
    assert_int_equal(sbox_listens_parse(p.bytes, p.size, &ports), -EPROTO);
    assert_int_equal(ports.count, 0);
}

static void more_than_a_look_remembers_is_left_out(void **state)
{
    (void)state;
    struct sbox_ports ports = {.count = 0};
    for (uint16_t i = 0; i < 2 * SBOX_LISTENS_ROOM; i++) {
        struct packet p = {.size = 0};
        append_socket(&p, LISTENING, "0.0.0.0", (uint16_t)(2000 + i));
        assert_int_equal(sbox_listens_parse(p.bytes, p.size, &ports), 0);
    }
    assert_int_equal(ports.count, SBOX_LISTENS_ROOM);
}

/* --- what is news ----------------------------------------------------------------------------- */

static size_t look(struct sbox_listens *l, size_t count, const uint16_t *seen, uint16_t *ret)
{
    struct sbox_ports now = {.count = count};
    memcpy(now.items, seen, count * sizeof *seen);
    return sbox_listens_news(l, &now, ret);
}

static void a_port_is_named_once_at_its_second_look(void **state)
{
    (void)state;
    struct sbox_listens l = {.looks_left = 1};
    uint16_t ret[SBOX_LISTENS_MOST];
    const uint16_t both[] = {5173, 3000};
    assert_int_equal(look(&l, 1, both, ret), 0);
    assert_int_equal(look(&l, 0, both, ret), 0); /* gone meanwhile */
    assert_int_equal(look(&l, 2, both, ret), 0);
    assert_int_equal(look(&l, 1, both, ret), 1);
    assert_int_equal(ret[0], 5173);
    assert_int_equal(look(&l, 2, both, ret), 0);
    assert_int_equal(look(&l, 2, both, ret), 1);
    assert_int_equal(ret[0], 3000);
    assert_int_equal(look(&l, 2, both, ret), 0);
}

static void ports_that_are_no_news_are_not_named(void **state)
{
    (void)state;
    const uint16_t published[] = {5173}, host_ports[] = {5432}, outwards[] = {443};
    const struct sbox_policy_network network = {.ports = outwards,
                                                .port_count = 1,
                                                .published = published,
                                                .published_count = 1,
                                                .host_ports = host_ports,
                                                .host_port_count = 1};
    struct sbox_listens l = {.network = &network};
    uint16_t ret[SBOX_LISTENS_MOST];
    const uint16_t seen[] = {5173, 5432, 443, 3128, 32768, 60999, 32767, 61000};
    assert_int_equal(look(&l, 8, seen, ret), 0);
    assert_int_equal(look(&l, 8, seen, ret), 2);
    assert_int_equal(ret[0], 32767);
    assert_int_equal(ret[1], 61000);
}

static void five_are_enough(void **state)
{
    (void)state;
    struct sbox_listens l = {.looks_left = 1};
    uint16_t ret[SBOX_LISTENS_MOST];
    const uint16_t seen[] = {1, 2, 3, 4, 5, 6, 7};
    assert_int_equal(look(&l, 7, seen, ret), 0);
    assert_int_equal(look(&l, 7, seen, ret), SBOX_LISTENS_MOST);
    assert_int_equal(look(&l, 7, seen, ret), 0);
}

static void a_watch_that_is_off_never_wakes(void **state)
{
    (void)state;
    struct sbox_listens l;
    sbox_listens_init(&l, false, NULL);
    assert_int_equal(sbox_listens_timeout(&l), -1);
    sbox_listens_init(&l, true, NULL);
    assert_true(sbox_listens_timeout(&l) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listeners_that_a_publisher_reaches_are_taken),
        cmocka_unit_test(what_is_no_answer_is_refused),
        cmocka_unit_test(more_than_a_look_remembers_is_left_out),
        cmocka_unit_test(a_port_is_named_once_at_its_second_look),
        cmocka_unit_test(ports_that_are_no_news_are_not_named),
        cmocka_unit_test(five_are_enough),
        cmocka_unit_test(a_watch_that_is_off_never_wakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

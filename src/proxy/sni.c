/* record* = type (22), version, length, bytes; the bytes of all records, joined, are
 * ClientHello = type (1), length (3), version, random (32), session, ciphers, compression,
 * extensions; the server's name is extension 0.
 *
 * Nothing is copied together: a stream hands out the bytes of the message and steps over the
 * records' headers. Lengths that contradict each other are refused, where a server may take either.
 *
 * What is no ClientHello passes unchecked, so nothing that a server may pass over on its way to one
 * counts as such: an empty record (OpenSSL 3.0 does pass over it), a warning, a change of ciphers.
 * Nor does a record's version: GnuTLS takes any up to 3, Go's crypto/tls (many a front that routes
 * by name) any below 16, whatever TLS says.
 */
#include "proxy/sni.h"

#include "base/error.h"

enum {
    RECORD_HEADER = 5,
    RECORD_MAX = 1 << 14,
    CHANGE_CIPHER = 20,
    ALERT = 21,
    HANDSHAKE = 22,
    MAJOR_VERSIONS = 16,
    CLIENT_HELLO = 1,
    SERVER_NAME = 0,
    HOST_NAME = 0,
    RANDOM = 32,
};

/* The first failure stays: an answer but NAME, which stands for none. */
struct stream {
    const uint8_t *at;
    const uint8_t *end;
    size_t record;  /* bytes left of this record */
    size_t message; /* bytes left of the ClientHello */
    enum sbox_sni failure;
};

static void fail(struct stream *s, enum sbox_sni why)
{
    if (s->failure == SBOX_SNI_NAME)
        s->failure = why;
}

static bool failed(const struct stream *s)
{
    return s->failure != SBOX_SNI_NAME;
}

/* Steps over the header of the next record. */
static void next_record(struct stream *s)
{
    size_t left = (size_t)(s->end - s->at);
    if ((left > 0 && s->at[0] != HANDSHAKE) || (left > 1 && s->at[1] >= MAJOR_VERSIONS)) {
        fail(s, SBOX_SNI_BAD);
        return;
    }
    if (left < RECORD_HEADER) {
        fail(s, SBOX_SNI_MORE);
        return;
    }
    s->record = (size_t)s->at[3] << 8 | s->at[4];
    s->at += RECORD_HEADER;
    if (s->record == 0 || s->record > RECORD_MAX)
        fail(s, SBOX_SNI_BAD);
}

/* The next byte of the message; 0 after a failure. */
static uint8_t take(struct stream *s)
{
    if (s->message == 0)
        fail(s, SBOX_SNI_BAD);
    if (!failed(s) && s->record == 0)
        next_record(s);
    if (!failed(s) && s->at == s->end)
        fail(s, SBOX_SNI_MORE);
    if (failed(s))
        return 0;
    s->record--;
    s->message--;
    return *s->at++;
}

/* An integer of `bytes` bytes. */
static size_t take_number(struct stream *s, int bytes)
{
    size_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | take(s);
    return value;
}

static void skip(struct stream *s, size_t size)
{
    while (size-- > 0 && !failed(s))
        (void)take(s);
}

/* A vector: its length in `bytes` bytes, between `min` and what is left of the message. */
static size_t take_length(struct stream *s, int bytes, size_t min)
{
    size_t length = take_number(s, bytes);
    if (length < min || length > s->message)
        fail(s, SBOX_SNI_BAD);
    return failed(s) ? 0 : length;
}

/* RFC 6066 section 3: a list of one entry, for nobody knows what two would mean. */
static void parse_server_name(struct stream *s, size_t size, struct sbox_host *ret)
{
    char name[SBOX_HOST_SIZE +
              1]; /* 253 bytes and a trailing dot are for sbox_host_parse to judge */
    size_t list = take_number(s, 2);
    size_t type = take_number(s, 1);
    size_t length = take_number(s, 2);
    if (failed(s))
        return;
    if (list + 2 != size || type != HOST_NAME || length + 3 != list || length > sizeof name) {
        fail(s, SBOX_SNI_BAD);
        return;
    }
    bool ascii = true;
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = take(s);
        ascii &= byte < 0x80;
        name[i] = (char)byte;
    }
    if (!failed(s) && (!ascii || sbox_host_parse(name, length, ret) < 0))
        fail(s, SBOX_SNI_BAD);
}

/* Was there a name? Extensions fill the rest of the message; a second name is refused. */
static bool parse_extensions(struct stream *s, struct sbox_host *ret)
{
    bool found = false;
    size_t all = take_length(s, 2, 0);
    if (all != s->message)
        fail(s, SBOX_SNI_BAD);
    while (!failed(s) && s->message > 0) {
        size_t type = take_number(s, 2);
        size_t size = take_length(s, 2, 0);
        if (type != SERVER_NAME) {
            skip(s, size);
            continue;
        }
        if (found)
            fail(s, SBOX_SNI_BAD);
        found = true;
        parse_server_name(s, size, ret);
    }
    return found;
}

static enum sbox_sni parse_hello(struct stream *s, struct sbox_host *ret)
{
    bool found = false;
    skip(s, 2 + RANDOM);
    size_t session = take_length(s, 1, 0);
    if (session > 32)
        fail(s, SBOX_SNI_BAD);
    skip(s, session);
    size_t ciphers = take_length(s, 2, 2);
    if (ciphers % 2 != 0)
        fail(s, SBOX_SNI_BAD);
    skip(s, ciphers);
    skip(s, take_length(s, 1, 1));
    if (!failed(s) && s->message > 0)
        found = parse_extensions(s, ret);
    if (failed(s))
        return s->failure;
    return found ? SBOX_SNI_NAME : SBOX_SNI_NONE;
}

/* A record that some servers pass over before the ClientHello: a change of ciphers (one byte) or an
 * alert (two bytes), by the header alone. */
static enum sbox_sni judge_other_record(const uint8_t *data, size_t size)
{
    if (data[0] != CHANGE_CIPHER && data[0] != ALERT)
        return SBOX_SNI_NOT_TLS;
    if ((size > 1 && data[1] >= MAJOR_VERSIONS) || (size > 3 && data[3] != 0))
        return SBOX_SNI_NOT_TLS;
    if (size < RECORD_HEADER)
        return SBOX_SNI_MORE;
    return data[4] == data[0] - CHANGE_CIPHER + 1 ? SBOX_SNI_BAD : SBOX_SNI_NOT_TLS;
}

enum sbox_sni sbox_sni_parse(const uint8_t *data, size_t size, struct sbox_host *ret)
{
    struct sbox_host host = {0};
    struct stream s = {.at = data, .end = data + size, .message = 4, .failure = SBOX_SNI_NAME};
    if (size == 0)
        return SBOX_SNI_MORE;
    if (data[0] != HANDSHAKE)
        return judge_other_record(data, size);
    if (size > 1 && data[1] >= MAJOR_VERSIONS)
        return SBOX_SNI_NOT_TLS;
    if (size > SBOX_SNI_MAX)
        s.end = data + SBOX_SNI_MAX;
    size_t type = take_number(&s, 1);
    if (!failed(&s) && type != CLIENT_HELLO)
        return SBOX_SNI_NOT_TLS;
    s.message = take_number(&s, 3);
    if (s.message > SBOX_SNI_MAX)
        fail(&s, SBOX_SNI_BAD);
    enum sbox_sni answer = failed(&s) ? s.failure : parse_hello(&s, &host);
    if (answer == SBOX_SNI_MORE && size >= SBOX_SNI_MAX)
        return SBOX_SNI_BAD;
    if (answer == SBOX_SNI_NAME)
        *ret = host;
    return answer;
}

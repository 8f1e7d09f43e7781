/* chunked-body = *( size [ extensions ] CRLF data CRLF ) 0 [ extensions ] CRLF *( trailer CRLF )
 * CRLF
 *
 * A machine of one step a byte, but for data, which is counted off in pieces. Line ends are CRLF
 * alone, in extensions too: an LF there that one side takes for the end of the line is how a second
 * request hides in a chunk. */
#include "proxy/head_impl.h"

enum { SIZE_LINE_MAX = 1 << 10, TRAILERS_MAX = 16 << 10 };

enum state {
    SIZE_BEGIN, /* before the first digit */
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER_BEGIN, /* at the start of a trailer line or of the empty line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    END_LF,
    DONE,
    BAD,
};

static int digit(unsigned char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum state size_step(struct sbox_chunked *c, unsigned char byte)
{
    int d = digit(byte);
    if (d >= 0 && c->left >> 58 == 0) {
        c->left = c->left << 4 | (unsigned)d;
        return SIZE;
    }
    if (d >= 0 || c->state == SIZE_BEGIN)
        return BAD;
    if (byte == ';')
        return EXTENSION;
    return byte == '\r' ? SIZE_LF : BAD;
}

static enum state size_ended(struct sbox_chunked *c)
{
    c->line = 0;
    return c->left > 0 ? DATA : TRAILER_BEGIN;
}

static enum state text_step(unsigned char byte, enum state here, enum state after)
{
    if (byte == '\r')
        return after;
    return sbox_head_is_value_byte(byte) ? here : BAD;
}

static enum state trailer_name_step(const struct sbox_chunked *c, char byte)
{
    if (byte == '\r')
        return c->state == TRAILER_BEGIN ? END_LF : BAD;
    if (byte == ':')
        return c->state == TRAILER_BEGIN ? BAD : TRAILER_VALUE;
    return sbox_head_is_token((struct sbox_text){&byte, 1}) ? TRAILER_NAME : BAD;
}

static enum state data_ended(struct sbox_chunked *c)
{
    c->line = 0;
    return SIZE_BEGIN;
}

static enum state step(struct sbox_chunked *c, char byte)
{
    bool lf = byte == '\n';
    switch ((enum state)c->state) {
    case SIZE_BEGIN:
    case SIZE:
        return size_step(c, (unsigned char)byte);
    case EXTENSION:
        return text_step((unsigned char)byte, EXTENSION, SIZE_LF);
    case SIZE_LF:
        return lf ? size_ended(c) : BAD;
    case DATA_CR:
        return byte == '\r' ? DATA_LF : BAD;
    case DATA_LF:
        return lf ? data_ended(c) : BAD;
    case TRAILER_BEGIN:
    case TRAILER_NAME:
        return trailer_name_step(c, byte);
    case TRAILER_VALUE:
        return text_step((unsigned char)byte, TRAILER_VALUE, TRAILER_LF);
    case TRAILER_LF:
        return lf ? TRAILER_BEGIN : BAD;
    case END_LF:
        return lf ? DONE : BAD;
    case DATA:
    case DONE:
    case BAD:
        break;
    }
    return BAD;
}

static bool line_is_too_long(const struct sbox_chunked *c)
{
    return c->line > (c->state >= TRAILER_BEGIN ? TRAILERS_MAX : SIZE_LINE_MAX);
}

/* Takes what it can of the chunk's data. */
static size_t take_data(struct sbox_chunked *c, size_t size)
{
    size_t n = c->left < size ? (size_t)c->left : size;
    c->left -= n;
    if (c->left == 0)
        c->state = DATA_CR;
    return n;
}

int64_t sbox_chunked_feed(struct sbox_chunked *c, const char *data, size_t size, bool *ret_done)
{
    if (c->state == BAD)
        return -EINVAL;
    size_t at = 0;
    while (at < size && c->state != DONE) {
        if (c->state == DATA) {
            at += take_data(c, size - at);
            continue;
        }
        c->line++;
        c->state = (uint8_t)step(c, data[at++]);
        if (c->state == BAD || line_is_too_long(c)) {
            c->state = BAD;
            return -EINVAL;
        }
    }
    *ret_done = c->state == DONE;
    return (int64_t)at;
}

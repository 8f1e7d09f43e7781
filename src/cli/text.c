#include "cli/text.h"

#include "base/escape.h"

#include <time.h>
#include <unistd.h>

const char *sbox_text_count(uint64_t n, char ret[SBOX_TEXT_SIZE])
{
    char digits[24];
    int size = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    char *to = ret;
    for (int i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return ret;
}

const char *sbox_text_bytes(uint64_t n, char ret[SBOX_TEXT_SIZE])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)n;
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    int decimals = unit > 0 && value < 9.95 ? 1 : 0;
    (void)snprintf(ret, SBOX_TEXT_SIZE, "%.*f %s", decimals, value, units[unit]);
    return ret;
}

const char *sbox_text_duration(uint64_t ms, char ret[SBOX_TEXT_SIZE])
{
    uint64_t seconds = (ms + 500) / 1000;
    if (ms < 9950)
        (void)snprintf(ret, SBOX_TEXT_SIZE, "%.1f s", (double)ms / 1000);
    else if (seconds < 60)
        (void)snprintf(ret, SBOX_TEXT_SIZE, "%u s", (unsigned)seconds);
    else
        (void)snprintf(ret, SBOX_TEXT_SIZE, "%llu min %u s", (unsigned long long)(seconds / 60),
                       (unsigned)(seconds % 60));
    return ret;
}

const char *sbox_text_local_time(int64_t seconds, char ret[SBOX_TEXT_SIZE])
{
    time_t t = (time_t)seconds;
    struct tm tm;
    if (!localtime_r(&t, &tm) || strftime(ret, SBOX_TEXT_SIZE, "%Y-%m-%d %H:%M", &tm) == 0)
        (void)snprintf(ret, SBOX_TEXT_SIZE, "an unknown time");
    return ret;
}

const char *sbox_text_utc(int64_t seconds, char ret[SBOX_TEXT_SIZE])
{
    time_t t = (time_t)seconds;
    struct tm tm;
    if (!gmtime_r(&t, &tm) || strftime(ret, SBOX_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        (void)snprintf(ret, SBOX_TEXT_SIZE, "unknown");
    return ret;
}

const char *sbox_text_hex(const struct sbox_digest *digest, char ret[2 * SBOX_SHA256_SIZE + 1])
{
    sbox_hex(digest->bytes, sizeof digest->bytes, ret);
    return ret;
}

const char *sbox_text_short(const struct sbox_digest *digest, char ret[SBOX_TEXT_SIZE])
{
    sbox_hex(digest->bytes, 8, ret);
    return ret;
}

void sbox_text_plural(struct sbox_buf *out, uint64_t n, const char *one, const char *many)
{
    char count[SBOX_TEXT_SIZE];
    sbox_buf_addf(out, "%s %s", sbox_text_count(n, count), n == 1 ? one : many);
}

size_t sbox_text_width(const char *s)
{
    struct sbox_buf b = {0};
    sbox_escape(&b, s, strlen(s));
    size_t width = 0;
    for (size_t i = 0; i < b.size; i++)
        width += ((uint8_t)b.data[i] & 0xc0) != 0x80;
    sbox_buf_release(&b);
    return width;
}

static bool colour_wanted(void)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(STDOUT_FILENO);
}

void sbox_text_colour(struct sbox_buf *out, enum sbox_colour colour, const char *s)
{
    static const char *const codes[] = {
        [SBOX_PLAIN] = "", [SBOX_GREEN] = "32", [SBOX_RED] = "31", [SBOX_YELLOW] = "33"};
    if (colour == SBOX_PLAIN || !colour_wanted())
        sbox_buf_add_str(out, s);
    else
        sbox_buf_addf(out, "\033[%sm%s\033[0m", codes[colour], s);
}

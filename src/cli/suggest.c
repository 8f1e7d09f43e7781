#include "cli/suggest.h"

#include "base/banned.h"

enum { LONGEST = 32 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t sbox_suggest_distance(const char *a, const char *b)
{
    size_t m = strlen(a);
    size_t n = strlen(b);
    if (m > LONGEST || n > LONGEST)
        return (size_t)-1;
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= m; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= n; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= m; i++) {
        for (size_t j = 1; j <= n; j++) {
            size_t replace = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(replace, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[m][n];
}

/* A third of the word may be wrong, and two letters at most: "instal", not "sort" for "ro". */
static size_t tolerance(const char *word)
{
    size_t third = (strlen(word) + 1) / 3;
    return third < 2 ? third : 2;
}

void sbox_suggest_offer(struct sbox_suggest *s, const char *candidate)
{
    size_t distance = sbox_suggest_distance(s->typed, candidate);
    size_t typed = strlen(s->typed);
    if (typed >= 3 && strncmp(s->typed, candidate, typed) == 0)
        distance = 1; /* the beginning of a word: an abbreviation, which sbox does not take */
    if (distance > tolerance(candidate) || (s->best && distance >= s->distance))
        return;
    s->best = candidate;
    s->distance = distance;
}

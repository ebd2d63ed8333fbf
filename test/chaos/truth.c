/* truth.c - what the simulated application computes. */
#include "truth.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "digest.h"

enum { MIN_LINES = 8, LINES = 420 };

void
truth_input(const char *wu_name, struct buf *out)
{
    buf_addf(out, "the seed of %s\n", wu_name);
}

/* A chain of MD5 sums: each line is that of the line before, the first that of
 * the input. */
void
truth_output(const void *input, size_t n, struct buf *out)
{
    char sum[MD5_HEX];
    long lines;

    digest_md5(input, n, sum);
    lines = MIN_LINES + (long)strtoul(sum + 24, NULL, 16) % LINES;
    for (long i = 0; i < lines; i++) {
        buf_addf(out, "%s\n", sum);
        digest_md5(sum, strlen(sum), sum);
    }
}

void
truth_spoil(struct buf *output, const char *who)
{
    /* not a hex digit at the begin of a line: nothing that is right */
    buf_addf(output, "wrong, by %s\n", who);
}

bool
truth_is(const char *wu_name, const void *bytes, size_t n)
{
    struct buf input = BUF_INIT;
    struct buf right = BUF_INIT;
    bool same;

    truth_input(wu_name, &input);
    truth_output(buf_str(&input), input.len, &right);
    same = right.len == n && memcmp(buf_str(&right), bytes, n) == 0;
    buf_free(&input);
    buf_free(&right);
    return same;
}

/* dialect_text.c - text between the tags of real clients. */
#include "dialect_text.h"

#include <string.h>

#include "buf.h"

/* The byte that a reference at p stands for, or -1; *len is its length.  Only
 * what clients write is known (§0.1), the rest stays as it is. */
static int
reference(const char *p, size_t n, size_t *len)
{
    static const struct {
        const char *text;
        char byte;
    } known[] = {
        {"&lt;",   '<' },
        {"&gt;",   '>' },
        {"&amp;",  '&' },
        {"&quot;", '"' },
        {"&apos;", '\''},
        {"&#xD;",  '\r'},
        {"&#xA;",  '\n'},
    };
    int value = 0;
    size_t i = 2;

    for (size_t k = 0; k < ARRAY_LEN(known); k++) {
        *len = strlen(known[k].text);
        if (n >= *len && memcmp(p, known[k].text, *len) == 0)
            return known[k].byte;
    }
    if (n < 4 || p[1] != '#')
        return -1;
    while (i < n && i < 5 && p[i] >= '0' && p[i] <= '9')
        value = value * 10 + (p[i++] - '0');
    if (i == 2 || i == n || p[i] != ';' || value > 255)
        return -1;
    *len = i + 1;
    return value;
}

void
dialect_decode(const char *p, size_t n, struct buf *out)
{
    size_t i = 0;

    while (i < n) {
        const char *amp = memchr(p + i, '&', n - i);
        size_t plain = amp != NULL ? (size_t)(amp - p) - i : n - i;
        size_t len = 1;
        int byte;

        buf_addn(out, p + i, plain);
        i += plain;
        if (i == n)
            break;
        byte = reference(p + i, n - i, &len);
        if (byte < 0)
            len = 1;
        buf_addc(out, byte < 0 ? '&' : (char)(unsigned char)byte);
        i += len;
    }
}

bool
dialect_is_plain(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((p[i] < ' ' && p[i] != '\n' && p[i] != '\t') || p[i] > '~' ||
            p[i] == '&' || p[i] == '<' || p[i] == '>' || p[i] == '"')
            return false;
    return true;
}

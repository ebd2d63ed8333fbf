/* utf8.c - validity, repair and clean cuts of UTF-8 text. */
#include "utf8.h"

#include "buf.h"

/* Bytes of the character that `lead` begins; 0 if no character begins so. */
static size_t
length_of(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 &&
        lead <= 0xdf) /* c0, c1 could begin only overlong forms */
        return 2;
    if (lead >= 0xe0 && lead <= 0xef)
        return 3;
    if (lead >= 0xf0 && lead <= 0xf4)
        return 4;
    return 0;
}

/* The character at s: its length and code point; 0 if it is not valid (also
 * overlong, a surrogate, beyond U+10FFFF, or cut off). */
static size_t
decode(const unsigned char *s, size_t n, uint32_t *ret_code)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = n > 0 ? length_of(s[0]) : 0;
    uint32_t code;

    if (len == 0 || len > n)
        return 0;
    code = len == 1 ? s[0] : s[0] & (0xffU >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fU);
    }
    if (code < least[len] || code > 0x10ffff ||
        (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret_code = code;
    return len;
}

bool
utf8_valid(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t code;

    for (size_t i = 0, len; i < n; i += len)
        if ((len = decode(s + i, n - i, &code)) == 0)
            return false;
    return true;
}

/* C0 and C1 controls, DEL, and the two code points below U+10000 that no XML
 * document may hold. */
static bool
is_forbidden(uint32_t code)
{
    if (code < 0x20)
        return code != '\t' && code != '\n' && code != '\r';
    return (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff;
}

/* Returns the bytes that it has dealt with. */
static size_t
repair_one(const unsigned char *s, size_t n, struct buf *out)
{
    uint32_t code = s[0];
    char latin1[2] = {(char)(0xc0 | code >> 6), (char)(0x80 | (code & 0x3f))};
    size_t len = decode(s, n, &code);

    if (is_forbidden(code))
        return len > 0 ? len : 1;
    if (len > 0)
        buf_addn(out, s, len);
    else
        buf_addn(out, latin1, 2);
    return len > 0 ? len : 1;
}

/* Bytes from s on that are ASCII and stay as they are: nearly all there is. */
static size_t
plain_run(const unsigned char *s, size_t n)
{
    size_t i = 0;

    while (i < n && ((s[i] >= 0x20 && s[i] < 0x7f) || s[i] == '\n' ||
                     s[i] == '\t' || s[i] == '\r'))
        i++;
    return i;
}

size_t
utf8_char(const char *text, size_t n, uint32_t *ret_code)
{
    return decode((const unsigned char *)text, n, ret_code);
}

bool
utf8_deceives(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
           (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

void
utf8_repair(const char *text, size_t n, struct buf *out)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t len;

    for (size_t i = 0; i < n; i += len) {
        size_t plain = plain_run(s + i, n - i);

        if (plain > 0)
            buf_addn(out, s + i, plain);
        i += plain;
        len = i < n ? repair_one(s + i, n - i, out) : 0;
    }
}

size_t
utf8_cut(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;

    for (size_t back = 1; back <= 4 && back <= n; back++) {
        unsigned char c = s[n - back];

        if ((c & 0xc0) != 0x80) /* where the last character begins */
            return length_of(c) > back ? n - back : n;
    }
    return n;
}

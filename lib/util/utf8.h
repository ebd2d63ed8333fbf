/* utf8.h - text is valid UTF-8 inside the suite; repaired once, at the door. */
#ifndef QUORATE_UTF8_H
#define QUORATE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

bool utf8_valid(const char *, size_t n);

/* Append the bytes as valid UTF-8: sequences that are invalid are taken as
 * Latin-1, control characters other than tab, LF, CR are dropped, and so are
 * code points that XML forbids. */
void utf8_repair(const char *, size_t n, struct buf *out);

/* The character at the beginning of n bytes: how many of them it takes, and its
 * code point; 0 if there is no valid one. */
size_t utf8_char(const char *, size_t n, uint32_t *ret_code);

/* Characters that a terminal obeys (controls), or that make a line look like
 * another: line separators, and those that turn the direction of writing. */
bool utf8_deceives(uint32_t code);

/* The longest length <= n that does not end inside a character. */
size_t utf8_cut(const char *, size_t n);

#endif

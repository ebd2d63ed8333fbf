/* dialect_text.h - text between the tags of real clients (dialect.c's). */
#ifndef QUORATE_DIALECT_TEXT_H
#define QUORATE_DIALECT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* Append the text with its references replaced by the bytes they stand for. */
void dialect_decode(const char *p, size_t n, struct buf *out);

/* Text that stands for itself: nearly all there is. */
bool dialect_is_plain(const char *p, size_t n);

#endif

/* buf.h - growing byte buffer; the only way to build strings.
 *
 * struct buf b = BUF_INIT;  buf_addf(&b, "<x>%d</x>\n", 5);  ...  buf_free(&b);
 *
 * b.data is NUL-terminated at all times once something was added, and "" before
 * (buf_str() is never NULL).  Out of memory ends the program with a log line:
 * nothing in this suite could go on usefully. */
#ifndef QUORATE_BUF_H
#define QUORATE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* NULL until the first byte */
    size_t len; /* bytes used, without the NUL */
    size_t cap; /* bytes allocated */
};

#define BUF_INIT                                                               \
    {                                                                          \
        NULL, 0, 0                                                             \
    }

void buf_add(struct buf *, const char *text);
void buf_addn(struct buf *, const void *bytes, size_t n);
void buf_addc(struct buf *, char c);
void buf_addf(struct buf *, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *, const char *fmt, va_list)
    __attribute__((format(printf, 2, 0)));

/* Make room for n more bytes (plus NUL); returns where they go. */
char *buf_reserve(struct buf *, size_t n);

/* Forget what lies behind the first n bytes; the memory stays. */
void buf_truncate(struct buf *, size_t n);
void buf_reset(struct buf *); /* buf_truncate(b, 0) */
void buf_free(struct buf *);  /* and becomes BUF_INIT again */

const char *buf_str(const struct buf *); /* never NULL */

/* Give the text away (free() it); the buffer is empty afterwards. */
char *buf_take(struct buf *);

/* malloc family that ends the program when memory is out. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *);
char *xstrndup(const char *, size_t n);

/* Copy text into a fixed field of `size` bytes, cut at a UTF-8 border.
 * Returns false if it had to be cut. */
bool str_copy(char *to, size_t size, const char *from);

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif

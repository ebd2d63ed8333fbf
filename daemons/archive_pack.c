/* archive_pack.c - archives are compressed piece by piece. */
#include "archive_pack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "buf.h"
#include "log.h"

enum {
    CHUNK = 1 << 16,      /* bytes */
    GZIP_WINDOW = 15 + 16 /* 32 KB, with the header of gzip */
};

static const char *const suffix[] = {
    [ARCHIVE_AS_TEXT] = "",
    [ARCHIVE_GZIP] = ".gz",
    [ARCHIVE_ZSTD] = ".zst",
};

const char *
archive_suffix(enum archive_format format)
{
    return suffix[format];
}

enum archive_format
archive_format_of(const char *name)
{
    size_t n = strlen(name);

    if (n > 3 && strcmp(name + n - 3, ".gz") == 0)
        return ARCHIVE_GZIP;
    if (n > 4 && strcmp(name + n - 4, ".zst") == 0)
        return ARCHIVE_ZSTD;
    return ARCHIVE_AS_TEXT;
}

/* ---- packing --------------------------------------------------------------
 */

struct archive_pack {
    enum archive_format format;
    bool begun; /* a piece */
    z_stream gzip;
    ZSTD_CCtx *zstd;
    unsigned char chunk[CHUNK];
};

/* Both fail for want of memory alone, like xmalloc(). */
static void
need(bool ok)
{
    if (!ok) {
        log_critical("out of memory");
        abort();
    }
}

struct archive_pack *
archive_pack_new(enum archive_format format)
{
    struct archive_pack *p = xcalloc(1, sizeof(*p));

    p->format = format;
    if (format == ARCHIVE_GZIP)
        need(deflateInit2(&p->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                          GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    if (format == ARCHIVE_ZSTD)
        need((p->zstd = ZSTD_createCCtx()) != NULL);
    return p;
}

void
archive_pack_free(struct archive_pack *p)
{
    if (p == NULL)
        return;
    if (p->format == ARCHIVE_GZIP)
        deflateEnd(&p->gzip);
    ZSTD_freeCCtx(p->zstd);
    free(p);
}

/* All of the input, then (at the end) all of the output. */
static void
gzip(struct archive_pack *p, const void *bytes, size_t n, int flush,
     struct buf *out)
{
    const unsigned char *at = bytes;

    do {
        size_t some = n < CHUNK ? n : CHUNK;

        memcpy(p->chunk, at, some);
        p->gzip.next_in = p->chunk;
        p->gzip.avail_in = (uInt)some;
        at += some;
        n -= some;
        do {
            unsigned char packed[4096];

            p->gzip.next_out = packed;
            p->gzip.avail_out = sizeof(packed);
            need(deflate(&p->gzip, n == 0 ? flush : Z_NO_FLUSH) !=
                 Z_STREAM_ERROR);
            buf_addn(out, (const char *)packed,
                     sizeof(packed) - p->gzip.avail_out);
        } while (p->gzip.avail_out == 0);
    } while (n > 0);
}

static void
zstd(struct archive_pack *p, const void *bytes, size_t n,
     ZSTD_EndDirective flush, struct buf *out)
{
    ZSTD_inBuffer in = {bytes, n, 0};
    size_t left;

    do {
        ZSTD_outBuffer packed = {p->chunk, sizeof(p->chunk), 0};

        left = ZSTD_compressStream2(p->zstd, &packed, &in, flush);
        need(!ZSTD_isError(left));
        buf_addn(out, (const char *)p->chunk, packed.pos);
    } while (in.pos < in.size || (flush == ZSTD_e_end && left > 0));
}

void
archive_pack_add(struct archive_pack *p, const void *bytes, size_t n,
                 struct buf *out)
{
    if (n == 0)
        return;
    p->begun = true;
    switch (p->format) {
    case ARCHIVE_AS_TEXT:
        buf_addn(out, bytes, n);
        break;
    case ARCHIVE_GZIP:
        gzip(p, bytes, n, Z_NO_FLUSH, out);
        break;
    case ARCHIVE_ZSTD:
        zstd(p, bytes, n, ZSTD_e_continue, out);
        break;
    }
}

void
archive_pack_end(struct archive_pack *p, struct buf *out)
{
    if (p->begun && p->format == ARCHIVE_GZIP)
        gzip(p, "", 0, Z_FINISH, out);
    if (p->begun && p->format == ARCHIVE_ZSTD)
        zstd(p, "", 0, ZSTD_e_end, out);
    archive_pack_drop(p);
}

void
archive_pack_drop(struct archive_pack *p)
{
    p->begun = false;
    if (p->format == ARCHIVE_GZIP)
        deflateReset(&p->gzip);
    if (p->format == ARCHIVE_ZSTD)
        ZSTD_CCtx_reset(p->zstd, ZSTD_reset_session_only);
}

/* ---- looking at a file that was cut ---------------------------------------
 */

struct scan {
    unsigned char in[CHUNK], out[CHUNK];
    off_t at;    /* of the file: what was unpacked */
    off_t whole; /* up to here there are whole pieces */
    const char *tail;
    char text[32]; /* how the piece begins … */
    size_t length; /* … and its length, unpacked */
};

static void
unpacked(struct scan *s, size_t n)
{
    for (size_t i = 0; i < n && s->length + i < sizeof(s->text); i++)
        s->text[s->length + i] = (char)s->out[i];
    s->length += n;
}

static void
end_of_piece(struct scan *s)
{
    size_t n = strlen(s->tail);

    if (n == 0 || s->length != n || memcmp(s->text, s->tail, n) != 0)
        s->whole = s->at;
    s->length = 0;
}

/* False: the bytes are no gzip; what comes behind is of no use. */
static bool
scan_gzip(struct scan *s, z_stream *z, size_t n)
{
    z->next_in = s->in;
    z->avail_in = (uInt)n;
    while (z->avail_in > 0) {
        uInt before = z->avail_in;
        int rc;

        z->next_out = s->out;
        z->avail_out = sizeof(s->out);
        rc = inflate(z, Z_NO_FLUSH);
        s->at += before - z->avail_in;
        unpacked(s, sizeof(s->out) - z->avail_out);
        if (rc == Z_STREAM_END) {
            end_of_piece(s);
            inflateReset(z);
        } else if (rc != Z_OK && rc != Z_BUF_ERROR) {
            return false;
        }
    }
    return true;
}

static bool
scan_zstd(struct scan *s, ZSTD_DCtx *z, size_t n)
{
    ZSTD_inBuffer in = {s->in, n, 0};

    while (in.pos < in.size) {
        ZSTD_outBuffer out = {s->out, sizeof(s->out), 0};
        size_t before = in.pos, left = ZSTD_decompressStream(z, &out, &in);

        if (ZSTD_isError(left))
            return false;
        s->at += (off_t)(in.pos - before);
        unpacked(s, out.pos);
        if (left == 0)
            end_of_piece(s);
    }
    return true;
}

off_t
archive_pack_whole(enum archive_format format, int fd, const char *path,
                   const char *tail)
{
    struct scan *s = xcalloc(1, sizeof(*s));
    ZSTD_DCtx *zd = format == ARCHIVE_ZSTD ? ZSTD_createDCtx() : NULL;
    z_stream gz = {.next_in = NULL};
    off_t whole;
    ssize_t n;
    bool good = true;

    s->tail = tail;
    need(format != ARCHIVE_GZIP || inflateInit2(&gz, GZIP_WINDOW) == Z_OK);
    for (off_t from = 0;
         good && (n = pread(fd, s->in, sizeof(s->in), from)) > 0; from += n)
        good = format == ARCHIVE_GZIP ? scan_gzip(s, &gz, (size_t)n)
                                      : scan_zstd(s, zd, (size_t)n);
    if (good && n < 0)
        log_errno("read %s", path);
    whole = good && n < 0 ? -1 : s->whole;
    if (format == ARCHIVE_GZIP)
        inflateEnd(&gz);
    ZSTD_freeDCtx(zd);
    free(s);
    return whole;
}

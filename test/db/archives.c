/* archives.c - the archives of a test's project, plain or compressed. */
#include "archives.h"

#include <dirent.h>
#include <string.h>

#include <check.h>
#include <zlib.h>
#include <zstd.h>

#include "buf.h"
#include "file.h"
#include "testproject.h"

/* Append what can be read of a compressed file, as zcat and zstdcat do. */
static void
unpack_gzip(const char *path, struct buf *out)
{
    gzFile f = gzopen(path, "rb");
    char text[8192];
    int n;

    ck_assert_ptr_nonnull(f);
    while ((n = gzread(f, text, sizeof(text))) > 0)
        buf_addn(out, text, (size_t)n);
    gzclose(f);
}

static void
unpack_zstd(const char *path, struct buf *out)
{
    struct buf packed = BUF_INIT;
    ZSTD_DCtx *z = ZSTD_createDCtx();
    char text[8192];
    size_t left = 0;

    ck_assert_int_eq(file_read(path, (size_t)1 << 30, &packed), 0);
    ZSTD_inBuffer in = {buf_str(&packed), packed.len, 0};
    while (in.pos < in.size && !ZSTD_isError(left)) {
        ZSTD_outBuffer to = {text, sizeof(text), 0};

        left = ZSTD_decompressStream(z, &to, &in);
        buf_addn(out, text, to.pos);
    }
    ZSTD_freeDCtx(z);
    buf_free(&packed);
}

static void
read_archive(const char *path, struct buf *out)
{
    if (strstr(path, ".xml.gz") != NULL)
        unpack_gzip(path, out);
    else if (strstr(path, ".xml.zst") != NULL)
        unpack_zstd(path, out);
    else
        ck_assert_int_eq(file_read(path, (size_t)1 << 30, out), 0);
}

int
read_archives(const char *folder, const char *begin, const char *end,
              struct buf *out)
{
    DIR *d = opendir(testproject_path(folder));
    int n = 0;

    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        size_t len = strlen(e->d_name);
        struct buf path = BUF_INIT;

        if (strncmp(e->d_name, begin, strlen(begin)) != 0 ||
            len < strlen(end) || strcmp(e->d_name + len - strlen(end), end))
            continue;
        buf_addf(&path, "%s/%s", folder, e->d_name);
        read_archive(testproject_path(path.data), out);
        buf_free(&path);
        n++;
    }
    if (d != NULL)
        closedir(d);
    return n;
}

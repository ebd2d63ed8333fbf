/* fuzz_archive.c - what a killed db_purge left of an archive, or what a disk
 * made of it: after the recovery it ends as an archive does, nothing whole is
 * lost, and a second recovery finds nothing to do. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive_recover.h"
#include "buf.h"
#include "file.h"
#include "fuzz.h"

enum { MOST = 1 << 20 };

#define TAIL "</archive>\n"
#define END "\n</workunit_archive>\n"

static const struct {
    const char *left, *name;
} kind[] = {
    {"wu_archive_1.xml.tmp",     "wu_archive_1.xml"    },
    {"wu_archive_1.xml.gz.tmp",  "wu_archive_1.xml.gz" },
    {"wu_archive_1.xml.zst.tmp", "wu_archive_1.xml.zst"},
};

/* Where the last whole record of a text ends; 0: there is none. */
static size_t
whole_records(const char *bytes, size_t n)
{
    size_t len = strlen(END);

    for (size_t end = n; end >= len; end--)
        if (memcmp(bytes + end - len, END, len) == 0)
            return end;
    return 0;
}

static void
check_text(const struct buf *got, const char *bytes, size_t n)
{
    size_t whole = whole_records(bytes, n);

    FUZZ_MUST(got->len == whole + strlen(TAIL));
    FUZZ_MUST(memcmp(buf_str(got), bytes, whole) == 0);
    FUZZ_MUST(strcmp(buf_str(got) + whole, TAIL) == 0);
}

/* The front is as it was; behind it nothing but the packed end. */
static void
check_packed(const struct buf *got, const char *bytes, size_t n)
{
    size_t shared = 0;

    while (shared < n && shared < got->len &&
           buf_str(got)[shared] == bytes[shared])
        shared++;
    FUZZ_MUST(shared > 0);
    FUZZ_MUST(got->len <= n + 64); /* the packed end */
}

static void
recover(size_t k, const uint8_t *bytes, size_t n)
{
    const char *folder = fuzz_file(kind[k].left, bytes, n);
    struct buf path = BUF_INIT, got = BUF_INIT;

    FUZZ_MUST(archive_recover(folder) == 0);
    buf_addf(&path, "%s/%s", folder, kind[k].left);
    FUZZ_MUST(!file_exists(buf_str(&path)));
    buf_reset(&path);
    buf_addf(&path, "%s/%s", folder, kind[k].name);
    if (file_exists(buf_str(&path))) {
        FUZZ_MUST(file_read(buf_str(&path), MOST, &got) == 0);
        if (k == 0)
            check_text(&got, (const char *)bytes, n);
        else
            check_packed(&got, (const char *)bytes, n);
        unlink(buf_str(&path));
    } else {
        FUZZ_MUST(k > 0 || whole_records((const char *)bytes, n) == 0);
    }
    buf_free(&path);
    buf_free(&got);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    for (size_t k = 0; k < ARRAY_LEN(kind); k++)
        recover(k, bytes, n);
    return 0;
}

/* fuzz.c - what the targets share. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "log.h"

enum { NAMES_MAX = 8 };

static struct {
    char path[64];
    const char *name[NAMES_MAX]; /* literals */
    int n;
    pid_t owner;
} folder;

/* The programs' own messages are not what we look for. */
__attribute__((constructor)) static void
be_quiet(void)
{
    log_open("fuzz", (enum log_level)0, false);
}

void
fuzz_broken(const char *file, int line, const char *promise)
{
    fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, promise);
    abort();
}

char *
fuzz_text(const uint8_t *bytes, size_t n)
{
    char *text = xmalloc(n + 1);

    memcpy(text, bytes, n);
    text[n] = '\0';
    return text;
}

static void
remove_folder(void)
{
    struct buf path = BUF_INIT;

    if (folder.owner != getpid())
        return;
    for (int i = 0; i < folder.n; i++) {
        buf_reset(&path);
        buf_addf(&path, "%s/%s", folder.path, folder.name[i]);
        unlink(buf_str(&path));
    }
    buf_free(&path);
    rmdir(folder.path);
}

static void
make_folder(void)
{
    if (folder.path[0] != '\0')
        return;
    snprintf(folder.path, sizeof(folder.path), "/tmp/quorate-fuzz.XXXXXX");
    if (mkdtemp(folder.path) == NULL) {
        perror(folder.path);
        exit(1);
    }
    folder.owner = getpid();
    atexit(remove_folder);
}

static void
note_name(const char *name)
{
    for (int i = 0; i < folder.n; i++)
        if (strcmp(folder.name[i], name) == 0)
            return;
    if (folder.n == NAMES_MAX)
        abort();
    folder.name[folder.n++] = name;
}

const char *
fuzz_file(const char *name, const uint8_t *bytes, size_t n)
{
    struct buf path = BUF_INIT;
    int fd;

    make_folder();
    note_name(name);
    buf_addf(&path, "%s/%s", folder.path, name);
    fd = open(buf_str(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || file_write_all(fd, bytes, n) != 0) {
        perror(buf_str(&path));
        exit(1);
    }
    close(fd);
    buf_free(&path);
    return folder.path;
}

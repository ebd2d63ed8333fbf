/* timelog.c - availability logs of clients.
 *
 * What a client sends is text of anybody: only lines of a time and a word are
 * kept, in rising order of time, and no more of one host than MAX_BYTES. */
#include "timelog.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "file.h"
#include "log.h"

enum {
    FOLDERS = 1000,
    MAX_BYTES = 4 << 20, /* of a host's file: years */
    TAIL = 256,          /* more than the last line has */
    LINE_MAX_BYTES = 128,
};

/* The time of a line "TIME WORD" of n bytes; 0 if it is none. */
static double
time_of(const char *line, size_t n)
{
    const char *end = line + n, *p;
    char *behind;
    double t;

    if (n == 0 || n > LINE_MAX_BYTES || !isdigit((unsigned char)*line))
        return 0;
    t = strtod(line, &behind);
    if (behind >= end || *behind != ' ' || !isfinite(t))
        return 0;
    p = behind + 1;
    if (p == end)
        return 0;
    for (; p < end; p++)
        if (!isalnum((unsigned char)*p) && *p != '_' && *p != ' ' && *p != '.')
            return 0;
    return t;
}

/* The time of the last line of the file, 0: none. */
static double
last_time(int fd, off_t size)
{
    char tail[TAIL + 1];
    off_t from = size > TAIL ? size - TAIL : 0;
    ssize_t n = pread(fd, tail, TAIL, from);
    char *line;

    if (n <= 0)
        return 0;
    tail[n] = '\0';
    if (tail[n - 1] == '\n')
        tail[--n] = '\0';
    line = strrchr(tail, '\n');
    line = line != NULL ? line + 1 : tail;
    return time_of(line, strlen(line));
}

static void
add_new_lines(const char *text, double *last, int64_t now, struct buf *out)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");
        double t = time_of(text, n);

        if (t > *last && t <= (double)now) {
            buf_addn(out, text, n);
            buf_addc(out, '\n');
            *last = t;
        }
        text += n + (text[n] == '\n' ? 1 : 0);
    }
}

static int
open_log(const struct config *cfg, int64_t hostid)
{
    struct buf path = BUF_INIT;
    int fd = -1;

    buf_addf(&path, "%s/time_stats_log/%" PRId64, cfg->project_root,
             hostid % FOLDERS);
    if (file_mkdirs(buf_str(&path), 02775) == 0) {
        buf_addf(&path, "/%" PRId64, hostid);
        fd =
            open(buf_str(&path), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0660);
    }
    if (fd < 0)
        log_errno("%s", buf_str(&path));
    buf_free(&path);
    return fd;
}

int64_t
timelog_keep(const struct config *cfg, int64_t hostid, const char *text,
             int64_t now)
{
    struct buf lines = BUF_INIT;
    struct stat st;
    double last;
    int fd = open_log(cfg, hostid);

    if (fd < 0)
        return now;
    if (fstat(fd, &st) != 0)
        st.st_size = 0;
    last = last_time(fd, st.st_size);
    if (text != NULL)
        add_new_lines(text, &last, now, &lines);
    if (lines.len > 0 && st.st_size + (off_t)lines.len <= MAX_BYTES &&
        file_write_all(fd, buf_str(&lines), lines.len) != 0)
        log_errno("availability log of host %" PRId64, hostid);
    close(fd);
    buf_free(&lines);
    return last > 0 ? (int64_t)last : 1;
}

/* log.c - one event, one line, one write(2): lines of many processes that share
 * a file never mix.  Nothing here allocates, so "out of memory" can be logged;
 * a text longer than a line's room is cut and says so. */
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "utf8.h"

enum {
    TEXT_MAX = 8000,     /* bytes of an event's text as it is written */
    PREFIX_MAX = 80,     /* time, pid, level */
    REPEAT_SECONDS = 60, /* how long repetitions may go unmentioned */
};

#define CUT " [cut]"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *program_name = "";
static enum log_level max_level = LOG_LEVEL_NORMAL;
static bool show_pid;
static int fd = STDERR_FILENO;
static int copy_fd = -1;
static char file_path[4096];

static struct {
    char text[TEXT_MAX];
    enum log_level level;
    pid_t pid;      /* who counts: a child does not report its parent's */
    int64_t count;  /* repetitions not yet written */
    double written; /* when the line or its count was last written */
} last;

static const char *
level_tag(enum log_level level)
{
    switch (level) {
    case LOG_LEVEL_CRITICAL:
        return "[CRITICAL] ";
    case LOG_LEVEL_WARNING:
        return "[warning] ";
    case LOG_LEVEL_NORMAL:
        break;
    case LOG_LEVEL_DEBUG:
        return "[debug] ";
    }
    return "";
}

/* A log that cannot be written has nobody to tell; the work goes on. */
static void
write_line(enum log_level level, double now, const char *text)
{
    char line[PREFIX_MAX + TEXT_MAX + 2];
    char pid[32] = "";
    time_t seconds = (time_t)now;
    struct tm tm;
    int n;

    gmtime_r(&seconds, &tm);
    if (show_pid)
        (void)snprintf(pid, sizeof(pid), "[PID=%d] ", (int)getpid());
    n = snprintf(line, sizeof(line),
                 "%04d-%02d-%02d %02d:%02d:%02d.%04d %s%s%s\n",
                 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
                 tm.tm_min, tm.tm_sec, (int)((now - (double)seconds) * 10000.0),
                 pid, level_tag(level), text);
    if (n > 0 && copy_fd >= 0 && write(copy_fd, line, (size_t)n) < 0)
        copy_fd = -1;
    if (n > 0 && write(fd, line, (size_t)n) < 0)
        return;
}

static void
write_count(double now)
{
    char text[64];

    if (last.count > 0 && last.pid == getpid()) {
        (void)snprintf(text, sizeof(text), "(repeated %" PRId64 " times)",
                       last.count);
        write_line(last.level, now, text);
    }
    last.count = 0;
    last.written = now;
}

/* A character as it is written; returns how many bytes of the text it takes. */
static size_t
escape_one(const char *p, char code[8])
{
    unsigned char c = (unsigned char)*p;
    uint32_t point;
    size_t len = utf8_char(p, strnlen(p, 4), &point);

    if (c == '\n' || c == '\t' || c == '\r')
        (void)snprintf(code, 8, "\\%c",
                       c == '\n' ? 'n' : (c == '\t' ? 't' : 'r'));
    else if (len == 0 || (len == 1 && utf8_deceives(point)))
        (void)snprintf(code, 8, "\\x%02x", c);
    else if (utf8_deceives(point))
        (void)snprintf(code, 8, "\\u%04x", (unsigned)point);
    else
        (void)snprintf(code, 8, "%.*s", (int)len, p);
    return len > 0 ? len : 1;
}

/* Copy with control characters as \n, \t, \x1b, \u009b: an event is always one
 * line of UTF-8 and cannot forge another.  Cut at TEXT_MAX. */
static void
escape(const char *from, char to[TEXT_MAX])
{
    size_t room = TEXT_MAX - sizeof(CUT);
    size_t n = 0;

    while (*from != '\0') {
        char code[8];
        size_t len = escape_one(from, code), wide = strlen(code);

        if (n + wide > room)
            break;
        memcpy(to + n, code, wide);
        n += wide;
        from += len;
    }
    if (*from != '\0') {
        memcpy(to + n, CUT, sizeof(CUT));
        return;
    }
    to[n] = '\0';
}

static void
emit(enum log_level level, const char *text)
{
    double now = clock_now_fine();

    if (last.level == level && strcmp(last.text, text) == 0) {
        last.count++;
        if (now - last.written >= REPEAT_SECONDS)
            write_count(now);
        return;
    }
    write_count(now);
    write_line(level, now, text);
    last.level = level;
    last.pid = getpid();
    (void)str_copy(last.text, sizeof(last.text), text);
}

static void LOG_PRINTF(3, 0) log_event(enum log_level level, const char *error,
                                       const char *fmt, va_list ap)
{
    char raw[TEXT_MAX + 1]; /* one more than fits: escape() sees that it cuts */
    char text[TEXT_MAX];
    int saved = errno;
    size_t n;

    if (level > max_level)
        return;
    (void)vsnprintf(raw, sizeof(raw), fmt, ap);
    n = strlen(raw);
    if (error != NULL)
        (void)snprintf(raw + n, sizeof(raw) - n, ": %s", error);
    escape(raw, text);
    pthread_mutex_lock(&lock);
    emit(level, text);
    pthread_mutex_unlock(&lock);
    errno = saved;
}

static void
at_exit(void)
{
    write_count(clock_now_fine());
}

void
log_open(const char *program, enum log_level level, bool with_pid)
{
    static bool registered;

    program_name = program;
    max_level = level;
    show_pid = with_pid;
    if (!registered)
        (void)atexit(at_exit);
    registered = true;
}

static int
open_file(void)
{
    int new_fd =
        open(file_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0660);

    if (new_fd < 0)
        return -1;
    if (fd != STDERR_FILENO)
        (void)close(fd);
    fd = new_fd;
    return 0;
}

int
log_to_file(const char *path)
{
    if (!str_copy(file_path, sizeof(file_path), path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open_file();
}

void
log_reopen(void)
{
    if (file_path[0] != '\0' && open_file() != 0)
        log_errno("%s: reopen log %s", program_name, file_path);
}

void
log_copy_to(int new_fd)
{
    pthread_mutex_lock(&lock);
    copy_fd = new_fd;
    pthread_mutex_unlock(&lock);
}

void
log_set_level(enum log_level level)
{
    max_level = level;
}

enum log_level
log_get_level(void)
{
    return max_level;
}

#define LOG_FUNCTION(name, level)                                              \
    void name(const char *fmt, ...)                                            \
    {                                                                          \
        va_list ap;                                                            \
                                                                               \
        va_start(ap, fmt);                                                     \
        log_event(level, NULL, fmt, ap);                                       \
        va_end(ap);                                                            \
    }

LOG_FUNCTION(log_critical, LOG_LEVEL_CRITICAL)
LOG_FUNCTION(log_warning, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_normal, LOG_LEVEL_NORMAL)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)

void
log_errno(const char *fmt, ...)
{
    char error[128];
    va_list ap;

    va_start(ap, fmt);
    log_event(LOG_LEVEL_CRITICAL, strerror_r(errno, error, sizeof(error)), fmt,
              ap);
    va_end(ap);
}

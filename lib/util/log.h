/* log.h - one event, one line: time, level, subject, text.
 *
 *   2026-11-30 19:35:33.1234 [CRITICAL] [WU#12 name] text
 *
 * Lines go to stderr (where start's redirection puts them into log_HOST/) or
 * to the file of log_to_file().  A line that repeats is written once, then
 * counted: "(repeated 41 times)" follows when it changes or after a minute. */
#ifndef QUORATE_LOG_H
#define QUORATE_LOG_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level {
    LOG_LEVEL_CRITICAL = 1, /* somebody must act */
    LOG_LEVEL_WARNING = 2,  /* odd, and handled */
    LOG_LEVEL_NORMAL = 3,   /* what happened */
    LOG_LEVEL_DEBUG = 4,    /* why it happened, and each SQL statement */
};

/* Subjects.  Use: log_normal(TAG_WU "text", wu->id, wu->name) */
#define TAG_WU "[WU#%" PRId64 " %s] "
#define TAG_RESULT "[RESULT#%" PRId64 " %s] "
#define TAG_HOST "[HOST#%" PRId64 "] "
#define TAG_USER "[USER#%" PRId64 "] "

#define LOG_PRINTF(a, b) __attribute__((format(printf, a, b)))

/* Begin logging for `program` (kept as pointer; a string literal or argv[0]).
 * with_pid adds [PID=n] (CGI programs, where many share one file). */
void log_open(const char *program, enum log_level level, bool with_pid);

/* Append to this file from now on.  0, or -1 with errno (stderr is kept). */
int log_to_file(const char *path);

/* Open the file of log_to_file() again (after rotation; SIGUSR2). */
void log_reopen(void);

/* Write each line to this file, too (a copy for one request); -1: no more. */
void log_copy_to(int fd);

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

void log_critical(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_warning(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_normal(const char *fmt, ...) LOG_PRINTF(1, 2);
void log_debug(const char *fmt, ...) LOG_PRINTF(1, 2);

/* log_critical() with ": " and the text of errno.  errno is unchanged. */
void log_errno(const char *fmt, ...) LOG_PRINTF(1, 2);

#endif

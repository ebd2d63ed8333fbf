/* file.h - whole files: read, write so that no reader sees half, copy, make
 * folders, run a program without a shell. */
#ifndef QUORATE_FILE_H
#define QUORATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;

/* Append the file's bytes; files larger than `max` are refused (EFBIG).
 * 0, or -1 with errno (not logged). */
int file_read(const char *path, size_t max, struct buf *out);

/* A new content of `path`: write it to the descriptor, which is that of
 * "<path>.tmp" (the name goes to `temp`), and finish.  All or nothing, also
 * among several writers; what a killed writer left is written over by the next.
 * file_finish() with rc = 0 sets the mode as given, whatever the umask, and
 * renames; with another rc it removes what was written.  It takes fd and temp;
 * returns rc or -1 with errno. */
int file_begin(const char *path, struct buf *temp);
int file_finish(int fd, struct buf *temp, const char *path, mode_t mode,
                bool sync, int rc);

/* Write a whole file that way. */
int file_write(const char *path, const void *bytes, size_t n, mode_t mode);

/* The same without fsync, for what a crash of the machine may take: status. */
int file_write_nosync(const char *path, const void *bytes, size_t n,
                      mode_t mode);

/* Copy, the same way.  Permission bits of the source, or `mode` if not 0. */
int file_copy(const char *from, const char *to, mode_t mode);

int file_write_all(int fd, const void *bytes, size_t n);

/* mkdir -p.  New folders get `mode` (setgid too), whatever the umask; existing
 * ones are left as they are.  -1 with errno. */
int file_mkdirs(const char *path, mode_t mode);

bool file_exists(const char *path);
bool file_is_dir(const char *path);

/* rm -r; symbolic links are removed, never followed.  A path that is not there
 * is fine. */
int file_remove_tree(const char *path);

/* Run argv[0] with arguments, no shell; wait.  Exit status, 128 + signal, or -1
 * if it could not be started.  If `out` is not NULL its stdout is appended (at
 * most `max` bytes); without, it is ours.  stdin is /dev/null if NULL. */
int file_run(char *const argv[], const char *stdin_path, struct buf *out,
             size_t max);

#endif

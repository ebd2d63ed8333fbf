/* lockfile.h - one process at a time, and who it is: a file under an fcntl
 * lock.  The kernel gives the lock back when the process ends, however it ends,
 * and names its owner, so a pid that was used again is never taken for it.
 *
 * The lock survives exec(), not fork(): a program is locked by the process that
 * becomes it. */
#ifndef QUORATE_LOCKFILE_H
#define QUORATE_LOCKFILE_H

#include <stdbool.h>
#include <sys/types.h>

/* Take it.  Descriptor to be kept open; with errno EAGAIN: somebody has it; -1
 * with another errno: no such file can be made.  keep_on_exec: for exec(). */
int lockfile_take(const char *path, bool keep_on_exec);

/* Who has it; 0 nobody. */
pid_t lockfile_owner(const char *path);

/* Send a signal to the owner and to nobody else.  0 sent, 1 no owner, -1 with
 * errno. */
int lockfile_signal(const char *path, int sig);

#endif

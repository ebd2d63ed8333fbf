/* supervise.h - the supervisor's loop: keeps a project's daemons of this host
 * running and runs its tasks when they are due. */
#ifndef QUORATE_SUPERVISE_H
#define QUORATE_SUPERVISE_H

struct config;

/* Paths of the supervisor's own files, malloc. */
char *supervise_lock_path(const struct config *);
char *supervise_log_path(const struct config *);

/* Run until asked to end: SIGTERM or SIGINT, or the file stop_daemons.  The
 * caller holds the supervisor's lock and gives up the config.
 *
 *   SIGTERM, SIGINT   end: SIGHUP to all programs, SIGTERM after 5 s, wait
 *   SIGQUIT           the same, and SIGKILL
 *   SIGHUP            read config.xml again, start what failed
 *   SIGUSR2           open the log again
 *
 * When all daemons have begun their work, or have failed to, or after 5 s, one
 * line for each goes to report_fd ("ok NAME pid 12", "failed NAME: text"), and
 * it is closed; -1: nobody wants to know.  Exit status. */
int supervise(struct config *, int report_fd);

#endif

/* keep.h - copies of requests, their replies and their lines of the log, for
 * operators who look for a fault (debug_req_reply_dir).
 *
 * The files are PID_N_sched_request.xml, …_reply.xml and …_sched.log; they hold
 * account keys, so only the project's account can read them. */
#ifndef QUORATE_KEEP_H
#define QUORATE_KEEP_H

#include <stddef.h>

struct buf;
struct config;

struct keep {
    char *base; /* FOLDER/PID_N, NULL: nothing is kept */
    int log;    /* fd */
};

/* With debug_req_reply_dir, or in log_HOST/requests while there is a file
 * debug_sched in the project's root. */
void keep_begin(struct keep *, const struct config *, const void *request,
                size_t n);
void keep_end(struct keep *, const struct buf *reply);

#endif

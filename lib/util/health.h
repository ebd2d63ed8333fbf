/* health.h - a program's heartbeat: a small file pid_HOST/<name>.health that
 * status and /metrics read.
 *
 *   pid 123
 *   started 1700000000
 *   last_pass 1700000123
 *   passes 41
 *   handled 1234
 *   errors 0
 *   state running|idle|database-lost|stopping
 */
#ifndef QUORATE_HEALTH_H
#define QUORATE_HEALTH_H

#include <stdint.h>
#include <sys/types.h>

struct health {
    char path[4096];
    pid_t pid;
    int64_t started, last_pass;
    int64_t passes, handled, errors;
    char state[32];
    int64_t written; /* when the file was last written */
};

/* Begin; the file is written at once.  `path` "" = keep no file. */
void health_open(struct health *, const char *path);

/* After a pass that handled n items (n < 0: failed).  Written at most once a
 * second, or at once when the state changes. */
void health_beat(struct health *, int64_t n, const char *state);
void health_close(struct health *); /* removes the file */

/* Read another program's.  0, or -1 if there is none. */
int health_read(const char *path, struct health *ret);

#endif

/* status.h - what runs of a project, on this host and in its queues. */
#ifndef QUORATE_STATUS_H
#define QUORATE_STATUS_H

#include <stdbool.h>

struct config;

/* Print a table, or JSON.  Gives the config up.  EXIT_OK if the supervisor and
 * every daemon that should run do, else EXIT_NO. */
int status_show(struct config *, bool json, bool verbose);

#endif

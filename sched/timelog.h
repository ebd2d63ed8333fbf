/* timelog.h - availability logs of clients, kept below time_stats_log/ in the
 * project's root: one file for each host, ID%1000/ID. */
#ifndef QUORATE_TIMELOG_H
#define QUORATE_TIMELOG_H

#include <stdint.h>

struct config;

/* Append the lines "TIME EVENT" of text (NULL: none) that are newer than the
 * last one kept, and not of the future.  Returns the time (Unix s, > 0) from
 * which the client is to send lines next. */
int64_t timelog_keep(const struct config *, int64_t hostid, const char *text,
                     int64_t now);

#endif

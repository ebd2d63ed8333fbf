/* db_grant.h - credit for hosts, users and teams.
 *
 * May write: host, user, team: total_credit, expavg_credit, expavg_time;
 * host.avg_turnaround. */
#ifndef QUORATE_DB_GRANT_H
#define QUORATE_DB_GRANT_H

#include <stddef.h>
#include <stdint.h>

struct db;

struct grant {
    int64_t hostid, userid; /* 0 none */
    double credit;          /* >= 0 */
    int64_t start;          /* of the work, Unix s */
    double turnaround;      /* s, for the host's average; < 0: none */
};

/* Inside a transaction: grant all.  Users are locked first, then teams, then
 * hosts, each by id; the team is the user's of now.  Rows that are not there
 * are passed over.  0 or -1. */
int db_grant(struct db *, const struct grant *, size_t n, int64_t now);

#endif

/* db_grant.h - credit for hosts, users and teams.
 *
 * May write: host, user, team: total_credit, expavg_credit, expavg_time;
 * host.avg_turnaround; rows of credit_user and credit_team. */
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
    int64_t appid;          /* note it in credit_user and credit_team as well; 0
                               no */
};

/* Inside a transaction: grant all.  Users are locked first, then teams, then
 * hosts, each by id, then credit by application; the team is the user's of now.
 * Rows that are not there are passed over; those by application are made, also
 * for team 0 of the users without a team.  0 or -1. */
int db_grant(struct db *, const struct grant *, size_t n, int64_t now);

/* ---- db_grant_app.c: a part of db_grant() ---- */
enum grant_kind { GRANT_USER, GRANT_TEAM };

struct app_grant {
    int64_t owner; /* user or team */
    int64_t appid;
    double credit;
    int64_t start; /* Unix s */
};

/* `g` is sorted in place. */
int db_grant_by_app(struct db *, enum grant_kind, struct app_grant *g, size_t n,
                    int64_t now);

#endif

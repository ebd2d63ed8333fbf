/* db_web.h - what pages, web RPCs and `status` ask: accounts, queues, lists.
 *
 * Writes: user (a new account), consent (insert). */
#ifndef QUORATE_DB_WEB_H
#define QUORATE_DB_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "app.h"

struct db;

/* ---- queues ---------------------------------------------------------------
 */

struct web_queues {
    int64_t results_unsent;
    int64_t results_in_progress;
    int64_t results_need_file_delete;
    int64_t wus_need_validate;
    int64_t wus_need_assimilate;
    int64_t wus_need_file_delete;
    int64_t transition_backlog; /* s that the oldest due workunit waits */
};
int db_web_queues(struct db *, int64_t now, struct web_queues *ret);

struct web_counts {
    int64_t users_recent, users_credit, users_day; /* day: registered in 24 h */
    int64_t hosts_recent, hosts_credit, hosts_day;
    double gflops; /* from the credit that is granted these days */
};
int db_web_counts(struct db *, int64_t now, struct web_counts *ret);

struct web_app {
    int64_t id;
    char name[NAME_SIZE]; /* user-friendly */
    int64_t unsent, in_progress;
    double avg_hours, min_hours, max_hours; /* of results of the last day */
    int64_t users;                          /* with such results */
};
/* All applications that are not deprecated; free() *ret. */
int db_web_apps(struct db *, int64_t now, struct web_app **ret, size_t *ret_n);

/* ---- lists ----------------------------------------------------------------
 */

/* One per platform and plan class with a version in use. */
struct web_platform {
    char name[NAME_SIZE];
    char user_friendly_name[NAME_SIZE];
    char plan_class[129];
};
int db_web_platforms(struct db *, struct web_platform **ret, size_t *ret_n);

/* ---- accounts -------------------------------------------------------------
 */

/* 0 and the fields id, email_addr, name, authenticator, passwd_hash; DB_NONE;
 * -1. */
int db_web_user_by_email(struct db *, const char *email, struct user *ret);

/* Is or was the address (previous_email_addr) somebody's?  0 yes, DB_NONE, -1.
 */
int db_web_email_taken(struct db *, const char *email);

/* Insert from the fields email_addr, name, authenticator, country,
 * cross_project_id, passwd_hash, show_hosts, teamid; with consent_source (the
 * program that asked; NULL: nobody did) the consent to the terms of use is
 * recorded.  One transaction.  0; DB_EXISTS: address or name is taken; -1. */
int db_web_user_create(struct db *, const struct user *,
                       const char *consent_source, int64_t now);

/* An open team of exactly this name.  0, DB_NONE, -1. */
int db_web_open_team(struct db *, const char *name, int64_t *ret_id);

#endif

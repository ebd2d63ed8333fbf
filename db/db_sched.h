/* db_sched.h - the scheduler's questions: account, host, report, send.
 *
 * What the scheduler may write, and nothing else:
 *   host       every column that a request carries, rpc_seqno, rpc_time,
 *              nsame_ip_addr, external_ip_addr, nresults_today; a new row whole
 *   user       cross_project_id, global_prefs
 *   result     server_state, outcome, client_state, validate_state, hostid,
 *              userid, teamid, report_deadline, sent_time, received_time,
 *              cpu_time, elapsed_time, exit_status, app_version_num,
 *              app_version_id, flops_estimate, stderr_out, xml_doc_out, peak_*
 *   workunit   transition_time (never later than it was), target_nresults and
 *              min_quorum (up, adaptive replication), hr_class and
 *              app_version_id (from 0, with the first result sent)
 *   host_app_version  max_jobs_per_day, n_jobs_today, consecutive_valid; new
 *              rows (db_hav.h)
 *   msg_from_host (new rows), msg_to_host.handled, x_msg_sent, x_host_request
 *   x_resend, x_key_failure
 *
 * All functions run inside the one transaction of an RPC.  Locks are taken in
 * this order: user (only to make a host), host, workunits, results.  That is
 * not the order of the others (db.h), and workunits to send come after those of
 * reports; so the connection never waits for a lock (db_set_lock_wait(db, 0)):
 * an RPC that meets one begins again a few milliseconds later.  Each
 * returns 0, an answer of enum db_answer, or -1 (failed, logged). */
#ifndef QUORATE_DB_SCHED_H
#define QUORATE_DB_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account.h"
#include "db.h"
#include "host.h"
#include "result.h"
#include "version.h"
#include "workunit.h"

struct trickle_up;

/* Fields that are stored in varchar(254) columns: bytes and NUL. */
#define DB_TEXT_SIZE 255

/* ---- accounts (db_sched_account.c) ----------------------------------------
 * DB_NONE: no such row.  A user read is given back with db_sched_user_free().
 */
int db_sched_user_by_id(struct db *, int64_t id, struct user *ret);
int db_sched_user_by_key(struct db *, const char *authenticator,
                         struct user *ret);
void db_sched_user_free(struct user *);

/* Only one RPC at a time may look for, or make, a host of this user. */
int db_sched_lock_user(struct db *, int64_t id);

int db_sched_team(struct db *, int64_t id, struct team *ret);

/* Whose is this host?  Sets of *ret id, userid and rpc_seqno (for a record that
 * was merged: 0, and the id of the other), reads the user, and the team; their
 * ids are 0 if there is none.  In one statement. */
int db_sched_owner(struct db *, int64_t hostid, struct host *ret,
                   struct user *ret_user, struct team *ret_team);
int db_sched_set_cpid(struct db *, int64_t userid, const char *cpid);
int db_sched_set_global_prefs(struct db *, int64_t userid, const char *xml);

/* ---- hosts (db_sched_host.c) ----------------------------------------------
 */
int db_sched_host(struct db *, int64_t id, struct host *ret);

/* The same, the row locked.  DB_BUSY: another RPC of this host is at work. */
int db_sched_lock_host(struct db *, int64_t id, struct host *ret);

/* The user's newest host with this stored cpid (md5(host_cpid, e-mail)). */
int db_sched_host_by_cpid(struct db *, int64_t userid, const char *cpid,
                          int64_t *ret_id);

/* The user's newest host with an id above `above` that looks like `like`: same
 * domain_name, last_ip_addr, os_name, p_model, m_nbytes.  DB_NONE at once if
 * `like` lacks one of them. */
int db_sched_similar_host(struct db *, int64_t userid, int64_t above,
                          const struct host *like, int64_t *ret_id);

/* Insert; sets host->id. */
int db_sched_add_host(struct db *, struct host *);

/* Write what differs between the two, by groups of columns: what changes at
 * each contact, what changes now and then, what hardly ever changes.  Whole
 * groups, so that few statement texts exist; now->misc, if there is one, goes
 * with them.  Nothing differs: no
 * statement. */
int db_sched_update_host(struct db *, const struct host *old,
                         const struct host *now);

/* ---- reports (db_sched_report.c) ------------------------------------------
 */
struct known_result { /* a result that a client named */
    int64_t id;
    int64_t workunitid;
    int64_t hostid;
    int64_t userid;
    int64_t sent_time;
    int64_t received_time;
    int64_t report_deadline;
    enum server_state server_state;
    enum outcome outcome;
    enum file_delete_state file_delete_state;
    int64_t appid;
    int64_t app_version_id;
    char name[NAME_SIZE];
};

/* Those of n names that exist, in any order; *ret (malloc) has *ret_n. */
int db_sched_results_by_name(struct db *, const char *const *names, size_t n,
                             struct known_result **ret, size_t *ret_n);

struct job_on_client { /* a result that a client has, and its workunit */
    int64_t hostid;
    enum server_state server_state;
    enum outcome outcome;
    unsigned error_mask;
    enum assimilate_state assimilate_state;
    char name[NAME_SIZE];
};

/* Those of n names that exist, in any order; *ret (malloc) has *ret_n. */
int db_sched_jobs_on_client(struct db *, const char *const *names, size_t n,
                            struct job_on_client **ret, size_t *ret_n);

/* Results in progress on a host, by id; at most `max`. */
int db_sched_in_progress(struct db *, int64_t hostid, size_t max,
                         struct known_result **ret, size_t *ret_n);

/* Let the transitioner look at these workunits now; locks their rows in id
 * order.  `ids` is sorted in place. */
int db_sched_touch_workunits(struct db *, int64_t *ids, size_t n, int64_t now);

struct result_report { /* what becomes of one result */
    int64_t id;
    enum outcome outcome;               /* SUCCESS or CLIENT_ERROR */
    enum validate_state validate_state; /* INIT or INVALID */
    int client_state;
    int exit_status;
    int app_version_num;
    double cpu_time, elapsed_time; /* s */
    double peak_working_set_size, peak_swap_size, peak_disk_usage;
    const char *stderr_out;
    const char *xml_doc_out;
};

/* Store reports of the user's host.  A row is written only while a report is
 * still wanted: it is this user's, nothing was received for it, and it is in
 * progress, or over without a reply.  *ret_stored: how many were. */
int db_sched_store_reports(struct db *, const struct result_report *, size_t n,
                           const struct host *, const struct user *,
                           int64_t now, size_t *ret_stored);

/* The output files of these results, which were deleted, have come once more:
 * delete them again.  Their workunits are locked.  `ids` is sorted in place. */
int db_sched_files_came_again(struct db *, int64_t *ids, size_t n);

/* The host has come back without its jobs: what is in progress on it is over
 * (CLIENT_DETACHED), and its workunits are looked at. */
int db_sched_detach(struct db *, int64_t hostid, int64_t now);

/* Store messages of the host's jobs, but those that are there already: a client
 * sends them again if the reply was lost (they hold their time, so equal ones
 * are the same).  *ret_again: how many were there. */
int db_sched_store_trickles(struct db *, int64_t hostid, int64_t now,
                            const struct trickle_up *, size_t n,
                            size_t *ret_again);

/* Messages for the host's jobs (at most 100), to be sent now; *ret and its
 * texts are malloc'ed.  What went out with an earlier reply is marked as
 * handled here, or, if that reply was lost, sent again. */
int db_sched_take_messages(struct db *, int64_t hostid, int64_t now,
                           bool reply_lost, char ***ret, size_t *ret_n);

/* ---- dispatch (db_sched_dispatch.c) ---------------------------------------
 */
enum candidate_state {
    CANDIDATE_OK,
    CANDIDATE_NOT_NEEDED, /* the workunit is decided, or the result is gone */
    CANDIDATE_BUSY,       /* another has locked the workunit: not now */
    CANDIDATE_USER_HAS,   /* the user has, or had, a result of the workunit */
    CANDIDATE_HOST_HAS,
    CANDIDATE_OTHER_CLASS,   /* the workunit went to another class of hosts */
    CANDIDATE_OTHER_VERSION, /* … to another version */
};

struct candidate {
    /* given */
    int64_t result_id;
    int64_t wu_id;
    int64_t app_version_id;
    int hr_class;        /* the host's, if the app is for equal hosts; 0: any */
    bool one_version;    /* all results of the workunit have this version */
    int64_t delay_bound; /* s; chosen for this host.  The caller's own */
    double flops_estimate;        /* peak FLOPS, stored */
    int64_t deadline;             /* stored: grace included */
    struct version_choice choice; /* how it would run; not used in db */
    int replicate_to; /* 0, or: the workunit gets so many instances, all of
                         which must agree (adaptive replication) */
    int resends;      /* db_sched_resends(): times it was sent again */
    /* found */
    enum candidate_state state;
    struct workunit *wu;   /* with xml_doc; malloc'ed */
    struct result *result; /* with xml_doc_in; malloc'ed */
};

struct send_to {
    int64_t userid;
    int64_t hostid;
    bool one_per_user; /* per workunit */
    bool one_per_host;
    bool resend; /* the results are in progress on this host already */
    int64_t now;
};

/* Lock the workunits and results of the candidates, read them, and say which
 * may be sent.  Workunits that another has locked are passed over.  Of two
 * candidates of one workunit both may be OK: the caller does not offer two
 * where that is forbidden.  `c` is sorted by result_id. */
int db_sched_lock_candidates(struct db *, struct candidate *, size_t n,
                             const struct send_to *);

/* Send those that are OK: results to IN_PROGRESS with sent_time, deadline and
 * version, workunits' transition_time no later than the deadline; those to be
 * replicated get target_nresults and min_quorum, and are due now.  A workunit
 * of equal hosts, or of one version, gets hr_class and app_version_id if it has
 * none.  -1 also if a row changed in spite of its lock. */
int db_sched_send(struct db *, const struct candidate *, size_t n,
                  const struct send_to *);

/* A job that its host lost and cannot get again: OVER, NO_REPLY; its workunit
 * is looked at now. */
int db_sched_expire(struct db *, const struct candidate *, size_t n,
                    const struct send_to *);

void candidate_free(struct candidate *); /* wu and result */

/* Which of n workunits have a result of the user (or, with by_host, of the
 * host)?  Fills ret with *ret_n of their ids, sorted; room for n. */
int db_sched_workunits_of(struct db *, const int64_t *wu_ids, size_t n,
                          const struct send_to *, int64_t *ret, size_t *ret_n);

/* ---- limits (db_sched_limits.c) --------------------------------------------
 * How often was each of these results sent again?  Sets c->resends. */
int db_sched_resends(struct db *, struct candidate *, size_t n);

/* They are sent again now. */
int db_sched_count_resends(struct db *, const struct candidate *, size_t n,
                           int64_t now);

/* Wrong account keys from an address in the hour that is counted now. */
int db_sched_key_failures(struct db *, const char *address, int64_t now,
                          int64_t *ret);

/* One more; forgets the counts of a few others whose hour is over.  A
 * transaction of its own: that of the request is rolled back. */
int db_sched_count_key_failure(struct db *, const char *address, int64_t now);

/* ---- upload handler --------------------------------------------------------
 */
/* The output document of a result that may still bring files: in progress, or
 * over without a reply.  malloc'ed.  DB_NONE: there is no such result. */
int db_sched_upload_document(struct db *, const char *result_name,
                             char **ret_xml_doc_in);

#endif

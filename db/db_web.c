/* db_web.c - what pages, web RPCs and `status` ask: accounts, queues, lists. */
#include "db_web.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "db.h"
#include "names.h"

#define DAY 86400
#define RECENT_CREDIT 0.1 /* expavg_credit of who is still at work */
/* GFLOPS of a host that earns one credit a day: 200 credits are a day of
 * 1 GFLOPS. */
#define GFLOPS_PER_CREDIT (1.0 / 200)

/* ---- queues ---------------------------------------------------------------
 */

/* One number of a query with up to two int parameters. */
static int
ask_number(struct db *db, const char *sql, const int64_t *arg, unsigned n,
           int64_t *ret)
{
    struct db_query *q = db_prepare(db, sql);
    int rc = q != NULL ? 0 : -1;

    for (unsigned i = 0; rc == 0 && i < n; i++)
        rc = db_bind_i64(q, i, arg[i]);
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret = db_col_i64(q, 0);
    db_finish(q);
    return rc == 0 ? 0 : -1;
}

/* Each count is a range of one index. */
int
db_web_queues(struct db *db, int64_t now, struct web_queues *ret)
{
    const struct {
        const char *sql;
        int64_t arg;
        int64_t *ret;
    } count[] = {
        {"SELECT COUNT(*) FROM result WHERE server_state = ?",        RESULT_UNSENT,
         &ret->results_unsent                                                                                     },
        {"SELECT COUNT(*) FROM result WHERE server_state = ?",
         RESULT_IN_PROGRESS,                                                            &ret->results_in_progress },
        {"SELECT COUNT(*) FROM result WHERE file_delete_state = ?",   FILES_READY,
         &ret->results_need_file_delete                                                                           },
        {"SELECT COUNT(*) FROM workunit WHERE need_validate = ? AND appid IN "
         "(SELECT id FROM app)",                             1,                &ret->wus_need_validate   },
        {"SELECT COUNT(*) FROM workunit WHERE assimilate_state = ? AND appid "
         "IN (SELECT id FROM app)",                          ASSIMILATE_READY, &ret->wus_need_assimilate },
        {"SELECT COUNT(*) FROM workunit WHERE file_delete_state = ?",
         FILES_READY,                                                                   &ret->wus_need_file_delete},
    };
    int64_t oldest;

    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < ARRAY_LEN(count); i++)
        if (ask_number(db, count[i].sql, &count[i].arg, 1, count[i].ret) != 0)
            return -1;
    if (ask_number(db, "SELECT COALESCE(MIN(transition_time), ?) FROM workunit",
                   &now, 1, &oldest) != 0)
        return -1;
    ret->transition_backlog = oldest < now ? now - oldest : 0;
    return 0;
}

int
db_web_counts(struct db *db, int64_t now, struct web_counts *ret)
{
    const struct {
        const char *sql;
        unsigned n_args;
        int64_t *ret;
    } count[] = {
        {"SELECT COUNT(*) FROM user WHERE create_time > ?",     1, &ret->users_day},
        {"SELECT COUNT(*) FROM host WHERE create_time > ?",     1, &ret->hosts_day},
        {"SELECT COUNT(*) FROM user WHERE total_credit > 0",    0,
         &ret->users_credit                                                       },
        {"SELECT COUNT(*) FROM host WHERE total_credit > 0",    0,
         &ret->hosts_credit                                                       },
        {"SELECT COUNT(*) FROM user WHERE expavg_credit > 0.1", 0,
         &ret->users_recent                                                       },
        {"SELECT COUNT(*) FROM host WHERE expavg_credit > 0.1", 0,
         &ret->hosts_recent                                                       },
    };
    int64_t day_ago = now - DAY;
    struct db_query *q;
    int rc;

    memset(ret, 0, sizeof(*ret));
    for (size_t i = 0; i < ARRAY_LEN(count); i++)
        if (ask_number(db, count[i].sql, &day_ago, count[i].n_args,
                       count[i].ret) != 0)
            return -1;
    q = db_prepare(db, "SELECT COALESCE(SUM(expavg_credit), 0) FROM user "
                       "WHERE expavg_credit > ?");
    rc = q != NULL ? db_bind_double(q, 0, RECENT_CREDIT) : -1;
    if (rc == 0)
        rc = db_step(q);
    if (rc == 0)
        ret->gflops = db_col_double(q, 0) * GFLOPS_PER_CREDIT;
    db_finish(q);
    return rc == 0 ? 0 : -1;
}

/* Add what a second query says of each application: rows of appid and values.
 */
static int
add_states(struct db *db, struct web_app *app, size_t n)
{
    struct db_query *q =
        db_prepare(db, "SELECT appid, server_state, COUNT(*) FROM result "
                       "WHERE server_state IN (2, 4) "
                       "GROUP BY appid, server_state");
    int rc = q != NULL ? 0 : -1;

    while (rc == 0 && (rc = db_step(q)) == 0)
        for (size_t i = 0; i < n; i++)
            if (app[i].id == db_col_i64(q, 0)) {
                if (db_col_i64(q, 1) == RESULT_UNSENT)
                    app[i].unsent = db_col_i64(q, 2);
                else
                    app[i].in_progress = db_col_i64(q, 2);
            }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
add_runtimes(struct db *db, int64_t since, struct web_app *app, size_t n)
{
    struct db_query *q = db_prepare(
        db, "SELECT appid, AVG(elapsed_time), MIN(elapsed_time), "
            "MAX(elapsed_time), COUNT(DISTINCT userid) FROM result "
            "WHERE appid IN (SELECT id FROM app) AND server_state = 5 AND "
            "outcome = 1 AND received_time > ? GROUP BY appid");
    int rc = q != NULL ? db_bind_i64(q, 0, since) : -1;

    while (rc == 0 && (rc = db_step(q)) == 0)
        for (size_t i = 0; i < n; i++)
            if (app[i].id == db_col_i64(q, 0)) {
                app[i].avg_hours = db_col_double(q, 1) / 3600;
                app[i].min_hours = db_col_double(q, 2) / 3600;
                app[i].max_hours = db_col_double(q, 3) / 3600;
                app[i].users = db_col_i64(q, 4);
            }
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

int
db_web_apps(struct db *db, int64_t now, struct web_app **ret, size_t *ret_n)
{
    struct db_query *q =
        db_prepare(db, "SELECT id, user_friendly_name FROM app "
                       "WHERE deprecated = 0 ORDER BY id");
    struct web_app *app = NULL;
    size_t n = 0;
    int rc = q != NULL ? 0 : -1;

    while (rc == 0 && (rc = db_step(q)) == 0) {
        app = xrealloc(app, (n + 1) * sizeof(*app));
        memset(&app[n], 0, sizeof(*app));
        app[n].id = db_col_i64(q, 0);
        db_col_copy(q, 1, app[n].name, sizeof(app[n].name));
        n++;
    }
    db_finish(q);
    if (rc != DB_NONE || add_states(db, app, n) != 0 ||
        add_runtimes(db, now - DAY, app, n) != 0) {
        free(app);
        return -1;
    }
    *ret = app;
    *ret_n = n;
    return 0;
}

/* ---- lists ----------------------------------------------------------------
 */

int
db_web_platforms(struct db *db, struct web_platform **ret, size_t *ret_n)
{
    struct db_query *q = db_prepare(
        db, "SELECT DISTINCT p.name, p.user_friendly_name, v.plan_class "
            "FROM app_version v JOIN app a ON a.id = v.appid "
            "JOIN platform p ON p.id = v.platformid "
            "WHERE v.deprecated = 0 AND a.deprecated = 0 AND p.deprecated = 0 "
            "ORDER BY p.name, v.plan_class");
    struct web_platform *list = NULL;
    size_t n = 0;
    int rc = q != NULL ? 0 : -1;

    while (rc == 0 && (rc = db_step(q)) == 0) {
        list = xrealloc(list, (n + 1) * sizeof(*list));
        db_col_copy(q, 0, list[n].name, sizeof(list[n].name));
        db_col_copy(q, 1, list[n].user_friendly_name,
                    sizeof(list[n].user_friendly_name));
        db_col_copy(q, 2, list[n].plan_class, sizeof(list[n].plan_class));
        n++;
    }
    db_finish(q);
    if (rc != DB_NONE) {
        free(list);
        return -1;
    }
    *ret = list;
    *ret_n = n;
    return 0;
}

/* ---- accounts -------------------------------------------------------------
 */

int
db_web_user_by_email(struct db *db, const char *email, struct user *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT id, email_addr, name, authenticator, "
                       "passwd_hash FROM user WHERE email_addr = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, email) == 0)
        rc = db_step(q);
    if (rc == 0) {
        memset(ret, 0, sizeof(*ret));
        ret->id = db_col_i64(q, 0);
        db_col_copy(q, 1, ret->email_addr, sizeof(ret->email_addr));
        db_col_copy(q, 2, ret->name, sizeof(ret->name));
        db_col_copy(q, 3, ret->authenticator, sizeof(ret->authenticator));
        db_col_copy(q, 4, ret->passwd_hash, sizeof(ret->passwd_hash));
    }
    db_finish(q);
    return rc;
}

int
db_web_email_taken(struct db *db, const char *email)
{
    struct db_query *q =
        db_prepare(db, "SELECT id FROM user WHERE email_addr = ? UNION ALL "
                       "SELECT id FROM user WHERE previous_email_addr = ? "
                       "LIMIT 1");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, email) == 0 &&
        db_bind_text(q, 1, email) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static int
add_user(struct db *db, const struct user *user, int64_t now, int64_t *ret_id)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO user (create_time, email_addr, name, authenticator, "
            "country, postal_code, total_credit, expavg_credit, expavg_time, "
            "global_prefs, project_prefs, teamid, venue, url, send_email, "
            "show_hosts, posts, seti_id, seti_nresults, "
            "seti_last_result_time, seti_total_cpu, signature, has_profile, "
            "cross_project_id, passwd_hash, email_validated, donated, "
            "login_token, login_token_time, previous_email_addr, "
            "email_addr_change_time) "
            "VALUES (?, ?, ?, ?, ?, '', 0, 0, 0, '', '', ?, '', '', 1, ?, 0, "
            "0, 0, 0, 0, '', 0, ?, ?, 0, 0, '', 0, '', 0)");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, now) == 0 &&
        db_bind_text(q, 1, user->email_addr) == 0 &&
        db_bind_text(q, 2, user->name) == 0 &&
        db_bind_text(q, 3, user->authenticator) == 0 &&
        db_bind_text(q, 4, user->country) == 0 &&
        db_bind_i64(q, 5, user->teamid) == 0 &&
        db_bind_i64(q, 6, user->show_hosts ? 1 : 0) == 0 &&
        db_bind_text(q, 7, user->cross_project_id) == 0 &&
        db_bind_text(q, 8, user->passwd_hash) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_id = db_insert_id(q);
    db_finish(q);
    return rc;
}

/* Without the type ENROLL nothing is to be recorded. */
static int
add_consent(struct db *db, int64_t userid, const char *source, int64_t now)
{
    struct db_query *q = db_prepare(
        db, "INSERT INTO consent (userid, consent_type_id, consent_time, "
            "consent_flag, consent_not_required, source) "
            "SELECT ?, id, ?, 1, 0, ? FROM consent_type "
            "WHERE shortname = 'ENROLL'");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, userid) == 0 &&
        db_bind_i64(q, 1, now) == 0 && db_bind_text(q, 2, source) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

struct new_account {
    const struct user *user;
    const char *consent_source;
    int64_t now;
};

static int
create_account(struct db *db, void *arg)
{
    const struct new_account *a = arg;
    int64_t id;
    int rc = add_user(db, a->user, a->now, &id);

    if (rc == 0 && a->consent_source != NULL)
        rc = add_consent(db, id, a->consent_source, a->now);
    return rc;
}

int
db_web_user_create(struct db *db, const struct user *user,
                   const char *consent_source, int64_t now)
{
    char source[256]; /* as the column */
    struct new_account a = {.user = user, .now = now};

    if (consent_source != NULL) {
        str_copy(source, sizeof(source), consent_source);
        a.consent_source = source;
    }
    return db_transaction(db, create_account, &a);
}

int
db_web_open_team(struct db *db, const char *name, int64_t *ret_id)
{
    struct db_query *q =
        db_prepare(db, "SELECT id FROM team WHERE name = ? AND joinable = 1");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, name) == 0)
        rc = db_step(q);
    if (rc == 0)
        *ret_id = db_col_i64(q, 0);
    db_finish(q);
    return rc;
}

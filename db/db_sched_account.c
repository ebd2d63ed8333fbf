/* db_sched_account.c - the scheduler's questions about users and teams. */
#include "db_sched.h"

#include <stdlib.h>
#include <string.h>

/* Of a row u of user. */
#define USER_COLUMNS                                                           \
    "u.id, u.create_time, u.email_addr, u.name, u.authenticator, "             \
    "u.total_credit, u.expavg_credit, u.expavg_time, u.global_prefs, "         \
    "u.project_prefs, u.teamid, u.venue, u.seti_id, u.cross_project_id, "      \
    "u.passwd_hash"
enum { N_USER_COLUMNS = 15 };

static void
read_user(struct db_query *q, struct user *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->id = db_col_i64(q, 0);
    ret->create_time = db_col_i64(q, 1);
    db_col_copy(q, 2, ret->email_addr, sizeof(ret->email_addr));
    db_col_copy(q, 3, ret->name, sizeof(ret->name));
    db_col_copy(q, 4, ret->authenticator, sizeof(ret->authenticator));
    ret->total_credit = db_col_double(q, 5);
    ret->expavg_credit = db_col_double(q, 6);
    ret->expavg_time = db_col_double(q, 7);
    if (!db_col_is_null(q, 8))
        ret->global_prefs = db_col_dup(q, 8);
    if (!db_col_is_null(q, 9))
        ret->project_prefs = db_col_dup(q, 9);
    ret->teamid = db_col_i64(q, 10);
    db_col_copy(q, 11, ret->venue, sizeof(ret->venue));
    ret->only_own_jobs = db_col_i64(q, 12) != 0;
    db_col_copy(q, 13, ret->cross_project_id, sizeof(ret->cross_project_id));
    db_col_copy(q, 14, ret->passwd_hash, sizeof(ret->passwd_hash));
}

int
db_sched_user_by_id(struct db *db, int64_t id, struct user *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT " USER_COLUMNS " FROM user u WHERE u.id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    if (rc == 0)
        read_user(q, ret);
    db_finish(q);
    return rc;
}

int
db_sched_user_by_key(struct db *db, const char *authenticator, struct user *ret)
{
    struct db_query *q = db_prepare(db, "SELECT " USER_COLUMNS " FROM user u"
                                        " WHERE u.authenticator = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, authenticator) == 0)
        rc = db_step(q);
    if (rc == 0)
        read_user(q, ret);
    db_finish(q);
    return rc;
}

void
db_sched_user_free(struct user *user)
{
    free(user->global_prefs);
    free(user->project_prefs);
    user->global_prefs = NULL;
    user->project_prefs = NULL;
}

int
db_sched_lock_user(struct db *db, int64_t id)
{
    struct db_query *q =
        db_prepare(db, "SELECT id FROM user WHERE id = ? FOR UPDATE");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

static void
read_team(struct db_query *q, unsigned first, struct team *ret)
{
    memset(ret, 0, sizeof(*ret));
    ret->id = db_col_i64(q, first);
    ret->userid = db_col_i64(q, first + 1);
    db_col_copy(q, first + 2, ret->name, sizeof(ret->name));
}

int
db_sched_owner(struct db *db, int64_t hostid, struct host *ret,
               struct user *ret_user, struct team *ret_team)
{
    struct db_query *q = db_prepare(
        db, "SELECT " USER_COLUMNS ", t.id, t.userid, t.name, h.userid,"
            " h.rpc_seqno FROM host h LEFT JOIN user u ON u.id = h.userid"
            " LEFT JOIN team t ON t.id = u.teamid WHERE h.id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, hostid) == 0)
        rc = db_step(q);
    if (rc == 0) {
        read_user(q, ret_user);
        read_team(q, N_USER_COLUMNS, ret_team);
        memset(ret, 0, sizeof(*ret));
        ret->id = hostid;
        ret->userid = db_col_i64(q, N_USER_COLUMNS + 3);
        ret->rpc_seqno = db_col_i64(q, N_USER_COLUMNS + 4);
    }
    db_finish(q);
    return rc;
}

int
db_sched_team(struct db *db, int64_t id, struct team *ret)
{
    struct db_query *q =
        db_prepare(db, "SELECT id, userid, name FROM team WHERE id = ?");
    int rc = -1;

    memset(ret, 0, sizeof(*ret));
    if (q != NULL && db_bind_i64(q, 0, id) == 0)
        rc = db_step(q);
    if (rc == 0)
        read_team(q, 0, ret);
    db_finish(q);
    return rc;
}

int
db_sched_set_cpid(struct db *db, int64_t userid, const char *cpid)
{
    struct db_query *q =
        db_prepare(db, "UPDATE user SET cross_project_id = ? WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_text(q, 0, cpid) == 0 &&
        db_bind_i64(q, 1, userid) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

int
db_sched_set_global_prefs(struct db *db, int64_t userid, const char *xml)
{
    struct db_query *q =
        db_prepare(db, "UPDATE user SET global_prefs = ? WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_blob(q, 0, xml, strlen(xml)) == 0 &&
        db_bind_i64(q, 1, userid) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

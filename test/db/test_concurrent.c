/* test_concurrent.c - everything at once on one database: two transitioners
 * that share nothing but the tables, two validators, an assimilator, four
 * streams of scheduler requests, and somebody who cancels jobs.
 *
 * At the end every workunit has ended, and the books are right: what was sent,
 * reported, cancelled and credited adds up, row by row.  1 000 workunits;
 * QUORATE_CONCURRENT=5000 for more.
 *
 * What becomes of a result is a function of its id, so that no stream needs to
 * remember anything: right, wrong, failed, or never heard of again. */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "account.h"
#include "buf.h"
#include "clock.h"
#include "db_audit.h"
#include "db_jobs.h"
#include "db_sched.h"
#include "file.h"
#include "host.h"
#include "path.h"
#include "project.h"
#include "template.h"

enum {
    STREAMS = 4,
    USERS = 40,       /* host i of user i */
    AT_ONCE = 6,      /* jobs that a request asks for */
    CANCEL_EACH = 17, /* every so many-th workunit is cancelled */
    FANOUT = 1024,    /* of project.c */
    DAEMONS_MAX = 8,
    MANY_SECONDS = 500,
};

/* Shared by all processes. */
struct books {
    atomic_bool stop;
    atomic_long requests[USERS + 1]; /* of each host */
    atomic_long sent, successes, errors, collisions, deadlocks;
    atomic_long cancelled; /* workunits */
    atomic_long failures;
};

static struct books *books;
static struct db *db;
static pid_t daemon_pid[DAEMONS_MAX];
static int n_daemons;

/* ---- the fate of a result -------------------------------------------------
 */

enum fate { RIGHT, WRONG, FAILED, LOST };

static enum fate
fate_of(int64_t id)
{
    uint64_t x = (uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) >> 33;

    switch (x % 100) {
    case 0:
    case 1:
    case 2:
        return WRONG;
    case 3:
    case 4:
    case 5:
    case 6:
        return FAILED;
    case 7:
    case 8:
        return LOST;
    }
    return RIGHT;
}

/* ---- a stream of requests -------------------------------------------------
 */

struct stream {
    struct db *db;
    unsigned seed;
    int64_t host;
    struct known_result *running; /* on the host, before the request */
    size_t n_running;
    struct candidate c[AT_ONCE];
    size_t n;
    size_t reported, stored, errors, sent;
};

/* What a job array would offer: not more than a hint. */
static int
find_jobs(struct stream *s)
{
    struct db_query *q = db_prepare(
        s->db, "SELECT id, workunitid FROM result WHERE server_state = 2 "
               "ORDER BY RAND(?) LIMIT ?");
    int rc = -1;

    s->n = 0;
    if (q != NULL && db_bind_i64(q, 0, (int64_t)rand_r(&s->seed)) == 0 &&
        db_bind_i64(q, 1, AT_ONCE) == 0)
        while ((rc = db_step(q)) == 0)
            s->c[s->n++] = (struct candidate){
                .result_id = db_col_i64(q, 0),
                .wu_id = db_col_i64(q, 1),
                .app_version_id = 3,
                .flops_estimate = 2e9,
            };
    db_finish(q);
    return rc == DB_NONE ? 0 : -1;
}

static int
report(struct stream *s, const struct host *host, const struct user *user,
       int64_t now)
{
    struct result_report *r = xcalloc(s->n_running + 1, sizeof(*r));
    int64_t *wu = xcalloc(s->n_running + 1, sizeof(*wu));
    size_t n = 0;
    int rc;

    s->errors = 0;
    for (size_t i = 0; i < s->n_running; i++) {
        enum fate fate = fate_of(s->running[i].id);

        if (fate == LOST)
            continue;
        wu[n] = s->running[i].workunitid;
        r[n++] = (struct result_report){
            .id = s->running[i].id,
            .outcome = fate == FAILED ? OUTCOME_CLIENT_ERROR : OUTCOME_SUCCESS,
            .validate_state = fate == FAILED ? VALIDATE_INVALID : VALIDATE_INIT,
            .client_state =
                fate == FAILED ? CLIENT_COMPUTE_ERROR : CLIENT_FILES_UPLOADED,
            .exit_status = fate == FAILED,
            .app_version_num = 100,
            .cpu_time = 100,
            .elapsed_time = 120,
            .stderr_out = "",
            .xml_doc_out = "",
        };
        s->errors += fate == FAILED;
    }
    s->reported = n;
    rc = db_sched_touch_workunits(s->db, wu, n, now);
    if (rc == 0)
        rc = db_sched_store_reports(s->db, r, n, host, user, now, &s->stored);
    free(r);
    free(wu);
    return rc;
}

/* Of two candidates of one workunit the second is not offered. */
static void
drop_twins(struct stream *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            if (s->c[k].wu_id == s->c[i].wu_id && s->c[i].state == CANDIDATE_OK)
                s->c[i].state = CANDIDATE_USER_HAS;
}

/* A lost job is overdue soon. */
static int
send_jobs(struct stream *s, int64_t now)
{
    const struct send_to to = {
        .userid = s->host,
        .hostid = s->host,
        .one_per_user = true,
        .now = now,
    };
    int rc = db_sched_lock_candidates(s->db, s->c, s->n, &to);

    drop_twins(s);
    s->sent = 0;
    for (size_t i = 0; i < s->n; i++) {
        s->c[i].deadline =
            now + (fate_of(s->c[i].result_id) == LOST ? 1 : 86400);
        s->sent += s->c[i].state == CANDIDATE_OK;
    }
    return rc == 0 ? db_sched_send(s->db, s->c, s->n, &to) : rc;
}

/* As the scheduler does it: the host first, reports, jobs, the host last. */
static int
request(struct db *d, void *arg)
{
    struct stream *s = arg;
    struct user user = {.id = s->host, .teamid = 1};
    struct host host, old;
    int64_t now = clock_now();
    int rc = db_sched_lock_host(d, s->host, &host);

    if (rc != 0)
        return rc;
    old = host;
    host.rpc_seqno++;
    host.rpc_time = now;
    rc = db_sched_in_progress(d, s->host, 1000, &s->running, &s->n_running);
    if (rc == 0)
        rc = report(s, &host, &user, now);
    free(s->running);
    if (rc == 0)
        rc = send_jobs(s, now);
    if (rc == 0)
        rc = db_sched_update_host(d, &old, &host);
    return rc;
}

/* The volunteer computes: its outputs are uploaded. */
static int
compute(struct stream *s)
{
    struct output_file file;
    int rc = 0;

    for (size_t i = 0; i < s->n && rc == 0; i++) {
        struct buf path = BUF_INIT;
        enum fate fate = fate_of(s->c[i].result_id);
        const char *text;

        if (s->c[i].state != CANDIDATE_OK || fate == FAILED || fate == LOST)
            continue;
        text = fate == RIGHT ? "right" : s->c[i].result->name;
        rc = result_document_files(s->c[i].result->xml_doc_in, &file, 1) == 1 &&
                     path_hier(project_path("upload"), file.name, FANOUT, true,
                               &path) == 0 &&
                     file_write_nosync(buf_str(&path), text, strlen(text),
                                       0640) == 0
                 ? 0
                 : -1;
        buf_free(&path);
    }
    return rc;
}

static int
one_request(struct stream *s)
{
    int rc = find_jobs(s);

    if (rc == 0)
        rc = db_transaction(s->db, request, s);
    if (rc == 0) {
        books->requests[s->host]++;
        books->sent += (long)s->sent;
        books->errors += (long)s->errors;
        books->successes += (long)(s->stored - s->errors);
        rc = compute(s);
        if (s->stored != s->reported)
            rc = -1; /* the host was locked: nobody else could report */
    } else if (rc == DB_BUSY) {
        books->collisions++;
        rc = 0;
    }
    for (size_t i = 0; i < s->n; i++)
        candidate_free(&s->c[i]);
    return rc;
}

/* Every stream speaks for all hosts, so they meet. */
static void
stream(unsigned number)
{
    struct stream s = {.db = dbtest_open(), .seed = number};

    if (db_set_lock_wait(s.db, 0) != 0)
        books->failures++;
    while (!books->stop) {
        s.host = 1 + rand_r(&s.seed) % USERS;
        if (one_request(&s) != 0) {
            fprintf(stderr, "stream %u: a request failed\n", number);
            books->failures++;
        }
        clock_sleep(0.002);
    }
    books->deadlocks += (long)db_deadlocks();
    db_close(s.db);
}

/* ---- cancelling -----------------------------------------------------------
 */

static void
cancel_some(unsigned n_workunits)
{
    struct db *d = dbtest_open();

    for (int64_t id = CANCEL_EACH; id <= n_workunits && !books->stop;
         id += CANCEL_EACH) {
        struct audit_line line = {
            .actor = "test", .action = "cancel", .object = "", .detail = ""};
        struct job_selection which = {.min_id = id, .max_id = id};
        struct job_work work = {
            .action = JOBS_CANCEL, .which = &which, .audit = &line};
        int rc;

        while ((rc = db_jobs_piece(d, &work, clock_now())) == 0)
            ;
        if (rc != DB_NONE)
            books->failures++;
        books->cancelled += (long)work.n_workunits;
        clock_sleep(0.05);
    }
    books->deadlocks += (long)db_deadlocks();
    db_close(d);
}

/* ---- daemons --------------------------------------------------------------
 */

static void
begin_daemon(const char *program, const char *app)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        char path[512], log[64];

        prctl(PR_SET_PDEATHSIG, SIGTERM);
        snprintf(path, sizeof(path), "%s/%s", DAEMONS, program);
        snprintf(log, sizeof(log), "daemon%d.log", n_daemons);
        if (freopen(project_path(log), "w", stderr) == NULL)
            _exit(126);
        execl(path, program, "--sleep_interval", "0.05",
              app != NULL ? "--app" : NULL, app, (char *)NULL);
        _exit(127);
    }
    daemon_pid[n_daemons++] = pid;
}

static void
end_daemons(void)
{
    for (int i = 0; i < n_daemons; i++)
        kill(daemon_pid[i], SIGTERM);
    for (int i = 0; i < n_daemons; i++) {
        int status;

        ck_assert_int_eq(waitpid(daemon_pid[i], &status, 0), daemon_pid[i]);
        ck_assert_int_eq(status, 0);
    }
}

/* Lines of all logs that hold the text. */
static int
in_logs(const char *text)
{
    int n = 0;

    for (int i = 0; i < n_daemons; i++) {
        struct buf log = BUF_INIT;
        char name[64];

        snprintf(name, sizeof(name), "daemon%d.log", i);
        ck_assert_int_eq(file_read(project_path(name), 1 << 28, &log), 0);
        for (const char *s = buf_str(&log); (s = strstr(s, text)) != NULL; s++)
            n++;
        buf_free(&log);
    }
    return n;
}

/* ---- the run --------------------------------------------------------------
 */

static unsigned
how_many(void)
{
    const char *n = getenv("QUORATE_CONCURRENT");

    return n != NULL ? (unsigned)strtoul(n, NULL, 10) : 1000;
}

static void
make_world(unsigned n)
{
    char name[32];

    for (int i = 10; i <= USERS; i++) {
        snprintf(name, sizeof(name), "user%d", i);
        ck_assert_int_eq(dbtest_host(db, dbtest_user(db, name)), i);
    }
    project_do("UPDATE user SET teamid = 1");
    project_do("START TRANSACTION");
    for (unsigned i = 1; i <= n; i++) {
        snprintf(name, sizeof(name), "w%u", i);
        ck_assert_int_eq(project_workunit(name,
                                          (struct workunit){
                                              .max_error_results = 3,
                                              .max_total_results = 10,
                                              .max_success_results = 6,
                                          }),
                         i);
    }
    project_do("COMMIT");
}

static pid_t child[STREAMS + 1];

static void
begin_children(unsigned n)
{
    for (unsigned i = 0; i <= STREAMS; i++) {
        child[i] = fork();
        ck_assert_int_ge(child[i], 0);
        if (child[i] > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (i < STREAMS)
            stream(i + 1);
        else
            cancel_some(n);
        _exit(0);
    }
}

static void
end_children(void)
{
    books->stop = true;
    for (unsigned i = 0; i <= STREAMS; i++) {
        int status;

        ck_assert_int_eq(waitpid(child[i], &status, 0), child[i]);
        ck_assert_int_eq(status, 0);
    }
}

/* Every workunit handed over, every result over. */
static void
wait_until_all_ended(void)
{
    double begin = clock_now_fine();

    while (project_ask("SELECT EXISTS (SELECT 1 FROM workunit WHERE "
                       "assimilate_state <> 2) OR EXISTS (SELECT 1 FROM result "
                       "WHERE server_state <> 5)") != 0) {
        ck_assert_msg(clock_now_fine() - begin < MANY_SECONDS,
                      "%" PRId64 " workunits have not ended",
                      project_ask("SELECT COUNT(*) FROM workunit WHERE "
                                  "assimilate_state <> 2"));
        clock_sleep(0.2);
    }
}

static int64_t
server_deadlocks(void)
{
    return project_ask("SELECT COALESCE(MAX(variable_value), 0) FROM "
                       "information_schema.global_status WHERE "
                       "variable_name = 'INNODB_DEADLOCKS'");
}

/* ---- the books ------------------------------------------------------------
 */

/* Each counts what must not be. */
static const struct breach {
    const char *promise, *count;
} breaches[] = {
    {"results of a workunit are numbered without a gap or a double",
     "SELECT COUNT(*) FROM (SELECT workunitid FROM result GROUP BY workunitid "
     "HAVING COUNT(*) <> COUNT(DISTINCT name) OR COUNT(*) <> 1 + "
     "MAX(CAST(SUBSTRING_INDEX(name, '_', -1) AS UNSIGNED))) x"    },
    {"a workunit has ended with a valid canonical result of its own, or with "
     "an error",                                                     "SELECT COUNT(*) FROM workunit w LEFT JOIN result r ON r.id = "
     "w.canonical_resultid AND r.workunitid = w.id AND r.validate_state = 1 "
     "WHERE w.error_mask = 0 AND r.id IS NULL"},
    {"a quorum of valid results stands behind each canonical one",
     "SELECT COUNT(*) FROM workunit w WHERE w.canonical_resultid <> 0 AND "
     "(SELECT COUNT(*) FROM result r WHERE r.workunitid = w.id AND "
     "r.validate_state = 1) < w.min_quorum"                        },
    {"nothing waits for validation",
     "SELECT COUNT(*) FROM workunit WHERE need_validate <> 0"      },
    {"every success was judged",
     "SELECT COUNT(*) FROM result r JOIN workunit w ON w.id = r.workunitid "
     "WHERE r.outcome = 1 AND (r.validate_state = 0 OR r.validate_state = 4 "
     "AND w.error_mask = 0)"                                       },
    {"right outputs of good workunits are valid, wrong ones never agree",
     "SELECT COUNT(*) FROM result r JOIN workunit w ON w.id = r.workunitid "
     "WHERE r.outcome = 1 AND w.error_mask = 0 AND r.validate_state NOT IN "
     "(1, 2, 5)"                                                   },
    {"only valid results have credit, and all have",
     "SELECT COUNT(*) FROM result WHERE (validate_state = 1) <> "
     "(granted_credit > 0)"                                        },
    {"no user has two results of a workunit",
     "SELECT COUNT(*) FROM (SELECT 1 FROM result WHERE userid <> 0 GROUP BY "
     "workunitid, userid HAVING COUNT(*) > 1) x"                   },
    {"a user's credit is the sum of the results'",
     "SELECT COUNT(*) FROM user u WHERE ABS(u.total_credit - (SELECT "
     "COALESCE(SUM(r.granted_credit), 0) FROM result r WHERE r.userid = u.id)) "
     "> 1e-6"                                                      },
    {"so is a host's",
     "SELECT COUNT(*) FROM host h WHERE ABS(h.total_credit - (SELECT "
     "COALESCE(SUM(r.granted_credit), 0) FROM result r WHERE r.hostid = h.id)) "
     "> 1e-6"                                                      },
    {"and the team's",
     "SELECT COUNT(*) FROM team t WHERE ABS(t.total_credit - (SELECT "
     "SUM(r.granted_credit) FROM result r)) > 1e-6"                },
    {"a cancelled workunit sends nothing more",
     "SELECT COUNT(*) FROM result r JOIN workunit w ON w.id = r.workunitid "
     "WHERE w.error_mask & 16 <> 0 AND r.server_state <> 5"        },
};

static void
check_books(void)
{
    for (size_t i = 0; i < ARRAY_LEN(breaches); i++) {
        int64_t n = dbtest_i64(db, breaches[i].count);

        ck_assert_msg(n == 0, "broken: %s: %" PRId64 " times",
                      breaches[i].promise, n);
    }
    /* no update was lost: the tables know of everything that was done */
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit WHERE "
                                 "error_mask & 16 <> 0"),
                     books->cancelled);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM result WHERE sent_time > 0"),
        books->sent);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM result WHERE outcome = 1"),
        books->successes);
    ck_assert_int_eq(
        project_ask("SELECT COUNT(*) FROM result WHERE outcome = 3"),
        books->errors);
    for (int i = 1; i <= USERS; i++)
        ck_assert_int_eq(
            project_ask("SELECT rpc_seqno FROM host WHERE id = %d", i),
            books->requests[i]);
}

START_TEST(all_at_once)
{
    unsigned n = how_many();
    int64_t deadlocks = server_deadlocks();
    double begin;

    make_world(n);
    begin = clock_now_fine();
    for (int i = 0; i < 2; i++) {
        begin_daemon("transitioner", NULL);
        begin_daemon("sample_bitwise_validator", "app");
    }
    begin_daemon("sample_copy_assimilator", "app");
    begin_children(n);
    wait_until_all_ended();
    end_children();
    end_daemons();
    deadlocks = server_deadlocks() - deadlocks;
    printf("%u workunits, %ld results sent, %ld successes, %ld errors, %ld "
           "workunits cancelled in %.1f s; %ld requests met another of their "
           "host; %" PRId64 " deadlocks, %d in daemons, %ld elsewhere\n",
           n, books->sent, books->successes, books->errors, books->cancelled,
           clock_now_fine() - begin, books->collisions, deadlocks,
           in_logs("(1213)"), books->deadlocks);
    ck_assert_int_eq(books->failures, 0);
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    ck_assert_int_eq(in_logs("CRITICAL"), 0);
    ck_assert_int_eq(in_logs("is taken"), 0);
    ck_assert_int_eq(in_logs("changed under"), 0);
    ck_assert_int_le(deadlocks, 3);
    check_books();
    project_audit();
}
END_TEST

/* ---- all ------------------------------------------------------------------
 */

static void
setup(void)
{
    db = project_new();
    books = mmap(NULL, sizeof(*books), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(books, MAP_FAILED);
}

static void
teardown(void)
{
    munmap(books, sizeof(*books));
    project_end();
}

static Suite *
concurrent_suite(void)
{
    Suite *s = suite_create("concurrent");
    TCase *tc = tcase_create("all at once");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, all_at_once);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(concurrent_suite());
}

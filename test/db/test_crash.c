/* test_crash.c - each program is killed at each of its steps (crashpoint.c) and
 * then started again: what is there at the end is what an undisturbed run
 * leaves.
 *
 * A chain of programs takes three workunits from their creation to the archive.
 * Before each link the world is kept: the database and the project's folders.
 * For each step k of the program it is put back, the program is killed at k,
 * runs again to its end, and all that others can see is compared: rows by name
 * (ids, times and random parts of names aside), credit, files and what is in
 * them, records in archives. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "file.h"
#include "path.h"
#include "playfeeder.h"
#include "project.h"
#include "snapshot.h"
#include "xml.h"

enum {
    AHEAD = 2 * 86400, /* s: the clock, once deadlines are to pass */
    FANOUT = 1024,     /* of project.c */
    MAX_LINES = 1000,
};

static struct db *db;

/* ---- running programs -----------------------------------------------------
 */

/* The server rolls back what a killed program had begun when it sees that the
 * connection is gone; until then its rows are locked, and a program that passes
 * over locked rows would find nothing to do. */
static void
wait_for_rollback(void)
{
    while (project_ask("SELECT COUNT(*) FROM information_schema.processlist "
                       "WHERE db = DATABASE() AND id <> CONNECTION_ID()") > 0)
        usleep(1000);
}

/* Exit status, or 128 + signal.  die_at 0: it is not killed.  The output goes
 * to `out` below the project, the log to its file "log". */
static int
run_killed_at(long die_at, const char *out, const char *const *words)
{
    pid_t pid = fork();
    char number[32];
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        const char *asan = getenv("ASAN_OPTIONS");
        char options[256];
        int fd = open(project_path(out), O_WRONLY | O_CREAT | O_TRUNC, 0640);
        int log =
            open(project_path("log"), O_WRONLY | O_CREAT | O_APPEND, 0640);

        snprintf(number, sizeof(number), "%ld", die_at);
        snprintf(options, sizeof(options), "%s:verify_asan_link_order=0",
                 asan != NULL ? asan : "");
        setenv("ASAN_OPTIONS", options, 1);
        setenv("LD_PRELOAD", "./crashpoint.so", 1);
        setenv("QUORATE_DIE_AT", number, 1);
        setenv("QUORATE_DIE_COUNT", project_path("steps"), 1);
        dup2(fd, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execv(words[0], (char *const *)(uintptr_t)words);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    wait_for_rollback();
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static long
read_steps(void)
{
    struct buf text = BUF_INIT;
    long n;

    ck_assert_int_eq(file_read(project_path("steps"), 100, &text), 0);
    n = strtol(buf_str(&text), NULL, 10);
    buf_free(&text);
    ck_assert_int_gt(n, 0);
    return n;
}

/* ---- the project's folders ------------------------------------------------
 */

static const char *const folders[] = {"upload", "download", "results",
                                      "archives"};

static void
copy_tree(const char *from, const char *to)
{
    char source[1024], target[1024], cp[] = "cp", archive[] = "-a";
    char *const words[] = {cp, archive, source, target, NULL};

    snprintf(source, sizeof(source), "%s", project_path(from));
    snprintf(target, sizeof(target), "%s", project_path(to));
    ck_assert_int_eq(file_run(words, NULL, NULL, 0), 0);
}

static void
keep_world(void)
{
    char kept[64];

    snapshot_take(db);
    ck_assert_int_eq(file_remove_tree(project_path("kept")), 0);
    ck_assert_int_eq(file_mkdirs(project_path("kept"), 0770), 0);
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        snprintf(kept, sizeof(kept), "kept/%s", folders[i]);
        ck_assert_int_eq(file_mkdirs(project_path(folders[i]), 0770), 0);
        copy_tree(folders[i], kept);
    }
}

static void
put_back_world(void)
{
    char kept[64];

    snapshot_restore(db);
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        snprintf(kept, sizeof(kept), "kept/%s", folders[i]);
        ck_assert_int_eq(file_remove_tree(project_path(folders[i])), 0);
        copy_tree(kept, folders[i]);
    }
}

/* ---- what others can see --------------------------------------------------
 */

static char *line[MAX_LINES];
static size_t n_lines;

static void
add_line(const char *text)
{
    ck_assert_uint_lt(n_lines, MAX_LINES);
    line[n_lines++] = xstrdup(text);
}

static int
by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Transitions: never, due, or later. */
#define NEXT_LOOK                                                              \
    "IF(w.transition_time = 2147483647, 'never', "                             \
    "IF(w.transition_time <= UNIX_TIMESTAMP() + 172800, 'due', 'later'))"

static const char *const facts[] = {
    "SELECT CONCAT_WS(' ', 'workunit', w.name, w.need_validate, "
    "IFNULL(c.name, '-'), w.canonical_credit, w.error_mask, "
    "w.file_delete_state, w.assimilate_state, w.min_quorum, "
    "w.target_nresults, " NEXT_LOOK ") FROM workunit w LEFT JOIN result c "
    "ON c.id = w.canonical_resultid",
    "SELECT CONCAT_WS(' ', 'result', name, server_state, outcome, "
    "client_state, validate_state, granted_credit, file_delete_state, hostid, "
    "userid, teamid, priority, sent_time > 0, received_time > 0, exit_status, "
    "xml_doc_in LIKE '%<xml_signature>%', runtime_outlier) FROM result",
    "SELECT CONCAT_WS(' ', 'user', id, total_credit, expavg_credit > 0) "
    "FROM user",
    "SELECT CONCAT_WS(' ', 'team', id, total_credit, expavg_credit > 0) "
    "FROM team",
    "SELECT CONCAT_WS(' ', 'host', id, total_credit, expavg_credit > 0, "
    "avg_turnaround > 0) FROM host",
    "SELECT CONCAT_WS(' ', 'host with version', host_id, app_version_id, "
    "max_jobs_per_day, n_jobs_today, consecutive_valid, pfc_n, et_n, "
    "turnaround_n) FROM host_app_version",
};

static void
see_rows(void)
{
    for (size_t i = 0; i < ARRAY_LEN(facts); i++) {
        struct db_query *q = db_prepare(db, facts[i]);

        ck_assert_ptr_nonnull(q);
        while (db_step(q) == 0)
            add_line(db_col_text(q, 0));
        db_finish(q);
    }
}

/* "out_r123_0" is "out_r_0": the random part is another in each run. */
static void
add_plain_name(struct buf *out, const char *name)
{
    for (const char *c = name; *c != '\0'; c++) {
        buf_addc(out, *c);
        if (c[0] == 'r' && c > name && c[-1] == '_')
            while (c[1] >= '0' && c[1] <= '9')
                c++;
    }
}

/* Every file below a folder, what it is called and what it holds.  What a
 * killed program has left half written is nobody's. */
static void
see_files(const char *folder, bool nested)
{
    DIR *dir = opendir(project_path(folder));
    struct dirent *entry;

    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL) {
        struct buf below = BUF_INIT, text = BUF_INIT;

        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".tmp") != NULL)
            continue;
        buf_addf(&below, "%s/%s", folder, entry->d_name);
        if (file_is_dir(project_path(buf_str(&below)))) {
            see_files(buf_str(&below), true);
        } else {
            buf_add(&text, nested ? "file in its folder: " : "file: ");
            add_plain_name(&text, entry->d_name);
            buf_add(&text, ": ");
            ck_assert_int_eq(
                file_read(project_path(buf_str(&below)), 1 << 20, &text), 0);
            add_line(buf_str(&text));
        }
        buf_free(&below);
        buf_free(&text);
    }
    closedir(dir);
}

/* Each record of an archive is whole, or the file would be no XML. */
static void
see_archive(const char *name)
{
    char below[512], record[512];
    struct buf err = BUF_INIT;
    struct xml_doc *doc;

    snprintf(below, sizeof(below), "archives/%s", name);
    ck_assert_msg(strstr(name, ".tmp") == NULL, "%s was not completed", name);
    if (strstr(name, "_index_") != NULL)
        return;
    doc = xml_parse_file(project_path(below), &err);
    ck_assert_msg(doc != NULL, "%s", buf_str(&err));
    for (const struct xml_node *n = xml_first(xml_root(doc)); n != NULL;
         n = xml_next(n)) {
        char job[256], state[32];

        ck_assert(xml_get_str(n, "name", job, sizeof(job)));
        ck_assert(xml_get_str(n, "file_delete_state", state, sizeof(state)));
        ck_assert(xml_get_str(n, "priority", record, sizeof(record)));
        snprintf(record, sizeof(record), "%s: %s in state %s", xml_name(n), job,
                 state);
        add_line(record);
    }
    xml_free(doc);
    buf_free(&err);
}

static void
see_archives(void)
{
    DIR *dir = opendir(project_path("archives"));
    struct dirent *entry;

    ck_assert_ptr_nonnull(dir);
    while ((entry = readdir(dir)) != NULL)
        if (strstr(entry->d_name, "archive_") != NULL ||
            strstr(entry->d_name, "index_") != NULL)
            see_archive(entry->d_name);
    closedir(dir);
}

/* All of it, sorted; what stands in archives twice is there once (malloc). */
static char *
what_is_there(void)
{
    struct buf all = BUF_INIT;

    n_lines = 0;
    see_rows();
    see_files("upload", false);
    see_files("download", false);
    see_files("results", false);
    see_archives();
    qsort(line, n_lines, sizeof(*line), by_text);
    for (size_t i = 0; i < n_lines; i++)
        if (i == 0 || strcmp(line[i], line[i - 1]) != 0)
            buf_addf(&all, "%s\n", line[i]);
    for (size_t i = 0; i < n_lines; i++)
        free(line[i]);
    return buf_take(&all);
}

/* ---- the life of three workunits ------------------------------------------
 */

static int64_t agreed, with_straggler, failing;

/* A file that all three need, and one of its own for each. */
static int64_t
new_workunit(const char *name, struct workunit wu)
{
    static const char *const form =
        "<file_info><name>%s</name></file_info>\n"
        "<file_info><name>shared</name></file_info>\n"
        "<workunit>\n"
        "<file_ref><file_name>%s</file_name><open_name>in</open_name>"
        "</file_ref>\n"
        "<file_ref><file_name>shared</file_name><open_name>also</open_name>"
        "</file_ref>\n"
        "</workunit>\n";
    const char *const files[] = {name, "shared"};
    char doc[1024];

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct buf path = BUF_INIT;

        ck_assert_int_eq(
            path_hier(project_path("download"), files[i], FANOUT, true, &path),
            0);
        ck_assert_int_eq(file_write(buf_str(&path), "input", 5, 0640), 0);
        buf_free(&path);
    }
    snprintf(doc, sizeof(doc), form, name, name);
    wu.xml_doc = doc;
    return project_workunit(name, wu);
}

static void
three_workunits(void)
{
    agreed = new_workunit("agreed", (struct workunit){.target_nresults = 3});
    with_straggler =
        new_workunit("straggler", (struct workunit){.target_nresults = 3});
    failing = new_workunit("failing", (struct workunit){.batch = 0});
    project_do("UPDATE workunit SET max_error_results = 0 WHERE id = %" PRId64,
               failing);
}

/* Two agree; two agree and the third is overdue; one fails. */
static void
first_reports(void)
{
    project_send(agreed, 0, 1);
    project_send(agreed, 1, 2);
    for (int k = 0; k < 3; k++)
        project_send(with_straggler, k, 3 + k);
    project_send(failing, 0, 6);
    project_success(agreed, 0, "same");
    project_success(agreed, 1, "same");
    project_success(with_straggler, 0, "equal");
    project_success(with_straggler, 1, "equal");
    project_error(failing, 0, 1);
    project_clock(AHEAD);
}

static void
late_report(void)
{
    project_success(with_straggler, 2, "equal");
}

#define DAEMON(name) DAEMONS "/" name, "--one_pass"

static const struct link {
    const char *promise;
    void (*before)(void);
    const char *words[6];
} chain[] = {
  /* clang-format off */
    {"a transitioner that makes results", three_workunits,
     {DAEMON("transitioner")}},
    {"one that sees reports, an error and a deadline", first_reports,
     {DAEMON("transitioner")}},
    {"a validator that finds quorums and grants credit", NULL,
     {DAEMON("sample_bitwise_validator"), "--app", "app"}},
    {"a transitioner that sees a late report", late_report,
     {DAEMON("transitioner")}},
    {"a validator that credits a straggler", NULL,
     {DAEMON("sample_bitwise_validator"), "--app", "app"}},
    {"an assimilator of good and failed workunits", NULL,
     {DAEMON("sample_copy_assimilator"), "--app", "app"}},
    {"a transitioner that releases files", NULL,
     {DAEMON("transitioner")}},
    {"a deleter of files", NULL, {DAEMON("file_deleter")}},
    {"a transitioner with nothing to do", NULL, {DAEMON("transitioner")}},
    {"a purger", NULL, {DAEMON("db_purge")}},
  /* clang-format on */
};

static void
kill_at_every_step(const struct link *l, long n, const char *want)
{
    for (long k = 1; k <= n; k++) {
        char *got;

        put_back_world();
        ck_assert_msg(run_killed_at(k, "out", l->words) == 128 + SIGKILL,
                      "%s outlives step %ld of %ld", l->promise, k, n);
        ck_assert_msg(run_killed_at(0, "out", l->words) == 0,
                      "%s does not end well when killed at step %ld before",
                      l->promise, k);
        got = what_is_there();
        if (strcmp(got, want) != 0)
            ck_abort_msg("%s, killed at step %ld of %ld and started again, "
                         "leaves\n%s\ninstead of\n%s",
                         l->promise, k, n, got, want);
        free(got);
    }
    project_audit();
}

START_TEST(daemons_may_be_killed_anywhere)
{
    long total = 0;

    for (size_t i = 0; i < ARRAY_LEN(chain); i++) {
        const struct link *l = &chain[i];
        long n;
        char *want;

        if (l->before != NULL)
            l->before();
        keep_world();
        ck_assert_msg(run_killed_at(0, "out", l->words) == 0, "%s fails",
                      l->promise);
        n = read_steps();
        want = what_is_there();
        project_audit();
        kill_at_every_step(l, n, want);
        printf("%s: killed at each of %ld steps\n", l->promise, n);
        total += n;
        free(want);
    }
    /* they came to the end: archived, credited, nothing left */
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM workunit"), 0);
    ck_assert_int_eq(project_ask("SELECT COUNT(*) FROM user WHERE "
                                 "total_credit > 0"),
                     5);
    ck_assert_int_eq(project_ask("SELECT COUNT(DISTINCT total_credit) FROM "
                                 "user WHERE total_credit > 0"),
                     1);
    ck_assert_int_gt(total, 100);
}
END_TEST

/* ---- scheduler ------------------------------------------------------------
 */

static void
scheduler_world(void)
{
    struct buf config = BUF_INIT;

    buf_addf(&config,
             "<boinc>\n<config>\n"
             "<master_url>http://127.0.0.1/test/</master_url>\n"
             "<long_name>Test</long_name>\n"
             "<db_host>%s</db_host>\n<db_user>%s</db_user>\n"
             "<db_passwd>%s</db_passwd>\n<db_name>%s</db_name>\n"
             "<upload_url>http://127.0.0.1/upload</upload_url>\n"
             "<download_url>http://127.0.0.1/download</download_url>\n"
             "<one_result_per_user_per_wu/>\n"
             "<daily_result_quota>10</daily_result_quota>\n"
             "</config>\n</boinc>\n",
             getenv("QUORATE_TEST_DB_SOCKET"), getenv("QUORATE_TEST_DB_USER"),
             getenv("QUORATE_TEST_DB_PASSWD"), getenv("QUORATE_TEST_DB_NAME"));
    project_write("config.xml", buf_str(&config));
    buf_free(&config);
    ck_assert_int_eq(file_copy(TEST_DATA "/keys/code_sign_public",
                               project_path("keys/code_sign_public"), 0),
                     0);
    dbtest_platform(db, "x86_64-pc-linux-gnu");
    dbtest_app_version(db, 1, 1, 100);
    project_do("UPDATE app_version SET xml_doc = '<file_info>\n<name>x</name>\n"
               "<url>http://127.0.0.1/download/x</url>\n<executable/>\n"
               "<nbytes>1</nbytes>\n</file_info>\n<app_version>\n"
               "<app_name>app</app_name>\n<version_num>100</version_num>\n"
               "<file_ref>\n<file_name>x</file_name>\n<main_program/>\n"
               "</file_ref>\n</app_version>\n'");
    three_workunits();
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    project_send(agreed, 0, 1);
    playfeeder_open();
}

static void
write_request(int seqno)
{
    struct buf text = BUF_INIT;

    buf_addf(&text,
             "<scheduler_request>\n<authenticator>user1</authenticator>\n"
             "<hostid>1</hostid>\n<rpc_seqno>%d</rpc_seqno>\n"
             "<core_client_major_version>7</core_client_major_version>\n"
             "<core_client_minor_version>20</core_client_minor_version>\n"
             "<core_client_release>5</core_client_release>\n"
             "<work_req_seconds>1</work_req_seconds>\n"
             "<cpu_req_secs>1</cpu_req_secs>\n"
             "<cpu_req_instances>2</cpu_req_instances>\n"
             "<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
             "<host_info>\n<domain_name>host</domain_name>\n"
             "<p_ncpus>4</p_ncpus>\n<p_fpops>1e9</p_fpops>\n"
             "<m_nbytes>16e9</m_nbytes>\n<d_total>500e9</d_total>\n"
             "<d_free>250e9</d_free>\n<os_name>Linux</os_name>\n"
             "</host_info>\n<other_results></other_results>\n"
             "<result>\n<name>agreed_0</name>\n<state>5</state>\n"
             "<exit_status>0</exit_status>\n<app_version_num>100"
             "</app_version_num>\n<final_cpu_time>1</final_cpu_time>\n"
             "<final_elapsed_time>1</final_elapsed_time>\n</result>\n"
             "</scheduler_request>\n",
             seqno);
    project_write("request", buf_str(&text));
    buf_free(&text);
}

static int
count_in_reply(const char *tag)
{
    struct buf reply = BUF_INIT;
    int n = 0;

    ck_assert_int_eq(file_read(project_path("reply"), 1 << 20, &reply), 0);
    for (const char *s = buf_str(&reply); (s = strstr(s, tag)) != NULL; s++)
        n++;
    buf_free(&reply);
    return n;
}

/* Which of a workunit's results went to the host may differ. */
static char *
what_was_sent(void)
{
    return dbtest_text(
        db, "SELECT GROUP_CONCAT(CONCAT_WS(' ', name, here, unsent, good, "
            "credit, soon) ORDER BY name SEPARATOR '\\n') FROM (SELECT w.name, "
            "SUM(r.server_state = 4 AND r.hostid = 1 AND r.userid = 1 AND "
            "r.sent_time > 0 AND r.app_version_id = 1) here, "
            "SUM(r.server_state = 2) unsent, SUM(r.server_state = 5 AND "
            "r.outcome = 1 AND r.received_time > 0) good, "
            "SUM(r.granted_credit) credit, w.transition_time <= "
            "UNIX_TIMESTAMP() + 86400 soon FROM workunit w JOIN result r "
            "ON r.workunitid = w.id GROUP BY w.id) x");
}

static int
ask_killed_at(long die_at, int seqno)
{
    static char path[1024];
    const char *const words[] = {SCHEDULER, "--replay", path, NULL};

    snprintf(path, sizeof(path), "%s", project_path("request"));
    write_request(seqno);
    playfeeder_fill(db);
    return run_killed_at(die_at, "reply", words);
}

START_TEST(a_scheduler_may_be_killed_anywhere)
{
    long n;

    scheduler_world();
    keep_world();
    ck_assert_int_eq(ask_killed_at(0, 1), 0);
    n = read_steps();
    for (long k = 0; k <= n; k++) {
        char *got;

        put_back_world();
        if (k > 0) {
            int rc = ask_killed_at(k, 1);

            /* it looks at the slots from a random one on, so one run has a
             * statement or two more than another */
            ck_assert_msg(rc == 128 + SIGKILL || (rc == 0 && read_steps() < k),
                          "it outlives step %ld of %ld (%d)", k, n, rc);
        }
        /* the client has no reply, and asks again */
        ck_assert_int_eq(ask_killed_at(0, 2), 0);
        ck_assert_msg(count_in_reply("<result_ack>") == 1 &&
                          count_in_reply("<result>") == 2,
                      "after a kill at step %ld of %ld the client is told of "
                      "%d reports and %d jobs",
                      k, n, count_in_reply("<result_ack>"),
                      count_in_reply("<result>"));
        got = what_was_sent();
        ck_assert_msg(strcmp(got, "agreed 0 2 1 0 1\n"
                                  "failing 1 1 0 0 1\n"
                                  "straggler 1 2 0 0 1") == 0,
                      "after a kill at step %ld of %ld there is\n%s", k, n,
                      got);
        free(got);
    }
    printf("a scheduler that takes a report and sends two jobs: killed at "
           "each of %ld steps\n",
           n);
    playfeeder_close();
}
END_TEST

/* ---- all ------------------------------------------------------------------
 */

static void
setup(void)
{
    db = project_new();
}

static void
teardown(void)
{
    snapshot_drop(db);
    project_end();
}

static Suite *
crash_suite(void)
{
    Suite *s = suite_create("crash");
    TCase *tc = tcase_create("SIGKILL at every step");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 600);
    tcase_add_test(tc, daemons_may_be_killed_anywhere);
    tcase_add_test(tc, a_scheduler_may_be_killed_anywhere);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(crash_suite());
}

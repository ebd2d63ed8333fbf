/* project.c - a project of its own for a test. */
#include "project.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "file.h"
#include "path.h"
#include "template.h"

enum { FANOUT = 1024, MAX_WORDS = 16 };

static struct db *db;
static char root[256];
static int64_t clock_ahead;

static const char output_template[] =
    "<output_template>\n"
    "<file_info>\n"
    "    <name><OUTFILE_0/></name>\n"
    "    <generated_locally/>\n"
    "    <upload_when_present/>\n"
    "    <max_nbytes>100000</max_nbytes>\n"
    "    <url><UPLOAD_URL/></url>\n"
    "</file_info>\n"
    "<result>\n"
    "    <file_ref>\n"
    "        <file_name><OUTFILE_0/></file_name>\n"
    "        <open_name>out</open_name>\n"
    "    </file_ref>\n"
    "</result>\n"
    "</output_template>\n";

const char *
project_path(const char *below)
{
    static char path[1024];

    snprintf(path, sizeof(path), "%s/%s", root, below);
    return path;
}

void
project_write(const char *below, const char *text)
{
    ck_assert_int_eq(file_write(project_path(below), text, strlen(text), 0640),
                     0);
}

struct db *
project_db(void)
{
    return db;
}

static void
make_folders(void)
{
    static const char *const folders[] = {"keys", "templates", "upload",
                                          "download"};

    snprintf(root, sizeof(root), "%s/quorate-test.XXXXXX",
             getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
    for (size_t i = 0; i < ARRAY_LEN(folders); i++)
        ck_assert_int_eq(file_mkdirs(project_path(folders[i]), 0770), 0);
    ck_assert_int_eq(file_copy(TEST_DATA "/keys/upload_private",
                               project_path("keys/upload_private"), 0),
                     0);
    project_write("templates/out.xml", output_template);
}

void
project_config(const char *db_host)
{
    struct buf text = BUF_INIT;

    buf_addf(&text,
             "<boinc>\n<config>\n"
             "<master_url>http://127.0.0.1/test/</master_url>\n"
             "<long_name>Test</long_name>\n"
             "<db_host>%s</db_host>\n<db_user>%s</db_user>\n"
             "<db_passwd>%s</db_passwd>\n<db_name>%s</db_name>\n"
             "<upload_url>http://127.0.0.1/upload</upload_url>\n"
             "<download_url>http://127.0.0.1/download</download_url>\n"
             "<uldl_dir_fanout>%d</uldl_dir_fanout>\n"
             "<daily_result_quota>10</daily_result_quota>\n"
             "</config>\n</boinc>\n",
             db_host, getenv("QUORATE_TEST_DB_USER"),
             getenv("QUORATE_TEST_DB_PASSWD"), getenv("QUORATE_TEST_DB_NAME"),
             FANOUT);
    project_write("config.xml", buf_str(&text));
    buf_free(&text);
}

struct db *
project_new(void)
{
    char name[8];

    db = dbtest_open();
    dbtest_empty(db);
    make_folders();
    project_config(getenv("QUORATE_TEST_DB_SOCKET"));
    project_clock(0);
    setenv("QUORATE_PROJECT_DIR", root, 1);
    ck_assert_int_eq(dbtest_app(db, "app"), 1);
    for (int i = 1; i <= 9; i++) {
        snprintf(name, sizeof(name), "user%d", i);
        ck_assert_int_eq(dbtest_host(db, dbtest_user(db, name)), i);
    }
    project_do("INSERT INTO team (id, create_time, userid, name, type, nusers, "
               "expavg_time) VALUES (1, 1, 1, 'team', 1, 9, 0)");
    project_do("UPDATE user SET teamid = 1");
    return db;
}

void
project_end(void)
{
    db_close(db);
    ck_assert_int_eq(file_remove_tree(root), 0);
}

void
project_clock(int64_t ahead)
{
    char text[32];

    clock_ahead = ahead;
    snprintf(text, sizeof(text), "%" PRId64, ahead);
    setenv("QUORATE_CLOCK_OFFSET", text, 1);
}

int64_t
project_now(void)
{
    clock_set(0);
    return (int64_t)time(NULL) + clock_ahead;
}

static int
or_else(int given, int deflt)
{
    return given != 0 ? given : deflt;
}

int64_t
project_workunit(const char *name, struct workunit wu)
{
    str_copy(wu.name, sizeof(wu.name), name);
    wu.appid = 1;
    wu.create_time = project_now();
    wu.transition_time = project_now();
    wu.rsc_fpops_est = 1e12;
    wu.rsc_fpops_bound = 1e15;
    wu.delay_bound = or_else((int)wu.delay_bound, 86400);
    wu.min_quorum = or_else(wu.min_quorum, 2);
    wu.target_nresults = or_else(wu.target_nresults, 2);
    wu.max_error_results = or_else(wu.max_error_results, 100);
    wu.max_total_results = or_else(wu.max_total_results, 100);
    wu.max_success_results = or_else(wu.max_success_results, 100);
    wu.size_class = -1;
    if (wu.result_template_file[0] == '\0')
        str_copy(wu.result_template_file, sizeof(wu.result_template_file),
                 "templates/out.xml");
    return dbtest_workunit(db, &wu);
}

/* ---- programs -------------------------------------------------------------
 */

static int
run_words(char *const *words)
{
    pid_t pid = fork();
    int status;

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        execv(words[0], words);
        _exit(127);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int
project_run(const char *program, ...)
{
    char path[1024], one_pass[] = "--one_pass";
    char *words[MAX_WORDS] = {path, one_pass};
    int n = 2;
    va_list more;

    snprintf(path, sizeof(path), "%s/%s", DAEMONS, program);
    va_start(more, program);
    while (n < MAX_WORDS - 1 && (words[n] = va_arg(more, char *)) != NULL)
        n++;
    va_end(more);
    return run_words(words);
}

void
project_transition(void)
{
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
}

void
project_round(void)
{
    project_transition();
    ck_assert_int_eq(
        project_run("sample_bitwise_validator", "--app", "app", NULL), 0);
    project_transition();
    ck_assert_int_eq(
        project_run("sample_copy_assimilator", "--app", "app", NULL), 0);
    project_transition();
}

void
project_audit(void)
{
    char program[] = "../../tools/audit";
    char *words[] = {program, NULL};

    ck_assert_int_eq(run_words(words), 0);
}

/* ---- volunteers -----------------------------------------------------------
 */

int64_t
project_of_workunit(int64_t wu, const char *column)
{
    return project_ask("SELECT %s FROM workunit WHERE id = %" PRId64, column,
                       wu);
}

int64_t
project_of_result(int64_t wu, int k, const char *column)
{
    return project_ask("SELECT r.%s FROM result r JOIN workunit w ON w.id = "
                       "r.workunitid WHERE w.id = %" PRId64
                       " AND r.name = CONCAT(w.name, '_%d')",
                       column, wu, k);
}

static int64_t
result_id(int64_t wu, int k)
{
    return project_of_result(wu, k, "id");
}

void
project_send(int64_t wu, int k, int host)
{
    project_do("UPDATE result r JOIN workunit w ON w.id = r.workunitid "
               "SET r.server_state = 4, r.hostid = %d, r.userid = %d, "
               "r.teamid = 1, r.sent_time = %" PRId64 ", "
               "r.report_deadline = %" PRId64 " + w.delay_bound, "
               "r.app_version_id = 3, r.flops_estimate = 2e9, "
               "w.transition_time = LEAST(w.transition_time, %" PRId64
               " + w.delay_bound) "
               "WHERE r.server_state = 2 AND r.id = %" PRId64,
               host, host, project_now(), project_now(), project_now(),
               result_id(wu, k));
    ck_assert_int_eq(project_ask("SELECT server_state FROM result WHERE id = "
                                 "%" PRId64,
                                 result_id(wu, k)),
                     RESULT_IN_PROGRESS);
}

static void
report(int64_t wu, int k, int outcome, int exit_status)
{
    project_do("UPDATE result r JOIN workunit w ON w.id = r.workunitid SET "
               "r.server_state = 5, r.outcome = %d, r.exit_status = %d, "
               "r.validate_state = %d, r.received_time = %" PRId64 ", "
               "r.elapsed_time = 500, r.cpu_time = 400, "
               "w.transition_time = %" PRId64 " WHERE r.id = %" PRId64,
               outcome, exit_status, outcome == OUTCOME_SUCCESS ? 0 : 2,
               project_now(), project_now(), result_id(wu, k));
}

void
project_success(int64_t wu, int k, const char *text)
{
    char sql[128];
    struct output_file file;
    struct buf path = BUF_INIT;
    char *doc;

    snprintf(sql, sizeof(sql),
             "SELECT xml_doc_in FROM result WHERE id = %" PRId64,
             result_id(wu, k));
    doc = dbtest_text(db, sql);
    ck_assert_int_eq(result_document_files(doc, &file, 1), 1);
    ck_assert_int_eq(
        path_hier(project_path("upload"), file.name, FANOUT, true, &path), 0);
    if (text != NULL)
        ck_assert_int_eq(file_write(buf_str(&path), text, strlen(text), 0640),
                         0);
    buf_free(&path);
    free(doc);
    report(wu, k, OUTCOME_SUCCESS, 0);
}

void
project_error(int64_t wu, int k, int exit_status)
{
    report(wu, k, OUTCOME_CLIENT_ERROR, exit_status);
}

/* ---- questions ------------------------------------------------------------
 */

int64_t
project_ask(const char *fmt, ...)
{
    struct buf sql = BUF_INIT;
    va_list args;
    int64_t x;

    va_start(args, fmt);
    buf_vaddf(&sql, fmt, args);
    va_end(args);
    x = dbtest_i64(db, buf_str(&sql));
    buf_free(&sql);
    return x;
}

void
project_do(const char *fmt, ...)
{
    struct buf sql = BUF_INIT;
    va_list args;

    va_start(args, fmt);
    buf_vaddf(&sql, fmt, args);
    va_end(args);
    dbtest_exec(db, buf_str(&sql));
    buf_free(&sql);
}

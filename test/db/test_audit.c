/* test_audit.c - each check of audit finds the breach that is planted for it,
 * and nothing else does; --repair mends the safe ones, and changes nothing
 * else. The project is one that the real daemons have led into every usual
 * state. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "buf.h"
#include "digest.h"
#include "file.h"
#include "names.h"
#include "path.h"
#include "project.h"
#include "sign.h"
#include "template.h"

enum { FANOUT = 1024, MAX_OUTPUT = 1 << 20 };

static struct db *db; /* of the test that runs; the fixture has its own */

static const char *const tables[] = {
    "workunit",         "result",        "user",        "team",       "host",
    "host_app_version", "app",           "app_version", "assignment", "batch",
    "x_batch",          "x_credit_base",
};

/* ---- files ----------------------------------------------------------------
 */

static char *
hier(const char *dir, const char *name)
{
    struct buf path = BUF_INIT;

    ck_assert_int_eq(path_hier(project_path(dir), name, FANOUT, true, &path),
                     0);
    return buf_take(&path);
}

static void
put(const char *dir, const char *name, const char *text, int days_old)
{
    char *path = hier(dir, name);
    struct utimbuf when;

    when.actime = when.modtime = time(NULL) - (time_t)days_old * 86400;
    ck_assert_int_eq(file_write(path, text, strlen(text), 0660), 0);
    ck_assert_int_eq(utime(path, &when), 0);
    free(path);
}

static void
take_away(const char *dir, const char *name)
{
    char *path = hier(dir, name);

    ck_assert_int_eq(unlink(path), 0);
    free(path);
}

/* The output file of a result, as its document says. */
static struct output_file
output_of(struct db *any, const char *result)
{
    struct output_file file;
    struct buf sql = BUF_INIT;
    char *doc;

    buf_addf(&sql, "SELECT xml_doc_in FROM result WHERE name = '%s'", result);
    doc = dbtest_text(any, buf_str(&sql));
    ck_assert_int_eq(result_document_files(doc, &file, 1), 1);
    free(doc);
    buf_free(&sql);
    return file;
}

/* ---- the project ----------------------------------------------------------
 */

#define PROGRAM "program"

static void
add_version(void)
{
    struct buf err = BUF_INIT, block = BUF_INIT;
    struct sign_key *key =
        sign_key_read(TEST_DATA "/keys/code_sign_private", &err);

    ck_assert_ptr_nonnull(key);
    ck_assert_int_eq(sign_data(key, PROGRAM, strlen(PROGRAM), &block), 0);
    project_write("download/app_1", PROGRAM);
    ck_assert_int_eq(file_copy(TEST_DATA "/keys/code_sign_public",
                               project_path("keys/code_sign_public"), 0),
                     0);
    project_do("INSERT INTO platform (id, create_time, name, "
               "user_friendly_name) VALUES (1, 1, 'p', 'p')");
    project_do("INSERT INTO app_version (id, create_time, appid, version_num, "
               "platformid, xml_doc) VALUES (3, 1, 1, 1, 1, '<file_info>"
               "<name>app_1</name><executable/><nbytes>%zu</nbytes>"
               "<url>http://127.0.0.1/download/app_1</url>"
               "<file_signature>%s</file_signature></file_info>"
               "<app_version/>')",
               strlen(PROGRAM), buf_str(&block));
    sign_key_free(key);
    buf_free(&err);
    buf_free(&block);
}

/* A workunit with an input file of its own. */
static int64_t
job(const char *name, struct workunit wu)
{
    int64_t id = project_workunit(name, wu);
    char input[64];

    snprintf(input, sizeof(input), "in_%s", name);
    put("download", input, "input", 0);
    project_do("UPDATE workunit SET xml_doc = '<file_info><name>%s</name><url>"
               "http://127.0.0.1/download/x/%s</url><nbytes>5</nbytes>"
               "</file_info><workunit/>' WHERE id = %" PRId64,
               input, input, id);
    return id;
}

/* Two jobs: one succeeds, one stays open. */
static void
add_batch(void)
{
    project_do("INSERT INTO batch (id, user_id, create_time, "
               "logical_start_time, logical_end_time, est_completion_time, "
               "njobs, fraction_done, nerror_jobs, state, completion_time, "
               "credit_estimate, credit_canonical, credit_total, name, "
               "app_id, project_state, description, expire_time) VALUES "
               "(7, 1, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0, 'batch', 1, 0, '', "
               "0)");
    project_do("INSERT INTO x_batch VALUES (7, 0)");
}

static void
build_project(void)
{
    const struct workunit usual = {.batch = 0};
    int64_t done, out, half, failed, agreed, quarrel;

    project_new();
    add_version();
    add_batch();
    done = job("done", (struct workunit){.batch = 7});
    job("fresh", usual);
    out = job("out", (struct workunit){.batch = 7});
    half = job("half", usual);
    failed = job("failed", (struct workunit){.max_error_results = 1});
    agreed = job("agreed", (struct workunit){.target_nresults = 3});
    quarrel = job("quarrel", usual);
    ck_assert_int_eq(project_run("transitioner", NULL), 0);
    for (int k = 0; k < 2; k++) {
        project_send(done, k, 1 + k);
        project_success(done, k, "same");
        project_send(failed, k, 1 + k);
        project_error(failed, k, 1);
        project_send(agreed, k, 3 + k);
        project_success(agreed, k, "same");
        project_send(quarrel, k, 1 + k);
        project_success(quarrel, k, k == 0 ? "this" : "that");
    }
    project_send(agreed, 2, 5);
    project_send(out, 0, 1);
    project_send(half, 0, 1);
    project_send(half, 1, 2);
    project_success(half, 0, "half");
    project_round();
    ck_assert_int_eq(project_run("file_deleter", NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        project_do("CREATE OR REPLACE TABLE clean_%s LIKE %s", tables[i],
                   tables[i]);
        project_do("INSERT INTO clean_%s SELECT * FROM %s", tables[i],
                   tables[i]);
    }
}

static void
remove_project(void)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        project_do("DROP TABLE clean_%s", tables[i]);
    project_end();
}

static void
dof(const char *fmt, const char *table)
{
    struct buf sql = BUF_INIT;

    for (const char *p = fmt; *p != '\0'; p++)
        if (*p == '@')
            buf_add(&sql, table);
        else
            buf_addc(&sql, *p);
    dbtest_exec(db, buf_str(&sql));
    buf_free(&sql);
}

static void
restore(void)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        dof("DELETE FROM @", tables[i]);
        dof("INSERT INTO @ SELECT * FROM clean_@", tables[i]);
    }
}

static void
connect_again(void)
{
    db = dbtest_open();
    restore();
}

static void
disconnect(void)
{
    db_close(db);
}

/* ---- what audit says ------------------------------------------------------
 */

struct answer {
    int status, breaches; /* breaches: lines that name one */
    char check[64];       /* of the last one */
    char kind[32];
    int64_t id;
    char label[512];
};

static struct answer
ask(const char *option, const char *value, char *ret_text, size_t size)
{
    static char program[] = TOOLS "/audit";
    char *first = option != NULL ? xstrdup(option) : NULL;
    char *second = value != NULL ? xstrdup(value) : NULL;
    char *argv[] = {program, first, second, NULL};
    struct buf out = BUF_INIT;
    struct answer a = {.status = file_run(argv, NULL, &out, MAX_OUTPUT)};
    char *rest = buf_take(&out), *all = rest;

    if (ret_text != NULL)
        str_copy(ret_text, size, all != NULL ? all : "");
    for (char *line; rest != NULL && (line = strsep(&rest, "\n")) != NULL;) {
        if (sscanf(line, "breach: %63[^:]", a.check) == 1 ||
            sscanf(line, "note: %63[^:]", a.check) == 1)
            continue;
        if (sscanf(line, "  %31s %" SCNd64 " [%511[^]]]", a.kind, &a.id,
                   a.label) >= 2)
            a.breaches++;
    }
    free(all);
    free(first);
    free(second);
    return a;
}

/* ---- the breaches ---------------------------------------------------------
 */

static void
lose_output(void)
{
    take_away("upload", output_of(db, "half_0").name);
}

static void
find_output(void)
{
    put("upload", output_of(db, "half_0").name, "half", 0);
}

static void
keep_output(void)
{
    put("upload", output_of(db, "done_0").name, "same", 2);
}

static void
drop_output(void)
{
    take_away("upload", output_of(db, "done_0").name);
}

static void
lose_input(void)
{
    take_away("download", "in_fresh");
}

static void
find_input(void)
{
    put("download", "in_fresh", "input", 0);
}

static void
keep_input(void)
{
    put("download", "in_done", "input", 0);
}

static void
drop_input(void)
{
    take_away("download", "in_done");
}

static void
lose_program(void)
{
    ck_assert_int_eq(unlink(project_path("download/app_1")), 0);
}

static void
find_program(void)
{
    project_write("download/app_1", PROGRAM);
}

static void
infect_program(void)
{
    project_write("download/app_1", "pr0gram");
}

static void
leave_stray(void)
{
    put("upload", "ghost_0_r77_0", "x", 2);
}

static void
drop_stray(void)
{
    take_away("upload", "ghost_0_r77_0");
}

static void
leave_part(void)
{
    put("upload", "fresh_0_r77_0.part", "x", 8);
}

static void
drop_part(void)
{
    take_away("upload", "fresh_0_r77_0.part");
}

/* Beside the file, whatever folder its own name would have. */
static char *
md5_path(void)
{
    struct buf path = BUF_INIT;
    char *of = hier("download", "in_fresh");

    buf_addf(&path, "%s.md5", of);
    free(of);
    return buf_take(&path);
}

static void
leave_md5(void)
{
    static const char text[] = "0123456789abcdef0123456789abcdef 6\n";
    char *path = md5_path();

    ck_assert_int_eq(file_write(path, text, strlen(text), 0660), 0);
    free(path);
}

static void
drop_md5(void)
{
    char *path = md5_path();

    ck_assert_int_eq(unlink(path), 0);
    free(path);
}

#define WU(name) "SELECT id FROM workunit WHERE name = '" name "'"
#define RESULT(name) "SELECT id FROM result WHERE name = '" name "'"
#define SOON "UNIX_TIMESTAMP() + 5000"

/* Statements end in ";".  `only`: a check of --drained. */
static const struct plant {
    const char *check;
    const char *sql;     /* NULL: */
    void (*plant)(void); /* files */
    const char *id;      /* whose breach it is; NULL: a file */
    const char *undo;    /* beyond the rows; NULL: */
    void (*mend)(void);
    bool only;
} plants[] = {
  /* clang-format off */
    {"wu-forgotten",
     "UPDATE workunit SET transition_time = 2147483647 WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-stands-still",
     "UPDATE result SET server_state = 5, outcome = 5"
     " WHERE name = 'quarrel_2';"
     "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() + 864000"
     " WHERE name = 'quarrel';",
     NULL, WU("quarrel"), NULL, NULL, false},
    {"wu-backlog",
     "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() - 86500"
     " WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-success-waits",
     "UPDATE workunit SET min_quorum = 1,"
     " transition_time = UNIX_TIMESTAMP() + 50000 WHERE name = 'half';",
     NULL, WU("half"), NULL, NULL, false},
    {"wu-nothing-to-validate",
     "UPDATE workunit SET need_validate = 1 WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-error-told",
     "UPDATE result SET server_state = 5, outcome = 5"
     " WHERE name LIKE 'fresh%';"
     "UPDATE workunit SET error_mask = 16, transition_time = " SOON
     " WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-error-unsent",
     "UPDATE workunit SET error_mask = 16, assimilate_state = 1,"
     " transition_time = " SOON " WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-no-results",
     "DELETE FROM result WHERE name LIKE 'fresh%';"
     "UPDATE workunit SET create_time = 1, transition_time = " SOON
     " WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-assimilated-what",
     "UPDATE workunit SET assimilate_state = 1 WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-deleted-early",
     "UPDATE workunit SET assimilate_state = 1 WHERE name = 'failed';",
     NULL, WU("failed"), NULL, NULL, false},
    {"wu-released-early",
     "UPDATE workunit SET file_delete_state = 1 WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"wu-states",
     "UPDATE workunit SET transitioner_flags = 7 WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-limits",
     "UPDATE workunit SET target_nresults = 1 WHERE name = 'fresh';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-app",
     "UPDATE workunit SET appid = 99 WHERE name = 'fresh';"
     "UPDATE result SET appid = 99 WHERE name LIKE 'fresh%';",
     NULL, WU("fresh"), NULL, NULL, false},
    {"wu-canonical-and-error",
     "UPDATE workunit SET error_mask = 16 WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"wu-over",
     "UPDATE workunit SET need_validate = 0, assimilate_state = 2,"
     " file_delete_state = IF(name = 'fresh', 1, 2);",
     NULL, WU("fresh"), NULL, NULL, true},
    {"canonical-exists",
     "UPDATE workunit SET canonical_resultid = 999999 WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"canonical-own",
     "UPDATE workunit SET canonical_resultid = (" RESULT("done_0")
     ") WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"canonical-valid",
     "UPDATE workunit SET canonical_resultid = (" RESULT("agreed_2")
     ") WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"canonical-quorum",
     "UPDATE workunit SET min_quorum = 4 WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"canonical-told",
     "UPDATE result SET server_state = 5, outcome = 4 WHERE name = 'agreed_2';"
     "UPDATE workunit SET assimilate_state = 0, transition_time = " SOON
     " WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"canonical-unsent",
     "UPDATE result SET server_state = 2, hostid = 0, userid = 0,"
     " sent_time = 0 WHERE name = 'agreed_2';"
     "UPDATE workunit SET transition_time = " SOON " WHERE name = 'agreed';",
     NULL, WU("agreed"), NULL, NULL, false},
    {"result-states",
     "UPDATE result SET client_state = 9 WHERE name = 'fresh_0';",
     NULL, RESULT("fresh_0"), NULL, NULL, false},
    {"result-workunit",
     "UPDATE result SET workunitid = 999999 WHERE name = 'fresh_1';",
     NULL, RESULT("fresh_1"), NULL, NULL, false},
    {"result-unsent",
     "UPDATE result SET hostid = 5 WHERE name = 'fresh_0';",
     NULL, RESULT("fresh_0"), NULL, NULL, false},
    {"result-sent",
     "UPDATE result SET hostid = 0 WHERE name = 'out_0';",
     NULL, RESULT("out_0"), NULL, NULL, false},
    {"result-deadline-watched",
     "UPDATE workunit SET transition_time = UNIX_TIMESTAMP() + 200000"
     " WHERE name = 'out';",
     NULL, RESULT("out_0"), NULL, NULL, false},
    {"result-outcome",
     "UPDATE result SET server_state = 5 WHERE name = 'fresh_0';",
     NULL, RESULT("fresh_0"), NULL, NULL, false},
    {"result-reported",
     "UPDATE result SET received_time = 0 WHERE name = 'half_0';",
     NULL, RESULT("half_0"), NULL, NULL, false},
    {"result-verdict",
     "UPDATE result SET validate_state = 0 WHERE name = 'failed_0';",
     NULL, RESULT("failed_0"), NULL, NULL, false},
    {"result-credit", /* the sums are right */
     "UPDATE result SET granted_credit = 5 WHERE name = 'quarrel_0';"
     "INSERT INTO x_credit_base VALUES (1, 1, -5), (2, 1, -5), (3, 1, -5);",
     NULL, RESULT("quarrel_0"), NULL, NULL, false},
    {"result-name",
     "UPDATE result SET name = 'other_0' WHERE name = 'fresh_0';",
     NULL, RESULT("other_0"), NULL, NULL, false},
    {"result-copies",
     "UPDATE result SET batch = 9 WHERE name = 'fresh_0';",
     NULL, RESULT("fresh_0"), NULL, NULL, false},
    {"result-files-kept",
     "UPDATE result SET file_delete_state = 0 WHERE name = 'failed_0';",
     NULL, RESULT("failed_0"), NULL, NULL, false},
    {"result-over",
     "UPDATE result SET server_state = IF(name = 'fresh_0', 2, 5),"
     " outcome = 5, validate_state = 0, file_delete_state = 0;",
     NULL, RESULT("fresh_0"), NULL, NULL, true},
    {"user-credit",
     "UPDATE user SET total_credit = total_credit + 1 WHERE id = 2;",
     NULL, "SELECT 2", NULL, NULL, false},
    {"host-credit",
     "UPDATE host SET total_credit = 1 WHERE id = 9;",
     NULL, "SELECT 9", NULL, NULL, false},
    {"team-credit",
     "UPDATE team SET total_credit = total_credit - 1;",
     NULL, "SELECT 1", NULL, NULL, false},
    {"user-average",
     "UPDATE user SET expavg_credit = -1 WHERE id = 9;",
     NULL, "SELECT 9", NULL, NULL, false},
    {"host-average",
     "UPDATE host SET expavg_time = UNIX_TIMESTAMP() + 90000 WHERE id = 9;",
     NULL, "SELECT 9", NULL, NULL, false},
    {"team-average",
     "UPDATE team SET expavg_credit = 1e31;",
     NULL, "SELECT 1", NULL, NULL, false},
    {"host-version-once",
     "ALTER TABLE host_app_version DROP PRIMARY KEY;"
     "INSERT INTO host_app_version SELECT * FROM clean_host_app_version"
     " WHERE host_id = 1;",
     NULL, "SELECT 1",
     "ALTER TABLE host_app_version ADD PRIMARY KEY (host_id, app_version_id)",
     NULL, false},
    {"host-version-finite",
     "UPDATE host_app_version SET consecutive_valid = -1 WHERE host_id = 1;",
     NULL, "SELECT 1", NULL, NULL, false},
    {"host-circle",
     "UPDATE host SET userid = 0, rpc_seqno = 9 WHERE id = 9;",
     NULL, "SELECT 9", NULL, NULL, false},
    {"version-app",
     "UPDATE app_version SET platformid = 99;",
     NULL, "SELECT 3", NULL, NULL, false},
    {"version-finite",
     "UPDATE app_version SET pfc_avg = -1;",
     NULL, "SELECT 3", NULL, NULL, false},
    {"batch-counters",
     "UPDATE batch SET nerror_jobs = 1 WHERE id = 7;",
     NULL, "SELECT 7", NULL, NULL, false},
    {"batch-complete",
     "UPDATE batch SET state = 2 WHERE id = 7;",
     NULL, "SELECT 7", NULL, NULL, false},
    {"assignment-workunit",
     "INSERT INTO assignment VALUES (7, 1, 1, 1, 0, 999999, 0);",
     NULL, "SELECT 7", NULL, NULL, false},
    {"unique-key",
     "ALTER TABLE result DROP KEY name;",
     NULL, "SELECT 2", "ALTER TABLE result ADD UNIQUE KEY name (name)", NULL,
     false},
    {"output-present", NULL, lose_output, RESULT("half_0"), NULL, find_output,
     false},
    {"output-deleted", NULL, keep_output, RESULT("done_0"), NULL, drop_output,
     false},
    {"input-present", NULL, lose_input, WU("fresh"), NULL, find_input, false},
    {"input-deleted", NULL, keep_input, WU("done"), NULL, drop_input, false},
    {"version-files", NULL, lose_program, "SELECT 3", NULL, find_program,
     false},
    {"version-signed", NULL, infect_program, "SELECT 3", NULL, find_program,
     false},
    {"upload-owner", NULL, leave_stray, NULL, NULL, drop_stray, false},
    {"upload-part", NULL, leave_part, NULL, NULL, drop_part, false},
    {"download-md5", NULL, leave_md5, NULL, NULL, drop_md5, false},
  /* clang-format on */
};

static void
exec_all(const char *statements)
{
    char *rest = xstrdup(statements), *all = rest;

    for (char *s; (s = strsep(&rest, ";")) != NULL;)
        if (s[0] != '\0')
            dbtest_exec(db, s);
    free(all);
}

/* Rows of all tables that are not as they were when "planted" was made. */
static int64_t
changed_rows(void)
{
    int64_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        struct buf sql = BUF_INIT;

        buf_addf(&sql,
                 "SELECT COUNT(*) FROM (SELECT * FROM %s EXCEPT ALL SELECT * "
                 "FROM planted_%s) x",
                 tables[i], tables[i]);
        n += dbtest_i64(db, buf_str(&sql));
        buf_free(&sql);
    }
    return n;
}

/* One of the checks that --repair mends? */
static bool
is_mended(const char *check)
{
    char text[16384], *p, line[80];

    ask("--list", NULL, text, sizeof(text));
    snprintf(line, sizeof(line), "%s\t", check);
    p = strstr(text, line);
    ck_assert_ptr_nonnull(p);
    p[strcspn(p, "\n")] = '\0';
    return strstr(p, "\trepair") != NULL;
}

static void
ck_repair(const struct plant *p)
{
    bool mends = is_mended(p->check);
    struct answer a;

    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        dof("CREATE OR REPLACE TABLE planted_@ AS SELECT * FROM @", tables[i]);
    a = ask("--repair", NULL, NULL, 0);
    ck_assert_int_eq(a.breaches, p->only ? a.breaches : 1);
    ck_assert_msg(changed_rows() == mends, "%s: %" PRId64 " rows changed",
                  p->check, changed_rows());
    if (mends) {
        ck_assert_int_eq(a.status, 0);
        a = ask(NULL, NULL, NULL, 0);
        ck_assert_msg(a.status == 0 && a.breaches == 0,
                      "%s is not mended: %s %" PRId64, p->check, a.check, a.id);
    }
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        dof("DROP TABLE planted_@", tables[i]);
}

START_TEST(a_planted_breach_is_named_and_no_other)
{
    const struct plant *p = &plants[_i];
    bool note = strcmp(p->check, "wu-canonical-and-error") == 0;
    struct answer a;

    if (p->sql != NULL)
        exec_all(p->sql);
    else
        p->plant();
    a = ask(p->only ? "--only" : NULL, p->check, NULL, 0);
    ck_assert_msg(a.breaches == 1,
                  "%s: %d breaches, the last of %s %s %" PRId64, p->check,
                  a.breaches, a.check, a.kind, a.id);
    ck_assert_str_eq(a.check, p->check);
    ck_assert_int_eq(a.status, note ? 0 : 1);
    ck_assert_int_eq(a.id, p->id != NULL ? dbtest_i64(db, p->id) : 0);
    if (!p->only && !note)
        ck_repair(p);
    restore();
    if (p->undo != NULL)
        dbtest_exec(db, p->undo);
    if (p->mend != NULL)
        p->mend();
    a = ask(NULL, NULL, NULL, 0);
    ck_assert_int_eq(a.status, 0);
}
END_TEST

START_TEST(a_clean_project_has_no_breach)
{
    char text[4096];
    struct answer a = ask(NULL, NULL, text, sizeof(text));

    ck_assert_msg(a.status == 0 && a.breaches == 0, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, " checks, 0 breaches"));
}
END_TEST

/* Its output could not be read: the validator tries again after some hours, and
 * until then an assimilator that wanted to see all results waits. */
START_TEST(who_waits_for_a_result_to_be_read_again_is_no_breach)
{
    dbtest_exec(db, "UPDATE result SET server_state = 5, outcome = 1,"
                    " validate_state = 4, client_state = 5, received_time ="
                    " sent_time + 1 WHERE name = 'agreed_2'");
    dbtest_exec(db, "UPDATE workunit SET assimilate_state = 0, transition_time"
                    " = " SOON " WHERE name = 'agreed'");
    ck_assert_int_eq(ask("--only", "canonical-told", NULL, 0).status, 0);
    dbtest_exec(db, "UPDATE result SET validate_state = 2 WHERE name ="
                    " 'agreed_2'");
    ck_assert_int_eq(ask("--only", "canonical-told", NULL, 0).status, 1);
    restore();
}
END_TEST

/* A client that went back to old state files has uploaded it once more. */
START_TEST(what_came_again_after_it_was_deleted_is_no_breach_for_a_day)
{
    dbtest_exec(db, "UPDATE result SET mod_time = FROM_UNIXTIME("
                    "UNIX_TIMESTAMP() - 100) WHERE name = 'done_0'");
    put("upload", output_of(db, "done_0").name, "same", 0);
    ck_assert_int_eq(ask("--only", "output-deleted", NULL, 0).status, 0);
    dbtest_exec(db, "UPDATE result SET mod_time = FROM_UNIXTIME("
                    "UNIX_TIMESTAMP() + 1) WHERE name = 'done_0'");
    ck_assert_int_eq(ask("--only", "output-deleted", NULL, 0).status, 1);
    drop_output();
    restore();
}
END_TEST

START_TEST(every_check_has_a_planted_breach)
{
    char text[16384], *rest = text;
    size_t n = 0;

    ck_assert_int_eq(ask("--list", NULL, text, sizeof(text)).status, 0);
    for (char *line; (line = strsep(&rest, "\n")) != NULL && line[0] != '\0';) {
        size_t i = 0;

        line[strcspn(line, "\t")] = '\0';
        while (i < ARRAY_LEN(plants) && strcmp(plants[i].check, line) != 0)
            i++;
        ck_assert_msg(i < ARRAY_LEN(plants), "no breach of %s", line);
        n++;
    }
    ck_assert_uint_eq(n, ARRAY_LEN(plants));
}
END_TEST

START_TEST(only_some_are_printed_and_all_are_counted)
{
    char text[4096];

    dbtest_exec(db, "UPDATE user SET expavg_credit = -1");
    ask("--max", "2", text, sizeof(text));
    ck_assert_ptr_nonnull(strstr(text, "  and 7 more, 9 in all\n"));
    ck_assert_ptr_nonnull(strstr(text, " checks, 9 breaches\n"));
    restore();
}
END_TEST

START_TEST(one_check_may_be_asked_for_or_left_out)
{
    dbtest_exec(db, "UPDATE user SET expavg_credit = -1");
    ck_assert_int_eq(ask("--only", "user-average", NULL, 0).status, 1);
    ck_assert_int_eq(ask("--only", "host-average", NULL, 0).status, 0);
    ck_assert_int_eq(ask("--except", "user-average", NULL, 0).status, 0);
    ck_assert_int_eq(ask("--only", "no-such-check", NULL, 0).status, 100);
    restore();
}
END_TEST

START_TEST(what_did_not_change_lately_may_be_passed_over)
{
    dbtest_exec(db, "UPDATE workunit SET min_quorum = 9,"
                    " mod_time = NOW() - INTERVAL 1 HOUR WHERE name = 'fresh'");
    ck_assert_int_eq(ask(NULL, NULL, NULL, 0).status, 1);
    ck_assert_int_eq(ask("--since", "7200", NULL, 0).status, 1);
    ck_assert_int_eq(ask("--since", "1800", NULL, 0).status, 0);
    /* seven workunits; fresh is the second */
    ck_assert_int_eq(ask("--limit", "6", NULL, 0).status, 1);
    ck_assert_int_eq(ask("--limit", "5", NULL, 0).status, 0);
    restore();
}
END_TEST

START_TEST(a_project_at_work_is_not_drained)
{
    ck_assert_int_eq(ask("--drained", NULL, NULL, 0).status, 1);
}
END_TEST

START_TEST(a_circle_of_hosts_names_all_of_them)
{
    dbtest_exec(db, "UPDATE host SET userid = 0, rpc_seqno = id % 3 + 7"
                    " WHERE id IN (7, 8, 9)"); /* 7 -> 8 -> 9 -> 7 */
    ck_assert_int_eq(ask("--only", "host-circle", NULL, 0).breaches, 3);
    dbtest_exec(db, "UPDATE host SET rpc_seqno = 1 WHERE id = 9");
    ck_assert_int_eq(ask("--only", "host-circle", NULL, 0).breaches, 0);
    restore();
}
END_TEST

static Suite *
audit_suite(void)
{
    Suite *s = suite_create("audit");
    TCase *tc = tcase_create("checks");

    tcase_add_unchecked_fixture(tc, build_project, remove_project);
    tcase_add_checked_fixture(tc, connect_again, disconnect);
    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, a_clean_project_has_no_breach);
    tcase_add_test(tc, who_waits_for_a_result_to_be_read_again_is_no_breach);
    tcase_add_test(tc,
                   what_came_again_after_it_was_deleted_is_no_breach_for_a_day);
    tcase_add_test(tc, every_check_has_a_planted_breach);
    tcase_add_loop_test(tc, a_planted_breach_is_named_and_no_other, 0,
                        ARRAY_LEN(plants));
    tcase_add_test(tc, only_some_are_printed_and_all_are_counted);
    tcase_add_test(tc, one_check_may_be_asked_for_or_left_out);
    tcase_add_test(tc, what_did_not_change_lately_may_be_passed_over);
    tcase_add_test(tc, a_project_at_work_is_not_drained);
    tcase_add_test(tc, a_circle_of_hosts_names_all_of_them);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(audit_suite());
}

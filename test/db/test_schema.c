/* test_schema.c - the tables are those of the specification, and a project of
 * old becomes one of ours without losing a column. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "db_schema.h"
#include "dbtest.h"
#include "file.h"

static struct db *db;

static const char *
folder(void)
{
    return getenv("QUORATE_TEST_SCHEMA");
}

/* Execute what a query returns, each row a statement. */
static void
exec_rows(const char *sql)
{
    struct db_query *q = db_prepare(db, sql);

    ck_assert_ptr_nonnull(q);
    while (db_step(q) == 0)
        dbtest_exec(db, db_col_text(q, 0));
    db_finish(q);
}

static void
drop_everything(void)
{
    dbtest_exec(db, "SET foreign_key_checks = 0");
    exec_rows("SELECT CONCAT('DROP VIEW `', table_name, '`')"
              " FROM information_schema.views"
              " WHERE table_schema = DATABASE()");
    exec_rows("SELECT CONCAT('DROP TABLE `', table_name, '`')"
              " FROM information_schema.tables"
              " WHERE table_schema = DATABASE()");
    dbtest_exec(db, "SET foreign_key_checks = 1");
}

static void
new_project(void)
{
    db = dbtest_open();
    drop_everything();
    ck_assert_int_eq(db_schema_create(db, folder()), 0);
}

/* A database as BOINC makes it: ids of 32 bits, nothing of ours. */
static void
old_project(void)
{
    static const char *const steps[] = {
        "ALTER TABLE workunit MODIFY id int NOT NULL AUTO_INCREMENT,"
        " MODIFY canonical_resultid int NOT NULL",
        "ALTER TABLE result MODIFY id int NOT NULL AUTO_INCREMENT,"
        " MODIFY workunitid int NOT NULL",
        "ALTER TABLE assignment MODIFY id int NOT NULL AUTO_INCREMENT,"
        " MODIFY workunitid int NOT NULL, MODIFY resultid int NOT NULL",
        "ALTER TABLE msg_from_host MODIFY id int NOT NULL AUTO_INCREMENT",
        "ALTER TABLE msg_to_host MODIFY id int NOT NULL AUTO_INCREMENT",
        "ALTER TABLE job_file MODIFY id int NOT NULL AUTO_INCREMENT",
        "ALTER TABLE host_app_version DROP PRIMARY KEY,"
        " ADD UNIQUE hap (host_id, app_version_id)",
        "DROP TABLE x_schema",
        "DROP VIEW latest_consent",
    };
    struct buf path = BUF_INIT;

    db = dbtest_open();
    drop_everything();
    buf_addf(&path, "%s/schema.sql", folder());
    ck_assert_int_eq(db_schema_load(db, path.data), 0);
    buf_free(&path);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        dbtest_exec(db, steps[i]);
}

static void
disconnect(void)
{
    db_close(db);
}

/* ---- a new project ------------------------------------------------------ */

/* The columns as lines of schema.expected: MariaDB's display widths go, and
 * the ways in which versions write a default are made one. */
static void
describe_tables(struct buf *out)
{
    struct db_query *q = db_prepare(
        db,
        "SELECT c.table_name, c.column_name,"
        " REPLACE(REGEXP_REPLACE(c.column_type, 'int\\\\([0-9]+\\\\)', 'int'),"
        "  ' ', '_'),"
        " LOWER(c.is_nullable),"
        " CASE WHEN c.column_default IS NULL OR c.column_default = 'NULL'"
        "   THEN '-'"
        "  WHEN c.column_default LIKE 'current_timestamp%' THEN 'now'"
        "  ELSE c.column_default END,"
        " CASE WHEN c.extra = 'auto_increment' THEN ' auto'"
        "  WHEN c.extra LIKE 'on update%' THEN ' update' ELSE '' END,"
        " c.ordinal_position"
        " FROM information_schema.columns AS c"
        " JOIN information_schema.tables AS t"
        "  ON t.table_schema = c.table_schema AND t.table_name = c.table_name"
        " WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE'"
        " ORDER BY c.table_name, c.ordinal_position");

    ck_assert_ptr_nonnull(q);
    while (db_step(q) == 0) {
        if (db_col_i64(q, 6) == 1)
            buf_addf(out, "%s\n", db_col_text(q, 0));
        buf_addf(out, "    %s %s %s %s%s\n", db_col_text(q, 1),
                 db_col_text(q, 2), db_col_text(q, 3), db_col_text(q, 4),
                 db_col_text(q, 5));
    }
    db_finish(q);
}

/* The block of a table: its name and the indented lines after it. */
static char *
take_block(char **text)
{
    char *block = *text, *end = block;

    if (*block == '\0')
        return NULL;
    do {
        end = strchr(end, '\n') + 1;
    } while (*end == ' ');
    *text = end;
    return xstrndup(block, (size_t)(end - block));
}

START_TEST(tables_are_those_of_the_specification)
{
    struct buf expected = BUF_INIT, found = BUF_INIT;
    int n = 0;
    char *rest, *block;

    ck_assert_int_eq(file_read(TEST_DB "/schema.expected", 100000, &expected),
                     0);
    describe_tables(&found);
    rest = strstr(expected.data, "\n\n") + 2;
    while ((block = take_block(&rest)) != NULL) {
        ck_assert_msg(strstr(found.data, block) != NULL,
                      "not as specified:\n%s\nthere is:\n%s", block,
                      found.data);
        free(block);
        n++;
    }
    ck_assert_int_eq(n, 46);
    /* and no others but ours */
    ck_assert_int_eq(dbtest_i64(db,
                                "SELECT COUNT(*) FROM information_schema.tables"
                                " WHERE table_schema = DATABASE()"
                                " AND table_type = 'BASE TABLE'"
                                " AND table_name NOT LIKE 'x\\_%'"),
                     n);
    buf_free(&expected);
    buf_free(&found);
}
END_TEST

START_TEST(core_columns_say_what_they_are_and_who_writes_them)
{
    char *without = dbtest_text(
        db, "SELECT COALESCE(GROUP_CONCAT(table_name, '.', column_name), '')"
            " FROM information_schema.columns"
            " WHERE table_schema = DATABASE()"
            " AND column_comment NOT LIKE '%_; by: _%'"
            " AND (table_name LIKE 'x\\_%' OR table_name IN ('platform',"
            " 'app', 'app_version', 'user', 'team', 'host',"
            " 'host_app_version', 'workunit', 'result', 'batch',"
            " 'user_submit', 'user_submit_app', 'job_file', 'msg_from_host',"
            " 'msg_to_host', 'assignment'))");

    ck_assert_str_eq(without, "");
    free(without);
}
END_TEST

START_TEST(all_tables_are_transactional_and_speak_utf8)
{
    ck_assert_int_eq(dbtest_i64(db,
                                "SELECT COUNT(*) FROM information_schema.tables"
                                " WHERE table_schema = DATABASE()"
                                " AND table_type = 'BASE TABLE'"
                                " AND (engine <> 'InnoDB'"
                                " OR table_collation <> 'utf8mb4_unicode_ci')"),
                     0);
}
END_TEST

enum { N_STEPS = 10 }; /* files in db/migrations */

static const struct {
    const char *table, *name;
    int unique;
    const char *columns;
} indexes[] = {
  /* BOINC's */
    {"platform",         "name",             1, "name"                                   },
    {"app",              "name",             1, "name"                                   },
    {"app_version",      "apvp",             1, "appid,platformid,version_num,plan_class"},
    {"user",             "email_addr",       1, "email_addr"                             },
    {"user",             "authenticator",    1, "authenticator"                          },
    {"user",             "name",             1, "name"                                   },
    {"user",             "ind_tid",          0, "teamid"                                 },
    {"user",             "user_tot",         0, "total_credit"                           },
    {"user",             "user_avg",         0, "expavg_credit"                          },
    {"user",             "user_email_time",  0, "email_addr_change_time"                 },
    {"team",             "name",             1, "name"                                   },
    {"team",             "team_name_desc",   0, "name,description"                       },
    {"team",             "team_avg",         0, "expavg_credit"                          },
    {"team",             "team_tot",         0, "total_credit"                           },
    {"team",             "team_userid",      0, "userid"                                 },
    {"host",             "host_userid_cpid", 0, "userid,host_cpid"                       },
    {"host",             "host_domain_name", 0, "domain_name"                            },
    {"host",             "host_avg",         0, "expavg_credit"                          },
    {"host",             "host_tot",         0, "total_credit"                           },
    {"host_app_version", "PRIMARY",          1, "host_id,app_version_id"                 },
    {"workunit",         "name",             1, "name"                                   },
    {"workunit",         "wu_val",           0, "appid,need_validate"                    },
    {"workunit",         "wu_timeout",       0, "transition_time"                        },
    {"workunit",         "wu_filedel",       0, "file_delete_state"                      },
    {"workunit",         "wu_assim",         0, "appid,assimilate_state"                 },
    {"workunit",         "wu_batch",         0, "batch"                                  },
    {"result",           "name",             1, "name"                                   },
    {"result",           "res_wuid",         0, "workunitid"                             },
    {"result",           "ind_res_st",       0, "server_state,priority"                  },
    {"result",           "res_app_state",    0, "appid,server_state"                     },
    {"result",           "res_filedel",      0, "file_delete_state"                      },
    {"result",           "res_userid_id",    0, "userid,id"                              },
    {"result",           "res_userid_val",   0, "userid,validate_state"                  },
    {"result",           "res_hostid_id",    0, "hostid,id"                              },
    {"result",           "res_batch",        0, "batch"                                  },
    {"user_submit",      "PRIMARY",          1, "user_id"                                },
    {"user_submit_app",  "PRIMARY",          1, "user_id,app_id"                         },
    {"job_file",         "jf_name",          1, "name"                                   },
    {"msg_from_host",    "message_handled",  0, "handled"                                },
    {"msg_from_host",    "message_hostid",   0, "hostid"                                 },
    {"msg_to_host",      "msg_to_host",      0, "hostid,handled"                         },
    {"assignment",       "asgn_target",      0, "target_type,target_id"                  },
 /* ours */
    {"result",           "x_res_feed",       0, "server_state,priority,workunitid"       },
    {"result",           "x_res_app_feed",   0, "appid,server_state,priority,workunitid" },
    {"result",           "x_res_host_state", 0, "hostid,server_state"                    },
    {"workunit",         "x_wu_purge",       0, "file_delete_state,mod_time"             },
    {"assignment",       "x_asgn_wu",        0, "workunitid"                             },
    {"msg_from_host",    "x_msg_todo",       0, "handled,variety,id"                     },
    {"batch",            "x_batch_user",     0, "user_id,state"                          },
    {"thread",           "x_thread_forum",   0, "forum,timestamp"                        },
};

static void
check_index(size_t i)
{
    struct db_query *q =
        db_prepare(db, "SELECT 1 - MAX(non_unique),"
                       " GROUP_CONCAT(column_name ORDER BY seq_in_index)"
                       " FROM information_schema.statistics"
                       " WHERE table_schema = DATABASE() AND table_name = ?"
                       " AND index_name = ?");

    ck_assert_int_eq(db_bind_text(q, 0, indexes[i].table), 0);
    ck_assert_int_eq(db_bind_text(q, 1, indexes[i].name), 0);
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_msg(strcmp(db_col_text(q, 1), indexes[i].columns) == 0,
                  "index %s of %s: (%s)", indexes[i].name, indexes[i].table,
                  db_col_text(q, 1));
    ck_assert_int_eq(db_col_i64(q, 0), indexes[i].unique);
    db_finish(q);
}

START_TEST(indexes_are_those_of_the_specification)
{
    for (size_t i = 0; i < ARRAY_LEN(indexes); i++)
        check_index(i);
}
END_TEST

START_TEST(the_newest_consent_counts)
{
    dbtest_exec(db, "INSERT INTO consent (userid, consent_type_id,"
                    " consent_time, consent_flag, consent_not_required,"
                    " source) VALUES (1, 1, 100, 1, 0, 'web'),"
                    " (1, 1, 200, 0, 0, 'web'), (1, 2, 50, 1, 0, 'web'),"
                    " (2, 1, 10, 1, 0, 'web')");
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM latest_consent"), 3);
    ck_assert_int_eq(dbtest_i64(db,
                                "SELECT consent_flag FROM latest_consent"
                                " WHERE userid = 1 AND consent_type_id = 1"),
                     0);
}
END_TEST

START_TEST(a_new_project_has_all_steps)
{
    ck_assert_int_eq(db_schema_version(db), DB_SCHEMA_NEWEST);
    ck_assert_int_eq(db_schema_migrate(db, folder()), 0);
    ck_assert_int_eq(db_schema_create(db, folder()), -1); /* it has tables */
}
END_TEST

START_TEST(a_newer_database_is_refused)
{
    dbtest_exec(db, "INSERT INTO x_schema (version, applied_time)"
                    " VALUES (1000, 1)");
    ck_assert_int_eq(db_schema_version(db), 1000);
    ck_assert_int_eq(db_schema_migrate(db, folder()), -1);
}
END_TEST

START_TEST(a_bad_file_of_statements_fails)
{
    char path[] = "test_schema.XXXXXX";
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(file_write_all(fd, "-- nothing\nDO 1\n", 16), 0);
    close(fd);
    ck_assert_int_eq(db_schema_load(db, path), -1); /* no ';' */
    unlink(path);
    ck_assert_int_eq(db_schema_load(db, path), -1); /* no file */
}
END_TEST

static const struct workunit a_workunit = {
    .name = "wu",
    .appid = 1,
    .transition_time = 2147483647,
    .size_class = -1,
};
static const struct result a_result = {
    .name = "wu_0",
    .workunitid = 1,
    .appid = 1,
    .size_class = -1,
};

START_TEST(ids_may_outgrow_32_bits)
{
    struct workunit wu = a_workunit;
    struct result r = a_result;

    wu.id = wu.canonical_resultid = r.id = r.workunitid = INT64_C(5000000000);
    ck_assert_int_eq(dbtest_workunit(db, &wu), wu.id);
    ck_assert_int_eq(dbtest_result(db, &r), r.id);
    ck_assert_int_eq(dbtest_i64(db, "SELECT r.id FROM workunit AS w"
                                    " JOIN result AS r ON r.workunitid = w.id"
                                    " WHERE w.canonical_resultid = r.id"),
                     INT64_C(5000000000));
    str_copy(r.name, sizeof(r.name), "wu_1");
    r.id = 0;
    ck_assert_int_eq(dbtest_result(db, &r), INT64_C(5000000001));
}
END_TEST

/* ---- an old project ----------------------------------------------------- */

START_TEST(an_old_project_gets_our_steps)
{
    ck_assert_int_eq(db_schema_version(db), 0);
    ck_assert_int_eq(db_schema_migrate(db, folder()), N_STEPS);
    ck_assert_int_eq(db_schema_version(db), DB_SCHEMA_NEWEST);
    for (size_t i = 0; i < ARRAY_LEN(indexes); i++)
        if (strcmp(indexes[i].table, "host_app_version") != 0)
            check_index(i);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM latest_consent"), 0);
    ck_assert_int_eq(db_schema_migrate(db, folder()), 0);
}
END_TEST

START_TEST(a_step_cut_short_is_begun_again)
{
    dbtest_exec(db, "CREATE INDEX x_res_feed ON result (server_state,"
                    " priority DESC, workunitid)");
    ck_assert_int_eq(db_schema_migrate(db, folder()), N_STEPS);
    dbtest_exec(db, "DELETE FROM x_schema WHERE version = 2");
    dbtest_exec(db, "DROP INDEX x_asgn_wu ON assignment");
    ck_assert_int_eq(db_schema_migrate(db, folder()), 1);
    ck_assert_int_eq(db_schema_version(db), DB_SCHEMA_NEWEST);
}
END_TEST

START_TEST(credit_of_purged_results_is_taken_over)
{
    struct result r = {.name = "a_0",
                       .userid = dbtest_user(db, "Alice"),
                       .validate_state = VALIDATE_VALID,
                       .granted_credit = 25};

    r.hostid = dbtest_host(db, r.userid);
    dbtest_result(db, &r);
    dbtest_exec(db, "UPDATE user SET total_credit = 100");
    dbtest_exec(db, "UPDATE host SET total_credit = 25");
    ck_assert_int_eq(db_schema_migrate(db, folder()), N_STEPS);
    ck_assert_double_eq(
        dbtest_double(db, "SELECT credit FROM x_credit_base WHERE kind = 1"),
        75);
    ck_assert_double_eq(
        dbtest_double(db, "SELECT credit FROM x_credit_base WHERE kind = 2"),
        0);
}
END_TEST

START_TEST(a_missing_step_is_not_skipped)
{
    ck_assert_int_eq(db_schema_migrate(db, "/nowhere"), -1);
    ck_assert_int_eq(db_schema_version(db), 0);
}
END_TEST

START_TEST(ids_of_32_bits_work_as_they_are)
{
    struct db_query *q;
    struct workunit wu = a_workunit;
    struct result r = a_result;

    wu.id = r.workunitid = r.id = 2147483647;
    ck_assert_int_eq(dbtest_workunit(db, &wu), 2147483647);
    ck_assert_int_eq(dbtest_result(db, &r), 2147483647);
    q = db_prepare(db, "SELECT id, workunitid FROM result"
                       " WHERE workunitid = ?");
    ck_assert_int_eq(db_bind_i64(q, 0, 2147483647), 0);
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_int_eq(db_col_i64(q, 0), 2147483647);
    ck_assert_int_eq(db_col_i64(q, 1), 2147483647);
    /* an id that cannot be there is no error */
    ck_assert_int_eq(db_bind_i64(q, 0, INT64_C(5000000000)), 0);
    ck_assert_int_eq(db_step(q), DB_NONE);
    db_finish(q);
    /* one that does not fit is never cut */
    q = db_prepare(db, "UPDATE workunit SET canonical_resultid = ?"
                       " WHERE id = ?");
    ck_assert_int_eq(db_bind_i64(q, 0, INT64_C(5000000000)), 0);
    ck_assert_int_eq(db_bind_i64(q, 1, 2147483647), 0);
    ck_assert_int_eq(db_step(q), -1);
    db_finish(q);
    ck_assert_int_eq(dbtest_i64(db, "SELECT canonical_resultid FROM workunit"),
                     0);
}
END_TEST

static Suite *
schema_suite(void)
{
    Suite *s = suite_create("schema");
    TCase *fresh = tcase_create("new project");
    TCase *old = tcase_create("old project");

    tcase_set_timeout(fresh, 60);
    tcase_add_checked_fixture(fresh, new_project, disconnect);
    tcase_add_test(fresh, tables_are_those_of_the_specification);
    tcase_add_test(fresh, core_columns_say_what_they_are_and_who_writes_them);
    tcase_add_test(fresh, all_tables_are_transactional_and_speak_utf8);
    tcase_add_test(fresh, indexes_are_those_of_the_specification);
    tcase_add_test(fresh, the_newest_consent_counts);
    tcase_add_test(fresh, a_new_project_has_all_steps);
    tcase_add_test(fresh, a_newer_database_is_refused);
    tcase_add_test(fresh, a_bad_file_of_statements_fails);
    tcase_add_test(fresh, ids_may_outgrow_32_bits);
    suite_add_tcase(s, fresh);
    tcase_set_timeout(old, 60);
    tcase_add_checked_fixture(old, old_project, disconnect);
    tcase_add_test(old, an_old_project_gets_our_steps);
    tcase_add_test(old, a_step_cut_short_is_begun_again);
    tcase_add_test(old, credit_of_purged_results_is_taken_over);
    tcase_add_test(old, a_missing_step_is_not_skipped);
    tcase_add_test(old, ids_of_32_bits_work_as_they_are);
    suite_add_tcase(s, old);
    return s;
}

int
main(void)
{
    return dbtest_run(schema_suite());
}

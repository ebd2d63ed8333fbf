/* test_db.c - connection, statements, columns, transactions, on a server. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "db_private.h"
#include "dbtest.h"

static struct db *db;

static void
connect_and_make_table(void)
{
    db = dbtest_open();
    dbtest_exec(db, "CREATE OR REPLACE TABLE t (id bigint AUTO_INCREMENT"
                    " PRIMARY KEY, small int, d double, name varchar(50)"
                    " UNIQUE, doc mediumblob)");
}

static void
disconnect(void)
{
    db_close(db);
}

/* ---- values ------------------------------------------------------------- */

START_TEST(values_come_back_as_they_went)
{
    struct db_query *q = db_prepare(db, "INSERT INTO t (id, small, d, name,"
                                        " doc) VALUES (?, ?, ?, ?, ?)");
    size_t len;

    ck_assert_ptr_nonnull(q);
    ck_assert_int_eq(db_bind_i64(q, 0, INT64_C(5000000000)), 0);
    ck_assert_int_eq(db_bind_i64(q, 1, -7), 0);
    ck_assert_int_eq(db_bind_double(q, 2, 0.1), 0);
    ck_assert_int_eq(db_bind_text(q, 3, "it's; \xc3\xa4 \xf0\x9f\x99\x82"), 0);
    ck_assert_int_eq(db_bind_blob(q, 4, "a\0b", 3), 0);
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_int_eq(db_affected(q), 1);
    db_finish(q);

    q = db_prepare(db, "SELECT id, small, d, name, doc FROM t");
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_int_eq(db_col_i64(q, 0), INT64_C(5000000000));
    ck_assert_int_eq(db_col_i64(q, 1), -7);
    ck_assert(db_col_double(q, 2) == 0.1);
    ck_assert_str_eq(db_col_text(q, 3), "it's; \xc3\xa4 \xf0\x9f\x99\x82");
    ck_assert_mem_eq(db_col_blob(q, 4, &len), "a\0b", 4);
    ck_assert_uint_eq(len, 3);
    ck_assert_int_eq(db_step(q), DB_NONE);
    ck_assert_int_eq(db_step(q), DB_NONE);
    db_finish(q);
}
END_TEST

START_TEST(null_is_known_and_reads_as_nothing)
{
    struct db_query *q;
    char copy[5] = "old";

    dbtest_exec(db, "INSERT INTO t (small, name) VALUES (NULL, NULL)");
    q = db_prepare(db, "SELECT small, d, name, id FROM t");
    ck_assert_int_eq(db_step(q), 0);
    ck_assert(db_col_is_null(q, 0));
    ck_assert(!db_col_is_null(q, 3));
    ck_assert_int_eq(db_col_i64(q, 0), 0);
    ck_assert(db_col_double(q, 1) == 0);
    ck_assert_str_eq(db_col_text(q, 2), "");
    db_col_copy(q, 2, copy, sizeof(copy));
    ck_assert_str_eq(copy, "");
    db_finish(q);

    q = db_prepare(db, "SELECT COUNT(*) FROM t WHERE ? IS NULL");
    ck_assert_int_eq(db_bind_text(q, 0, NULL), 0);
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_int_eq(db_col_i64(q, 0), 1);
    db_finish(q);
}
END_TEST

START_TEST(a_short_row_after_a_long_one)
{
    static const size_t sizes[] = {0, 255, 256, 257, 70000, 1, 1000000, 3};
    struct db_query *q;
    char *big = xmalloc(1000000);

    memset(big, 'x', 1000000);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        q = db_prepare(db, "INSERT INTO t (id, doc) VALUES (?, ?)");
        ck_assert_int_eq(db_bind_i64(q, 0, (int64_t)i + 1), 0);
        ck_assert_int_eq(db_bind_blob(q, 1, big, sizes[i]), 0);
        ck_assert_int_eq(db_step(q), 0);
        db_finish(q);
    }
    q = db_prepare(db, "SELECT doc FROM t ORDER BY id");
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        size_t len;

        ck_assert_int_eq(db_step(q), 0);
        ck_assert_mem_eq(db_col_blob(q, 0, &len), big, sizes[i]);
        ck_assert_uint_eq(len, sizes[i]);
        ck_assert_uint_eq(strlen(db_col_text(q, 0)), sizes[i]);
    }
    ck_assert_int_eq(db_step(q), DB_NONE);
    db_finish(q);
    free(big);
}
END_TEST

START_TEST(numbers_convert)
{
    struct db_query *q = db_prepare(
        db, "SELECT 41 + 1, 2.5e0, SUM(x), '17', CAST(1.5 AS DECIMAL(4, 1))"
            " FROM (SELECT 9007199254740993 AS x) AS one");

    ck_assert_int_eq(db_step(q), 0);
    ck_assert_str_eq(db_col_text(q, 0), "42");
    ck_assert(db_col_double(q, 0) == 42);
    ck_assert_int_eq(db_col_i64(q, 1), 2);
    ck_assert_str_eq(db_col_text(q, 1), "2.5");
    /* 2^53 + 1, which no double can hold */
    ck_assert_int_eq(db_col_i64(q, 2), INT64_C(9007199254740993));
    ck_assert_int_eq(db_col_i64(q, 3), 17);
    ck_assert(db_col_double(q, 4) == 1.5);
    db_finish(q);
}
END_TEST

START_TEST(text_is_cut_at_a_character)
{
    struct db_query *q = db_prepare(db, "SELECT 'ab\xc3\xa4'");
    char three[4];

    ck_assert_int_eq(db_step(q), 0);
    db_col_copy(q, 0, three, sizeof(three));
    ck_assert_str_eq(three, "ab");
    db_finish(q);
}
END_TEST

START_TEST(only_finite_numbers_are_bound)
{
    struct db_query *q = db_prepare(db, "INSERT INTO t (d) VALUES (?)");

    ck_assert_int_eq(db_bind_double(q, 0, strtod("nan", NULL)), -1);
    ck_assert_int_eq(db_bind_double(q, 0, strtod("inf", NULL)), -1);
    ck_assert_int_eq(db_step(q), -1);              /* nothing is bound */
    ck_assert_int_eq(db_bind_double(q, 1, 1), -1); /* there is no second */
    db_finish(q);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM t"), 0);
}
END_TEST

/* ---- answers ------------------------------------------------------------ */

START_TEST(affected_counts_the_rows_that_matched)
{
    struct db_query *q;

    dbtest_exec(db, "INSERT INTO t (id, small) VALUES (1, 5), (2, 5), (3, 6)");
    q = db_prepare(db, "UPDATE t SET small = 5 WHERE small = 5");
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_int_eq(db_affected(q), 2); /* though none has changed */
    db_finish(q);
    q = db_prepare(db, "UPDATE t SET small = 1 WHERE small = 99");
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_int_eq(db_affected(q), 0);
    db_finish(q);
}
END_TEST

START_TEST(the_first_id_of_several_is_told)
{
    struct db_query *q =
        db_prepare(db, "INSERT INTO t (small) VALUES (1), (2), (3)");
    int64_t first;

    ck_assert_int_eq(db_step(q), 0);
    first = db_insert_id(q);
    db_finish(q);
    ck_assert_int_eq(dbtest_i64(db, "SELECT MIN(id) FROM t"), first);
    ck_assert_int_eq(dbtest_i64(db, "SELECT MAX(id) FROM t"), first + 2);
}
END_TEST

START_TEST(a_taken_name_is_an_answer)
{
    struct db_query *q = db_prepare(db, "INSERT INTO t (name) VALUES (?)");

    ck_assert_int_eq(db_bind_text(q, 0, "same"), 0);
    ck_assert_int_eq(db_step(q), 0);
    ck_assert_int_eq(db_bind_text(q, 0, "same"), 0);
    ck_assert_int_eq(db_step(q), DB_EXISTS);
    ck_assert_int_eq(db_bind_text(q, 0, "other"), 0);
    ck_assert_int_eq(db_step(q), 0);
    db_finish(q);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM t"), 2);
    ck_assert(!db_is_lost(db));
}
END_TEST

START_TEST(wrong_sql_fails_and_harms_nothing)
{
    ck_assert_ptr_null(db_prepare(db, "SELECT nothing FROM nowhere"));
    ck_assert_int_eq(db_exec(db, "NONSENSE"), -1);
    ck_assert(!db_is_lost(db));
    ck_assert_int_eq(dbtest_i64(db, "SELECT 1"), 1);
}
END_TEST

START_TEST(strict_mode_refuses_what_does_not_fit)
{
    struct db_query *q = db_prepare(db, "INSERT INTO t (small) VALUES (?)");

    ck_assert_int_eq(db_bind_i64(q, 0, INT64_C(1) << 31), 0);
    ck_assert_int_eq(db_step(q), -1);
    db_finish(q);
}
END_TEST

START_TEST(the_session_is_set)
{
    char *zone = dbtest_text(db, "SELECT @@session.time_zone");
    char *level = dbtest_text(db, "SELECT @@session.tx_isolation");
    char *charset = dbtest_text(db, "SELECT @@character_set_client");

    ck_assert_str_eq(zone, "+00:00");
    ck_assert_str_eq(level, "READ-COMMITTED");
    ck_assert_str_eq(charset, "utf8mb4");
    free(zone);
    free(level);
    free(charset);
}
END_TEST

/* ---- cache -------------------------------------------------------------- */

START_TEST(a_text_is_prepared_once)
{
    for (int i = 0; i < 10; i++)
        ck_assert_int_eq(dbtest_i64(db, "SELECT 1"), 1);
    ck_assert_int_eq(dbtest_i64(db,
                                "SELECT variable_value FROM"
                                " information_schema.session_status"
                                " WHERE variable_name = 'COM_STMT_PREPARE'"),
                     2);
}
END_TEST

START_TEST(one_text_may_be_open_twice)
{
    static const char sql[] = "SELECT id FROM t WHERE id >= ? ORDER BY id";
    struct db_query *a, *b;

    dbtest_exec(db, "INSERT INTO t (id) VALUES (1), (2)");
    a = db_prepare(db, sql);
    b = db_prepare(db, sql);
    ck_assert_ptr_ne(a, b);
    db_bind_i64(a, 0, 1);
    db_bind_i64(b, 0, 2);
    ck_assert_int_eq(db_step(a), 0);
    ck_assert_int_eq(db_step(b), 0);
    ck_assert_int_eq(db_col_i64(a, 0), 1);
    ck_assert_int_eq(db_col_i64(b, 0), 2);
    ck_assert_int_eq(db_step(a), 0);
    ck_assert_int_eq(db_col_i64(a, 0), 2);
    db_finish(a);
    db_finish(b);
}
END_TEST

START_TEST(many_texts_do_not_pile_up_on_the_server)
{
    for (int i = 0; i < 200; i++) {
        struct buf sql = BUF_INIT;

        buf_addf(&sql, "SELECT %d", i);
        ck_assert_int_eq(dbtest_i64(db, sql.data), i);
        buf_free(&sql);
    }
    /* of this connection: other tests may use the same server */
    ck_assert_int_le(dbtest_i64(db,
                                "SELECT p.variable_value - c.variable_value"
                                " FROM information_schema.session_status p,"
                                " information_schema.session_status c"
                                " WHERE p.variable_name = 'COM_STMT_PREPARE'"
                                " AND c.variable_name = 'COM_STMT_CLOSE'"),
                     65);
}
END_TEST

START_TEST(placeholders_for_lists)
{
    struct buf b = BUF_INIT;

    db_placeholders(&b, 3);
    ck_assert_str_eq(b.data, "?, ?, ?");
    buf_reset(&b);
    db_placeholder_rows(&b, 2, 2);
    ck_assert_str_eq(b.data, "(?, ?), (?, ?)");
    buf_free(&b);
}
END_TEST

/* ---- addresses and versions --------------------------------------------- */

static const struct {
    const char *text, *host, *socket;
    unsigned port;
} addresses[] = {
    {"",                        NULL,             NULL,                      0   },
    {"localhost",               "localhost",      NULL,                      0   },
    {"db.example.org",          "db.example.org", NULL,                      0   },
    {"db.example.org:3307",     "db.example.org", NULL,                      3307},
    {"/run/mysqld/mysqld.sock", NULL,             "/run/mysqld/mysqld.sock", 0   },
    {"localhost:/tmp/db.sock",  "localhost",      "/tmp/db.sock",            0   },
    {"[::1]:3306",              "::1",            NULL,                      3306},
    {"[::1]",                   "::1",            NULL,                      0   },
    {"fe80::1",                 "fe80::1",        NULL,                      0   },
};

START_TEST(a_host_may_be_written_in_many_ways)
{
    struct db_address a = {NULL, NULL, 0};

    db_parse_host(addresses[_i].text, &a);
    ck_assert_pstr_eq(a.host, addresses[_i].host);
    ck_assert_pstr_eq(a.socket, addresses[_i].socket);
    ck_assert_uint_eq(a.port, addresses[_i].port);
    free(a.host);
    free(a.socket);
}
END_TEST

static const struct {
    const char *version;
    bool knows;
} versions[] = {
    {"10.5.23-MariaDB",                 false},
    {"10.6.0-MariaDB",                  true },
    {"5.5.5-10.11.6-MariaDB-0+deb12u1", true },
    {"5.5.5-10.3.39-MariaDB",           false},
    {"11.8.2-MariaDB",                  true },
    {"5.7.44",                          false},
    {"8.0.36-0ubuntu0.22.04.1",         true },
};

START_TEST(skip_locked_depends_on_the_version)
{
    ck_assert_int_eq(db_knows_skip_locked(versions[_i].version),
                     versions[_i].knows);
}
END_TEST

/* ---- transactions ------------------------------------------------------- */

static int
insert_and_say(struct db *d, void *arg)
{
    struct db_query *q = db_prepare(d, "INSERT INTO t (id) VALUES (1)");

    ck_assert_int_eq(db_step(q), 0);
    db_finish(q);
    return *(int *)arg;
}

static const struct {
    int says, rows;
} outcomes[] = {
    {0,  1},
    {-1, 0},
    {7,  0},
};

START_TEST(only_zero_commits)
{
    int says = outcomes[_i].says;

    ck_assert_int_eq(db_transaction(db, insert_and_say, &says), says);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM t"),
                     outcomes[_i].rows);
}
END_TEST

struct collision {
    struct db *other;
    int runs;
};

static int
set_small(struct db *d, int64_t id, int64_t v)
{
    struct db_query *q = db_prepare(d, "UPDATE t SET small = ? WHERE id = ?");
    int rc = -1;

    if (q != NULL && db_bind_i64(q, 0, v) == 0 && db_bind_i64(q, 1, id) == 0)
        rc = db_step(q);
    db_finish(q);
    return rc;
}

/* In the first run the row is locked by somebody else, who lets go later; the
 * statement after the time-out must not run outside a transaction. */
static int
meet_a_lock(struct db *d, void *arg)
{
    struct collision *c = arg;

    if (c->runs++ == 0) {
        dbtest_exec(d, "SET innodb_lock_wait_timeout = 1");
        ck_assert_int_eq(set_small(d, 2, 20), 0);
        ck_assert_int_eq(set_small(d, 1, 10), -1);
        ck_assert_int_eq(db_exec(d, "INSERT INTO t (id) VALUES (3)"), -1);
        db_rollback(c->other);
        return -1;
    }
    return set_small(d, 1, 10);
}

START_TEST(after_a_lock_time_out_all_is_done_again)
{
    struct collision c = {.other = dbtest_open()};

    dbtest_exec(db, "INSERT INTO t (id, small) VALUES (1, 0), (2, 0)");
    ck_assert_int_eq(db_begin(c.other), 0);
    ck_assert_int_eq(set_small(c.other, 1, 99), 0);
    ck_assert_int_eq(db_transaction(db, meet_a_lock, &c), 0);
    ck_assert_int_eq(c.runs, 2);
    ck_assert_int_eq(dbtest_i64(db, "SELECT small FROM t WHERE id = 1"), 10);
    ck_assert_int_eq(dbtest_i64(db, "SELECT small FROM t WHERE id = 2"), 0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM t"), 2);
    db_close(c.other);
}
END_TEST

/* Each of two processes adds 1 to two rows, in opposite order, many times. */
static int
add_to_both(struct db *d, void *arg)
{
    static const char *const sql[] = {
        "UPDATE t SET small = small + 1 WHERE id = 1",
        "UPDATE t SET small = small + 1 WHERE id = 2",
    };
    int first = *(int *)arg;

    for (int i = 0; i < 2; i++) {
        struct db_query *q = db_prepare(d, sql[first ^ i]);
        int rc = q == NULL ? -1 : db_step(q);

        db_finish(q);
        if (rc != 0)
            return -1;
    }
    return 0;
}

START_TEST(deadlocks_are_solved_by_doing_it_again)
{
    enum { ROUNDS = 100 };
    int first, status;
    pid_t pid;

    dbtest_exec(db, "INSERT INTO t (id, small) VALUES (1, 0), (2, 0)");
    pid = fork();
    first = pid == 0;
    if (pid == 0)
        db = dbtest_open(); /* a connection cannot be shared */
    for (int i = 0; i < ROUNDS; i++)
        if (db_transaction(db, add_to_both, &first) != 0)
            _exit(1);
    if (pid == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT small FROM t WHERE id = 1"),
                     2 * ROUNDS);
    ck_assert_int_eq(dbtest_i64(db, "SELECT small FROM t WHERE id = 2"),
                     2 * ROUNDS);
}
END_TEST

static int
set_first(struct db *d, void *arg)
{
    int *runs = arg;

    (*runs)++;
    return set_small(d, 1, 5);
}

START_TEST(who_never_waits_for_locks_collides_and_tries_again)
{
    struct db *other = dbtest_open();
    int runs = 0;
    pid_t pid;

    dbtest_exec(db, "INSERT INTO t (id, small) VALUES (1, 0)");
    ck_assert_int_eq(db_set_lock_wait(db, 0), 0);
    pid = fork();
    if (pid == 0) {
        struct db *third = dbtest_open();

        if (db_begin(third) != 0 || set_small(third, 1, 9) != 0)
            _exit(1);
        usleep(300000);
        _exit(db_commit(third) == 0 ? 0 : 1);
    }
    usleep(100000);
    ck_assert_int_eq(set_small(db, 1, 4), DB_BUSY); /* no transaction */
    ck_assert_int_eq(db_transaction(db, set_first, &runs), 0);
    ck_assert_int_gt(runs, 1);
    ck_assert_int_eq(dbtest_i64(other, "SELECT small FROM t WHERE id = 1"), 5);
    ck_assert_uint_eq(db_deadlocks(), 0);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    db_close(other);
}
END_TEST

START_TEST(a_locked_row_is_an_answer_to_nowait)
{
    struct db *other = dbtest_open();
    struct db_query *q;

    dbtest_exec(db, "INSERT INTO t (id, small) VALUES (1, 0), (2, 0)");
    ck_assert_int_eq(db_begin(other), 0);
    ck_assert_int_eq(set_small(other, 1, 9), 0);
    ck_assert_int_eq(db_begin(db), 0);
    q = db_prepare(db, "SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT");
    ck_assert_int_eq(db_step(q), DB_BUSY);
    db_finish(q);
    if (db_has_skip_locked(db)) {
        q = db_prepare(db, "SELECT id FROM t ORDER BY id FOR UPDATE"
                           " SKIP LOCKED");
        ck_assert_int_eq(db_step(q), 0);
        ck_assert_int_eq(db_col_i64(q, 0), 2);
        db_finish(q);
    }
    ck_assert_int_eq(set_small(db, 2, 5), 0); /* the transaction lives */
    ck_assert_int_eq(db_commit(db), 0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT small FROM t WHERE id = 2"), 5);
    db_close(other);
}
END_TEST

/* ---- lost connections --------------------------------------------------- */

static void
kill_connection(void)
{
    struct db *killer = dbtest_open();
    struct buf sql = BUF_INIT;

    buf_addf(&sql, "KILL %lld",
             (long long)dbtest_i64(db, "SELECT CONNECTION_ID()"));
    dbtest_exec(killer, sql.data);
    buf_free(&sql);
    db_close(killer);
}

START_TEST(a_lost_connection_is_known_and_made_again)
{
    struct db_query *q = db_prepare(db, "SELECT id FROM t");

    kill_connection();
    ck_assert_int_eq(db_step(q), -1);
    ck_assert(db_is_lost(db));
    ck_assert_ptr_null(db_prepare(db, "SELECT 1"));
    ck_assert_int_eq(db_exec(db, "DO 1"), -1);
    ck_assert_int_eq(db_reconnect(db, NULL, 3), 0);
    ck_assert(!db_is_lost(db));
    ck_assert_int_eq(db_step(q), -1); /* of the old connection */
    db_finish(q);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM t"), 0);
}
END_TEST

static int
die_in_the_middle(struct db *d, void *arg)
{
    (void)arg;
    dbtest_exec(d, "INSERT INTO t (id) VALUES (1)");
    kill_connection();
    return db_exec(d, "INSERT INTO t (id) VALUES (2)");
}

START_TEST(a_transaction_dies_with_its_connection)
{
    ck_assert_int_eq(db_transaction(db, die_in_the_middle, NULL), -1);
    ck_assert(db_is_lost(db));
    ck_assert_int_eq(db_reconnect(db, NULL, 1), 0);
    ck_assert_int_eq(dbtest_i64(db, "SELECT COUNT(*) FROM t"), 0);
}
END_TEST

START_TEST(reconnecting_gives_up)
{
    static volatile int stop = 1;

    ck_assert_int_eq(db_reconnect(db, &stop, 0), -1);
    ck_assert_ptr_null(db_open_params("/nowhere/db.sock", "u", "p", "n"));
}
END_TEST

/* Not more than a second of patience. */
START_TEST(a_server_that_hangs_is_lost)
{
    ck_assert_int_eq(db_set_patience(db, 1), 0);
    ck_assert_int_eq(db_exec(db, "DO SLEEP(10)"), -1);
    ck_assert(db_is_lost(db));
}
END_TEST

static Suite *
db_suite(void)
{
    Suite *s = suite_create("db");
    TCase *tc = tcase_create("db");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, connect_and_make_table, disconnect);
    tcase_add_test(tc, values_come_back_as_they_went);
    tcase_add_test(tc, null_is_known_and_reads_as_nothing);
    tcase_add_test(tc, a_short_row_after_a_long_one);
    tcase_add_test(tc, numbers_convert);
    tcase_add_test(tc, text_is_cut_at_a_character);
    tcase_add_test(tc, only_finite_numbers_are_bound);
    tcase_add_test(tc, affected_counts_the_rows_that_matched);
    tcase_add_test(tc, the_first_id_of_several_is_told);
    tcase_add_test(tc, a_taken_name_is_an_answer);
    tcase_add_test(tc, wrong_sql_fails_and_harms_nothing);
    tcase_add_test(tc, strict_mode_refuses_what_does_not_fit);
    tcase_add_test(tc, the_session_is_set);
    tcase_add_test(tc, a_text_is_prepared_once);
    tcase_add_test(tc, one_text_may_be_open_twice);
    tcase_add_test(tc, many_texts_do_not_pile_up_on_the_server);
    tcase_add_test(tc, placeholders_for_lists);
    tcase_add_loop_test(tc, a_host_may_be_written_in_many_ways, 0,
                        ARRAY_LEN(addresses));
    tcase_add_loop_test(tc, skip_locked_depends_on_the_version, 0,
                        ARRAY_LEN(versions));
    tcase_add_loop_test(tc, only_zero_commits, 0, ARRAY_LEN(outcomes));
    tcase_add_test(tc, after_a_lock_time_out_all_is_done_again);
    tcase_add_test(tc, deadlocks_are_solved_by_doing_it_again);
    tcase_add_test(tc, who_never_waits_for_locks_collides_and_tries_again);
    tcase_add_test(tc, a_locked_row_is_an_answer_to_nowait);
    tcase_add_test(tc, a_lost_connection_is_known_and_made_again);
    tcase_add_test(tc, a_transaction_dies_with_its_connection);
    tcase_add_test(tc, reconnecting_gives_up);
    tcase_add_test(tc, a_server_that_hangs_is_lost);
    suite_add_tcase(s, tc);
    return s;
}

int
main(void)
{
    return dbtest_run(db_suite());
}

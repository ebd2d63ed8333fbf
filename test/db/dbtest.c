/* dbtest.c - what the tests of db/ share. */
#include "dbtest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

struct db *
dbtest_open(void)
{
    const char *socket = getenv("QUORATE_TEST_DB_SOCKET");
    struct db *db;

    if (socket == NULL) {
        fprintf(stderr, "run it by: with-mariadb PROGRAM\n");
        exit(99);
    }
    db = db_open_params(socket, getenv("QUORATE_TEST_DB_USER"),
                        getenv("QUORATE_TEST_DB_PASSWD"),
                        getenv("QUORATE_TEST_DB_NAME"));
    ck_assert_ptr_nonnull(db);
    return db;
}

void
dbtest_exec(struct db *db, const char *sql)
{
    ck_assert_msg(db_exec(db, sql) == 0, "failed: %s", sql);
}

/* The statements are made while the list of tables is read: each is a row of
 * that list, so no name is put into SQL here. */
void
dbtest_empty(struct db *db)
{
    static const char sql[] =
        "SELECT CONCAT('TRUNCATE TABLE `', table_name, '`')"
        " FROM information_schema.tables"
        " WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
        " AND table_name NOT IN ('x_schema', 'consent_type')"
        " AND (table_rows > 0 OR auto_increment > 1)";
    struct db_query *q = db_prepare(db, sql);
    struct buf all = BUF_INIT;

    ck_assert_ptr_nonnull(q);
    buf_add(&all, ""); /* an empty database: no statements */
    while (db_step(q) == 0)
        buf_addf(&all, "%s\n", db_col_text(q, 0));
    db_finish(q);
    dbtest_exec(db, "SET foreign_key_checks = 0");
    for (char *s = strtok(all.data, "\n"); s != NULL; s = strtok(NULL, "\n"))
        dbtest_exec(db, s);
    dbtest_exec(db, "SET foreign_key_checks = 1");
    buf_free(&all);
}

static struct db_query *
first_row(struct db *db, const char *sql)
{
    struct db_query *q = db_prepare(db, sql);

    ck_assert_msg(q != NULL && db_step(q) == 0, "no row: %s", sql);
    return q;
}

int64_t
dbtest_i64(struct db *db, const char *sql)
{
    struct db_query *q = first_row(db, sql);
    int64_t v = db_col_i64(q, 0);

    db_finish(q);
    return v;
}

double
dbtest_double(struct db *db, const char *sql)
{
    struct db_query *q = first_row(db, sql);
    double v = db_col_double(q, 0);

    db_finish(q);
    return v;
}

char *
dbtest_text(struct db *db, const char *sql)
{
    struct db_query *q = first_row(db, sql);
    char *v = db_col_dup(q, 0);

    db_finish(q);
    return v;
}

/* ---- rows --------------------------------------------------------------- */

/* One parameter after the other. */
struct filler {
    struct db_query *q;
    unsigned next;
};

static void
put_i(struct filler *f, int64_t v)
{
    ck_assert_int_eq(db_bind_i64(f->q, f->next++, v), 0);
}

static void
put_d(struct filler *f, double v)
{
    ck_assert_int_eq(db_bind_double(f->q, f->next++, v), 0);
}

static void
put_s(struct filler *f, const char *v)
{
    ck_assert_int_eq(db_bind_text(f->q, f->next++, v != NULL ? v : ""), 0);
}

static struct filler
begin(struct db *db, const char *sql)
{
    struct filler f = {.q = db_prepare(db, sql)};

    ck_assert_ptr_nonnull(f.q);
    return f;
}

static int64_t
insert(struct filler *f)
{
    int64_t id;

    ck_assert_int_eq(db_step(f->q), 0);
    id = db_insert_id(f->q);
    db_finish(f->q);
    return id;
}

int64_t
dbtest_app(struct db *db, const char *name)
{
    struct filler f = begin(db, "INSERT INTO app (create_time, name,"
                                " user_friendly_name) VALUES (1, ?, ?)");

    put_s(&f, name);
    put_s(&f, name);
    return insert(&f);
}

int64_t
dbtest_platform(struct db *db, const char *name)
{
    struct filler f = begin(db, "INSERT INTO platform (create_time, name,"
                                " user_friendly_name) VALUES (1, ?, ?)");

    put_s(&f, name);
    put_s(&f, name);
    return insert(&f);
}

int64_t
dbtest_app_version(struct db *db, int64_t appid, int64_t platformid,
                   int version_num)
{
    struct filler f = begin(db, "INSERT INTO app_version (create_time, appid,"
                                " platformid, version_num, xml_doc)"
                                " VALUES (1, ?, ?, ?, '')");

    put_i(&f, appid);
    put_i(&f, platformid);
    put_i(&f, version_num);
    return insert(&f);
}

int64_t
dbtest_user(struct db *db, const char *name)
{
    struct filler f = begin(
        db, "INSERT INTO user (create_time, email_addr, name, authenticator,"
            " country, total_credit, expavg_credit, expavg_time, teamid,"
            " venue, send_email, show_hosts, posts, seti_id, seti_nresults,"
            " seti_last_result_time, seti_total_cpu, has_profile,"
            " cross_project_id, passwd_hash, email_validated, donated)"
            " VALUES (1, ?, ?, ?, 'None', 0, 0, 0, 0, '', 1, 1, 0, 0, 0, 0,"
            " 0, 0, MD5(?), '', 0, 0)");

    for (int i = 0; i < 4; i++)
        put_s(&f, name);
    return insert(&f);
}

int64_t
dbtest_host(struct db *db, int64_t userid)
{
    struct filler f = begin(
        db, "INSERT INTO host (create_time, userid, rpc_seqno, rpc_time,"
            " total_credit, expavg_credit, expavg_time, timezone,"
            " domain_name, serialnum, last_ip_addr, nsame_ip_addr, on_frac,"
            " connected_frac, active_frac, cpu_efficiency,"
            " duration_correction_factor, p_ncpus, p_vendor, p_model, p_fpops,"
            " p_iops, p_membw, os_name, os_version, m_nbytes, m_cache, m_swap,"
            " d_total, d_free, d_boinc_used_total, d_boinc_used_project,"
            " d_boinc_max, n_bwup, n_bwdown, credit_per_cpu_sec, venue,"
            " nresults_today, avg_turnaround, host_cpid, external_ip_addr,"
            " max_results_day, error_rate, product_name, gpu_active_frac,"
            " p_ngpus, p_gpu_fpops, misc)"
            " VALUES (1, ?, 0, 0, 0, 0, 0, 0, 'host', '', '127.0.0.1', 0, 1,"
            " -1, 1, 0, 1, 4, 'Vendor', 'Model', 1e9, 1e9, 1e9, 'Linux', '6',"
            " 8e9, 1e6, 8e9, 1e11, 5e10, 0, 0, 0, 1e6, 1e6, 0, '', 0, 0, '',"
            " '', 0, 0, '', 1, 0, 0, '')");

    put_i(&f, userid);
    return insert(&f);
}

int64_t
dbtest_workunit(struct db *db, const struct workunit *wu)
{
    struct filler f = begin(
        db,
        "INSERT INTO workunit (id, create_time, appid, name, xml_doc, batch,"
        " rsc_fpops_est, rsc_fpops_bound, rsc_memory_bound, rsc_disk_bound,"
        " need_validate, canonical_resultid, canonical_credit,"
        " transition_time, delay_bound, error_mask, file_delete_state,"
        " assimilate_state, hr_class, opaque, min_quorum, target_nresults,"
        " max_error_results, max_total_results, max_success_results,"
        " result_template_file, priority, rsc_bandwidth_bound, fileset_id,"
        " app_version_id, transitioner_flags, size_class, keywords,"
        " app_version_num) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)");
    int64_t id;

    put_i(&f, wu->id);
    put_i(&f, wu->create_time);
    put_i(&f, wu->appid);
    put_s(&f, wu->name);
    put_s(&f, wu->xml_doc);
    put_i(&f, wu->batch);
    put_d(&f, wu->rsc_fpops_est);
    put_d(&f, wu->rsc_fpops_bound);
    put_d(&f, wu->rsc_memory_bound);
    put_d(&f, wu->rsc_disk_bound);
    put_i(&f, wu->need_validate);
    put_i(&f, wu->canonical_resultid);
    put_d(&f, wu->canonical_credit);
    put_i(&f, wu->transition_time);
    put_i(&f, wu->delay_bound);
    put_i(&f, wu->error_mask);
    put_i(&f, wu->file_delete_state);
    put_i(&f, wu->assimilate_state);
    put_i(&f, wu->hr_class);
    put_d(&f, wu->opaque);
    put_i(&f, wu->min_quorum);
    put_i(&f, wu->target_nresults);
    put_i(&f, wu->max_error_results);
    put_i(&f, wu->max_total_results);
    put_i(&f, wu->max_success_results);
    put_s(&f, wu->result_template_file);
    put_i(&f, wu->priority);
    put_d(&f, wu->rsc_bandwidth_bound);
    put_i(&f, wu->app_version_id);
    put_i(&f, wu->transitioner_flags);
    put_i(&f, wu->size_class);
    put_s(&f, wu->keywords);
    put_i(&f, wu->app_version_num);
    id = insert(&f);
    return wu->id != 0 ? wu->id : id;
}

int64_t
dbtest_result(struct db *db, const struct result *r)
{
    struct filler f = begin(
        db, "INSERT INTO result (id, create_time, workunitid, server_state,"
            " outcome, client_state, hostid, userid, report_deadline,"
            " sent_time, received_time, name, cpu_time, xml_doc_in,"
            " xml_doc_out, stderr_out, batch, file_delete_state,"
            " validate_state, claimed_credit, granted_credit, opaque, random,"
            " app_version_num, appid, exit_status, teamid, priority,"
            " elapsed_time, flops_estimate, app_version_id, runtime_outlier,"
            " size_class, peak_working_set_size, peak_swap_size,"
            " peak_disk_usage) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
            " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
            " ?, ?)");
    int64_t id;

    put_i(&f, r->id);
    put_i(&f, r->create_time);
    put_i(&f, r->workunitid);
    put_i(&f, r->server_state);
    put_i(&f, r->outcome);
    put_i(&f, r->client_state);
    put_i(&f, r->hostid);
    put_i(&f, r->userid);
    put_i(&f, r->report_deadline);
    put_i(&f, r->sent_time);
    put_i(&f, r->received_time);
    put_s(&f, r->name);
    put_d(&f, r->cpu_time);
    put_s(&f, r->xml_doc_in);
    put_s(&f, r->xml_doc_out);
    put_s(&f, r->stderr_out);
    put_i(&f, r->batch);
    put_i(&f, r->file_delete_state);
    put_i(&f, r->validate_state);
    put_d(&f, r->claimed_credit);
    put_d(&f, r->granted_credit);
    put_d(&f, r->opaque);
    put_i(&f, r->random);
    put_i(&f, r->app_version_num);
    put_i(&f, r->appid);
    put_i(&f, r->exit_status);
    put_i(&f, r->teamid);
    put_i(&f, r->priority);
    put_d(&f, r->elapsed_time);
    put_d(&f, r->flops_estimate);
    put_i(&f, r->app_version_id);
    put_i(&f, r->runtime_outlier);
    put_i(&f, r->size_class);
    put_d(&f, r->peak_working_set_size);
    put_d(&f, r->peak_swap_size);
    put_d(&f, r->peak_disk_usage);
    id = insert(&f);
    return r->id != 0 ? r->id : id;
}

int
dbtest_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failures;

    srunner_run_all(runner, CK_NORMAL);
    failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* explain_host.c - a request such as a host would send, from what is known of
 * it. */
#include "explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "explain_private.h"
#include "handle.h"
#include "segment.h"
#include "xml.h"

enum { JOBS_MAX = 10000 };

/* ---- parts that columns hold ---- */

static void
add_times(const struct host *h, struct buf *out)
{
    xml_put_double(out, "duration_correction_factor",
                   h->duration_correction_factor);
    xml_open(out, "time_stats");
    xml_put_double(out, "on_frac", h->on_frac);
    xml_put_double(out, "connected_frac", h->connected_frac);
    xml_put_double(out, "active_frac", h->active_frac);
    xml_put_double(out, "gpu_active_frac", h->gpu_active_frac);
    xml_close(out, "time_stats");
    xml_open(out, "net_stats");
    xml_put_double(out, "bwup", h->n_bwup);
    xml_put_double(out, "bwdown", h->n_bwdown);
    xml_close(out, "net_stats");
    xml_open(out, "disk_usage");
    xml_put_double(out, "d_boinc_used_total", h->d_boinc_used_total);
    xml_put_double(out, "d_boinc_used_project", h->d_boinc_used_project);
    xml_put_double(out, "d_project_share", h->d_boinc_max);
    xml_close(out, "disk_usage");
}

static void
add_machine(const struct host *h, struct buf *out)
{
    xml_put_i64(out, "timezone", h->timezone);
    xml_put_str(out, "domain_name", h->domain_name);
    xml_put_str(out, "ip_addr", h->last_ip_addr);
    xml_put_i64(out, "p_ncpus", h->p_ncpus);
    xml_put_str(out, "p_vendor", h->p_vendor);
    xml_put_str(out, "p_model", h->p_model);
    xml_put_double(out, "p_fpops", h->p_fpops);
    xml_put_double(out, "p_iops", h->p_iops);
    xml_put_double(out, "p_membw", h->p_membw);
    xml_put_double(out, "m_nbytes", h->m_nbytes);
    xml_put_double(out, "m_cache", h->m_cache);
    xml_put_double(out, "m_swap", h->m_swap);
    xml_put_double(out, "d_total", h->d_total);
    xml_put_double(out, "d_free", h->d_free);
    xml_put_str(out, "os_name", h->os_name);
    xml_put_str(out, "os_version", h->os_version);
    xml_put_str(out, "product_name", h->product_name);
}

/* ---- facts, with what changes put in again ---- */

/* Behind this line of the facts goes what stands in a column, or asks. */
static void
add_behind(const char *line, const struct host *host, struct buf *out)
{
    if (strncmp(line, "<host_info>\n", 12) == 0)
        add_machine(host, out);
    else if (strncmp(line, "<coproc_", 8) == 0 &&
             strncmp(line, "<coproc_opencl>", 15) != 0 &&
             strncmp(line + strcspn(line, ">\n"), ">\n", 2) == 0)
        buf_add(out, "<req_secs>1</req_secs>\n");
}

static void
add_facts(const char *facts, const struct host *host, struct buf *out)
{
    bool has_info = false;

    for (const char *line = facts; *line != '\0';) {
        size_t n = strcspn(line, "\n");

        n += line[n] == '\n';
        buf_addn(out, line, n);
        add_behind(line, host, out);
        has_info = has_info || strncmp(line, "<host_info>\n", 12) == 0;
        line += n;
    }
    if (has_info)
        return;
    xml_open(out, "host_info");
    add_machine(host, out);
    xml_close(out, "host_info");
}

/* ---- jobs in progress ---- */

static bool
find_version(const struct catalog *catalog, int64_t id, struct app_version *ret)
{
    for (size_t i = 0; i < catalog_n_versions(catalog); i++) {
        catalog_version(catalog, i, ret);
        if (ret->id == id)
            return true;
    }
    return false;
}

/* One version for each job: simple, and as good as a client's shorter list. */
static void
add_job_version(const struct explain_job *job, const struct catalog *catalog,
                struct buf *out)
{
    ptrdiff_t i = catalog_find_app(catalog, job->appid);
    struct app_version version;
    struct app app = {.name = ""};

    if (i >= 0)
        catalog_app(catalog, (size_t)i, &app);
    xml_open(out, "app_version");
    xml_put_str(out, "app_name", app.name);
    if (find_version(catalog, job->app_version_id, &version)) {
        xml_put_i64(out, "version_num", version.version_num);
        xml_put_str(out, "plan_class", version.plan_class);
    }
    xml_close(out, "app_version");
}

static void
add_jobs(const struct explain_job *job, size_t n, bool own_versions,
         const struct catalog *catalog, struct buf *out)
{
    if (!own_versions) {
        xml_open(out, "app_versions");
        for (size_t i = 0; i < n; i++)
            add_job_version(&job[i], catalog, out);
        xml_close(out, "app_versions");
    }
    xml_open(out, "other_results");
    for (size_t i = 0; i < n; i++) {
        xml_open(out, "other_result");
        xml_put_str(out, "name", job[i].name);
        if (!own_versions)
            xml_put_i64(out, "app_version", (int64_t)i);
        xml_close(out, "other_result");
    }
    xml_close(out, "other_results");
}

void
explain_write_request(const struct host *host, const char *facts,
                      const char *authenticator, const struct explain_job *job,
                      size_t n_jobs, const struct catalog *catalog,
                      struct buf *out)
{
    xml_open(out, "scheduler_request");
    xml_put_str(out, "authenticator", authenticator);
    xml_put_i64(out, "hostid", host->id);
    xml_put_double(out, "work_req_seconds", 1);
    xml_put_double(out, "cpu_req_secs", 1);
    xml_put_double(out, "cpu_req_instances", 0);
    xml_put_double(out, "estimated_delay", 0);
    add_times(host, out);
    add_facts(facts, host, out);
    add_jobs(job, n_jobs, strstr(facts, "<app_versions>") != NULL, catalog,
             out);
    xml_close(out, "scheduler_request");
}

/* ---- the host ---- */

static enum exit_status
explain_known(struct server *s, const struct host *host, const char *facts,
              int64_t workunit, struct buf *out)
{
    struct buf request = BUF_INIT;
    struct explain_job *job = NULL;
    enum exit_status status = EXIT_TEMPFAIL;
    struct user user;
    size_t n;

    if (db_sched_user_by_id(s->db, host->userid, &user) != 0)
        return EXIT_TEMPFAIL;
    if (db_explain_jobs(s->db, host->id, JOBS_MAX, &job, &n) == 0) {
        explain_write_request(host, facts, user.authenticator, job, n,
                              segment_catalog(s->segment), &request);
        status = explain_request(s, buf_str(&request), request.len, workunit,
                                 false, out);
    }
    free(job);
    db_sched_user_free(&user);
    buf_free(&request);
    return status;
}

enum exit_status
explain_host(struct server *s, int64_t hostid, int64_t workunit,
             struct buf *out)
{
    enum exit_status status;
    struct host host;
    int64_t when = 0;
    char *facts = NULL;
    int rc;

    if (s->segment == NULL && !explain_open(s))
        return EXIT_TEMPFAIL;
    rc = db_sched_host(s->db, hostid, &host);
    if (rc == 0 && host.userid == 0) {
        buf_addf(out, "host %" PRId64 " was merged into host %" PRId64 "\n",
                 hostid, host.rpc_seqno);
        return EXIT_NO;
    }
    if (rc == 0)
        rc = db_explain_request(s->db, hostid, &facts, &when);
    else if (rc == DB_NONE)
        buf_addf(out, "there is no host %" PRId64 "\n", hostid);
    if (rc == DB_NONE && facts == NULL && host.id != 0)
        buf_addf(out,
                 "host %" PRId64 " has sent no request yet that is on "
                 "record\n",
                 hostid);
    if (rc != 0)
        return rc == DB_NONE ? EXIT_NO : EXIT_TEMPFAIL;
    buf_addf(out,
             "last contact %.1f h ago; as it was then, with an empty "
             "queue:\n",
             (double)(clock_now() - host.rpc_time) / 3600);
    status = explain_known(s, &host, facts, workunit, out);
    free(facts);
    return status;
}

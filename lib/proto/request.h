/* request.h - a scheduler request (protocol §2.3) -> struct sched_request.
 *
 * Requests of real clients are not XML (§0).  request_parse() first cuts out
 * the opaque bodies (stderr_out, trickles, logs) and repairs the rest to
 * well-formed UTF-8 XML in one bounded pass (dialect.h), then libxml2 reads it.
 * Numbers that are no finite numbers are 0, and every value is clamped to the
 * range that its column holds; text is valid UTF-8. */
#ifndef QUORATE_REQUEST_H
#define QUORATE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ability.h"
#include "account.h"
#include "host.h"
#include "names.h"

struct buf;

#define REQUEST_MAX_BYTES (10 * 1024 * 1024)
#define REQUEST_MAX_APP_VERSIONS 10000 /* more are not read */

struct reported_result {
    char name[NAME_SIZE];
    double cpu_time;      /* s */
    double elapsed_time;  /* s */
    bool has_exit_status; /* absent or unreadable: a client error */
    int exit_status;
    int state; /* enum client_state as sent */
    char platform[NAME_SIZE];
    int version_num;
    char plan_class[64];
    int app_version_num;
    double peak_working_set_size, peak_swap_size, peak_disk_usage; /* bytes */
    char *stderr_out;  /* valid UTF-8, at most 65535 bytes, never NULL */
    char *xml_doc_out; /* the file_info elements, at most 65535 bytes */
};

struct client_app_version { /* <app_versions>: index = position */
    char app_name[NAME_SIZE];
    int version_num;
    char platform[NAME_SIZE];
    char plan_class[64];
    double avg_ncpus;
    double flops;    /* FLOPS, 0 not sent */
    char coproc[64]; /* its type, "" none */
    double coproc_count;
    double gpu_ram; /* bytes */
    char cmdline[NAME_SIZE];
};

struct other_result {
    char name[NAME_SIZE];
    int app_version; /* index, -1 */
    char plan_class[64];
};

struct keyword_wish { /* of the user, §2.3.8 */
    int id;
    bool liked; /* <yes>; <no>: excluded */
};

struct queued_job {         /* in_progress_results: of any project, on CPUs */
    double report_deadline; /* Unix s */
    double time_remaining;  /* s of wall time */
};

struct trickle_up {
    char variety[NAME_SIZE];
    char *xml; /* the text stored, never NULL */
};

struct client_file { /* top-level file_info: sticky files */
    char name[NAME_SIZE];
    double nbytes;
};

struct sched_request {
    char authenticator[NAME_SIZE]; /* cut at the first quote */
    int64_t hostid;
    int64_t rpc_seqno;
    int core_client_major_version, core_client_minor_version,
        core_client_release;
    int client_version;             /* 10000·major + 100·minor + release */
    double resource_share_fraction; /* absent: 1 */
    double rrs_fraction, prrs_fraction;
    int allow_multiple_clients; /* -1 absent */
    int sandbox;
    bool dont_send_work;
    double work_req_seconds; /* clamped to 0 … 28 days */
    bool has_cpu_req;        /* cpu_req_secs was present */
    double cpu_req_secs;     /* processor-seconds */
    double cpu_req_instances;
    double estimated_delay; /* s */
    bool client_cap_plan_class;
    char platform_name[NAME_SIZE];
    char (*alt_platform)[NAME_SIZE];
    size_t n_alt_platforms;
    char code_sign_key[4096]; /* trimmed */
    char cross_project_id[NAME_SIZE];
    char client_brand[NAME_SIZE];
    double cpu_efficiency; /* old clients; 0 absent */

    bool has_working_prefs;
    struct global_prefs working_prefs;
    char *global_prefs_xml; /* master document, or NULL */
    struct global_prefs master_prefs;
    char global_prefs_source_email_hash[64];

    /* fields that a request carries: time_stats, net_stats, host_info,
     * disk_usage; host_cpid as sent */
    struct host host;
    struct ability ability;
    char *facts;        /* for support: see request_facts.h; never NULL */
    int64_t facts_hash; /* of them; never 0 */

    struct reported_result *result;
    size_t n_results; /* duplicates of a name left out */
    size_t n_results_seen;
    struct client_app_version *app_version;
    size_t n_app_versions;
    bool has_other_results;
    struct other_result *other_result;
    size_t n_other_results;
    struct keyword_wish *keyword;
    size_t n_keywords;
    bool has_queue; /* in_progress_results was present */
    struct queued_job *queue;
    size_t n_queue;
    struct trickle_up *trickle;
    size_t n_trickles;
    struct client_file *file;
    size_t n_files;
    char *time_stats_log; /* lines "TIME EVENT", or NULL */
};

/* 0 and a request to be freed; -1 and a text for the volunteer ("no start
 * tag", …) in err.  The bytes may be anything. */
int request_parse(const void *bytes, size_t n, struct sched_request **ret,
                  struct buf *err);
void request_free(struct sched_request *);

/* Does some coprocessor ask for seconds? */
bool request_wants_coproc(const struct sched_request *);

/* Does it ask for work? (§2.3.1) */
bool request_wants_work(const struct sched_request *);

#endif

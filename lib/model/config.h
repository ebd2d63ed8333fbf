/* config.h - struct config and the one table that declares config.xml
 * (operations §2).  A new option: a field here, a row in config.c. */
#ifndef QUORATE_CONFIG_H
#define QUORATE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf.h"

struct buf;

/* One <daemon> or <task> (operations §3).  Strings are never NULL. */
struct config_program {
    char *cmd;
    char *host;
    bool disabled;
    char *output; /* file name; default made from cmd */
    char *pid_file;
    char *lock_file;
    bool use_shell;
    bool silent_start;
    int64_t period; /* tasks: s */
    bool always_run;
    int line; /* of config.xml */
};

struct config {
    /* Every element of operations §2.1-2.6, field name = element name, in the
     * table's order.  Durations are in seconds whatever the element's unit
     * (grace_period_hours sets report_grace_period, the last one counts;
     * delete_delay_hours is kept as given).  Strings are never NULL. */

    /* §2.1 identity, database, paths */
    char *master_url;
    char *long_name;
    int64_t project_id;
    char *db_name;
    char *db_user;
    char *db_passwd;
    char *db_passwd_file;
    char *db_host;
    char *replica_db_name;
    char *replica_db_user;
    char *replica_db_passwd;
    char *replica_db_host;
    int64_t shmem_key;
    char *host;
    char *project_dir;
    char *project_user_name;
    char *key_dir;
    char *download_dir;
    char *download_url;
    char *upload_dir;
    char *upload_url;
    char *app_dir;
    char *log_dir;
    char *bin_dir;
    char *cgi_bin_dir;
    int64_t uldl_dir_fanout;
    bool cache_md5_info;
    char *ssh_exec;
    char *www_host;
    char *sched_host;
    char *httpd_user;
    bool ended;

    /* §2.2 uploads */
    bool ignore_upload_certificates;
    bool dont_generate_upload_certificates;
    char *upload_certificates; /* "rsa" or "ed25519" */
    int64_t fuh_debug_level;
    int64_t fuh_set_initial_permission;
    int64_t fuh_set_completed_permission;

    /* §2.3 life cycle */
    int64_t report_grace_period; /* s */
    double grace_period_hours;   /* hours */
    double delete_delay_hours;   /* hours */
    int64_t reliable_priority_on_over;
    int64_t reliable_priority_on_over_except_error;
    int64_t reliable_on_priority;
    int64_t reliable_max_avg_turnaround; /* s */
    double reliable_reduced_delay_bound; /* fraction */
    double reliable_max_error_rate;
    int64_t homogeneous_redundancy;
    bool hr_allocate_slots;
    bool hr_class_static;
    bool credit_by_app;
    bool dont_store_success_stderr;

    /* §2.4 feeder and dispatch */
    int64_t shmem_work_items;  /* slots */
    int64_t feeder_query_size; /* results */
    bool dont_send_jobs;
    int64_t max_wus_to_send;    /* results */
    int64_t daily_result_quota; /* results */
    double gpu_multiplier;
    int64_t max_ncpus;               /* CPUs */
    int64_t max_wus_in_progress;     /* results */
    int64_t max_wus_in_progress_gpu; /* results */
    int64_t min_sendwork_interval;   /* s */
    int64_t next_rpc_delay;          /* s */
    int64_t maintenance_delay;       /* s */
    double overload_wait;            /* s */
    int64_t overload_delay;          /* s */
    int64_t max_rpc_time;            /* s */
    bool nowork_skip;
    bool one_result_per_user_per_wu;
    bool one_result_per_host_per_wu;
    bool ignore_delay_bound;
    bool resend_lost_results;
    bool send_result_abort;
    int64_t report_max;               /* results */
    int64_t max_results_accepted;     /* results */
    double default_disk_min_free_gb;  /* GB */
    double default_disk_max_used_gb;  /* GB */
    double default_disk_max_used_pct; /* % */
    bool scheduler_disk_space_check_hardcoded;
    int64_t min_core_client_version;
    int64_t min_core_client_version_announced;
    int64_t min_core_client_upgrade_deadline; /* Unix s */
    struct conf_list ban_os;
    struct conf_list ban_cpu;
    bool no_amd_k6;
    struct conf_list dont_search_host_for_user;
    bool prefer_primary_platform;
    double version_select_random_factor;
    bool estimate_flops_from_hav_pfc;
    bool rte_no_stats;
    bool distinct_beta_apps;
    bool enable_assignment;
    bool enable_assignment_multi;
    bool sched_old;
    bool job_size_matching;
    bool size_classes;
    bool batch_accel;
    bool keyword_sched;
    bool workload_sim;
    bool user_filter;
    bool non_cpu_intensive;
    bool strict_memory_bound;
    bool verify_files_on_app_start;
    bool msg_to_host;
    char *symstore;
    bool request_time_stats_log;
    char *replace_download_url_by_timezone;
    int64_t max_download_urls_per_file;
    bool locality_scheduling;
    double locality_scheduler_fraction; /* fraction */
    bool locality_scheduling_sorted_order;
    int64_t locality_scheduling_wait_period;  /* s */
    int64_t locality_scheduling_send_timeout; /* s */
    int64_t locality_scheduling_min_share;    /* results */
    struct conf_list locality_scheduling_workunit_file;
    struct conf_list locality_scheduling_sticky_file;
    int64_t file_deletion_strategy;
    bool enable_vda;
    int64_t vda_host_timeout; /* s */
    char *sched_lockfile_dir;
    int64_t could_not_send_hosts;        /* hosts */
    int64_t could_not_send_min_age;      /* s */
    int64_t daily_result_quota_per_host; /* results */
    int64_t max_results_per_rpc;         /* results */
    int64_t require_same_major;
    bool idle_host_skips_deadline;
    int64_t max_resends;              /* times */
    int64_t max_key_failures;         /* per hour */
    int64_t max_accounts_per_address; /* per hour */
    int64_t body_timeout;             /* s */
    struct conf_list trusted_proxy;
    char *foreign_elements;

    /* §2.5 logging */
    int64_t sched_debug_level;
    int64_t scheduler_log_buffer; /* bytes */
    char *debug_req_reply_dir;
    bool debug_assignment;
    bool debug_client_files;
    bool debug_credit;
    bool debug_edf_sim_detail;
    bool debug_edf_sim_workload;
    bool debug_fcgi;
    bool debug_handle_results;
    bool debug_keyword;
    bool debug_locality;
    bool debug_locality_lite;
    bool debug_prefs;
    bool debug_quota;
    bool debug_request_details;
    bool debug_request_headers;
    bool debug_resend;
    bool debug_send;
    bool debug_send_scan;
    bool debug_send_job;
    bool debug_user_messages;
    bool debug_vda;
    bool debug_version_select;

    /* §2.6 web and accounts */
    bool disable_account_creation;
    bool disable_account_creation_rpc;
    bool disable_web_account_creation;
    bool no_web_account_creation;
    bool account_creation_rpc_require_consent;
    bool enable_login_mustagree_termsofuse;
    bool enable_privacy_by_default;
    int64_t enable_delete_account;
    int64_t min_passwd_length; /* characters */
    bool account_manager;
    char *rpc_key;
    bool show_results;
    bool dont_suppress_pending;
    bool user_url;
    bool user_country;
    int64_t users_per_page;
    int64_t teams_per_page;
    int64_t hosts_per_page;
    double profile_min_credit; /* credit */
    bool profile_screening;
    bool disable_team_creation;
    bool team_forums_members_only;
    bool no_forum_rating;
    bool moderators_allowed_to_ban;
    bool moderators_vote_to_ban;
    char *recaptcha_public_key;
    char *recaptcha_private_key;
    char *akismet_key;
    bool no_computing;
    char *stripchart_cgi_url;
    char *sandbox_dir;
    char *remote_submit_log;
    char *remote_submission_log;
    char *remote_submit_request_log;

    struct config_program *daemon;
    size_t n_daemons;
    struct config_program *task;
    size_t n_tasks;

    /* Elements whose names hold a host or a number: tmp_HOST_dir, pid_HOST_dir,
     * replicaN_db_….  Names and values in turn; see config_extra(). */
    struct conf_list extra;

    char *project_root; /* real path of the folder that holds config.xml */
};

extern const struct conf_option config_options[];
extern const size_t n_config_options;

/* Read and check `root`/config.xml.  NULL, and every fault as a line
 * "config.xml:12: text\n" in `err`.
 *
 * Derived values are filled in: folders become absolute paths (empty ones:
 * root/keys, download, upload, apps, log_HOST, bin, cgi-bin); host = short name
 * of this machine; db_host = "localhost" if it is this machine's name;
 * db_passwd = QUORATE_DB_PASSWD, else what db_passwd_file holds, else as given.
 * Deprecated elements are warned about in the log. */
struct config *config_load(const char *root, struct buf *err);
void config_free(struct config *);

/* Value of an element in `extra`, or NULL. */
const char *config_extra(const struct config *, const char *name);

/* Effective values, one a line, secrets hidden (--show_config). */
void config_print(const struct config *, struct buf *out);

#endif

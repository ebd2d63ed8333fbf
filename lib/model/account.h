/* account.h - users, teams, preferences. */
#ifndef QUORATE_ACCOUNT_H
#define QUORATE_ACCOUNT_H

#include <stddef.h>

#include "workunit.h"

struct user {
    int64_t id;
    int64_t create_time;
    char email_addr[NAME_SIZE];
    char name[NAME_SIZE];
    char authenticator[NAME_SIZE]; /* account key, 32 hex digits */
    char country[NAME_SIZE];
    double total_credit;
    double expavg_credit; /* credit per day */
    double expavg_time;   /* Unix s */
    char *global_prefs;   /* XML, malloc, or NULL */
    char *project_prefs;  /* XML, malloc, or NULL */
    int64_t teamid;       /* 0 none */
    char venue[NAME_SIZE];
    bool show_hosts;
    bool only_own_jobs; /* column seti_id */
    char cross_project_id[NAME_SIZE];
    char passwd_hash[NAME_SIZE];
};

struct team {
    int64_t id;
    int64_t userid; /* founder */
    char name[NAME_SIZE];
    double total_credit;
    double expavg_credit;
    double expavg_time;
};

/* What the scheduler uses of global preferences (protocol §8). */
struct global_prefs {
    double mod_time; /* Unix s; 0 = none */
    double disk_max_used_gb;
    double disk_max_used_pct;
    double disk_min_free_gb;
    double work_buf_min_days;
    double ram_max_used_busy_pct;
    double ram_max_used_idle_pct;
    double max_ncpus_pct;
};

/* Project preferences, of the host's venue (protocol §8.3). */
struct project_prefs {
    int64_t *app_id; /* selected applications, malloc; none = all */
    size_t n_app_ids;
    bool allow_non_preferred_apps;
    bool allow_beta_work;
    /* no_cpu, no_cuda, no_ati, no_intel_gpu, no_apple_gpu; no_gpus: all but the
     * first */
    bool excluded[N_PROC_TYPES];
    int max_jobs; /* in progress; 0 no limit */
    int max_cpus; /* 0 no limit */
    /* every element, for plan classes; the first of a name counts */
    struct project_pref {
        char tag[64];
        char value[NAME_SIZE];
    } * pref; /* malloc */
    size_t n_prefs;
};

#endif

/* host.h - a computer: speed, memory, availability; and its statistics with one
 * app version. */
#ifndef QUORATE_HOST_H
#define QUORATE_HOST_H

#include "workunit.h"

struct host {
    int64_t id;
    int64_t create_time;
    int64_t userid;    /* 0 = merged away, rpc_seqno is the successor's id */
    int64_t rpc_seqno; /* last sequence number */
    int64_t rpc_time;
    double total_credit;
    double expavg_credit; /* credit per day */
    double expavg_time;
    int timezone; /* s east of UTC */
    char domain_name[NAME_SIZE];
    char serialnum[NAME_SIZE];
    char last_ip_addr[NAME_SIZE];
    int nsame_ip_addr;
    double on_frac; /* fraction of time the client runs */
    double connected_frac;
    double active_frac; /* fraction of on-time that computing is allowed */
    double gpu_active_frac;
    double duration_correction_factor;
    int p_ncpus;
    char p_vendor[NAME_SIZE];
    char p_model[NAME_SIZE];
    double p_fpops; /* FLOPS per CPU */
    double p_iops;
    double p_membw; /* bytes/s */
    char os_name[NAME_SIZE];
    char os_version[NAME_SIZE];
    double m_nbytes; /* bytes */
    double m_cache;
    double m_swap;
    double d_total; /* bytes */
    double d_free;
    double d_boinc_used_total;
    double d_boinc_used_project;
    double d_boinc_max; /* the project's share of the disk */
    double n_bwup;      /* bytes/s */
    double n_bwdown;
    char venue[NAME_SIZE];
    int nresults_today;
    double avg_turnaround;     /* s */
    char host_cpid[NAME_SIZE]; /* md5(client's cpid, e-mail) */
    char external_ip_addr[NAME_SIZE];
    int max_results_day; /* -1 = blacklisted */
    char product_name[NAME_SIZE];
    int p_ngpus;
    double p_gpu_fpops;
    int64_t request_hash; /* x_host_request.hash; 0 none */
    const char *misc;     /* JSON; borrowed; NULL: not read, and not written */
};

/* host_app_version: key (host_id, app_version_id or appid·1000000 + 2 … 6). */
struct host_app_version {
    int64_t host_id;
    int64_t app_version_id;
    double pfc_n, pfc_avg;
    double et_n, et_avg, et_var, et_q; /* elapsed s / rsc_fpops_est */
    int max_jobs_per_day;              /* per processor */
    int n_jobs_today;
    double turnaround_n, turnaround_avg, turnaround_var, turnaround_q; /* s */
    int consecutive_valid;
};

#endif

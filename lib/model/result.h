/* result.h - one instance of a job on one host.  Fields as in table result
 * (schema §2). */
#ifndef QUORATE_RESULT_H
#define QUORATE_RESULT_H

#include "workunit.h"

struct result {
    int64_t id;
    int64_t create_time;
    int64_t workunitid;
    enum server_state server_state;
    enum outcome outcome;
    enum client_state client_state;
    int64_t hostid;
    int64_t userid;
    int64_t report_deadline; /* Unix s, grace period included */
    int64_t sent_time;
    int64_t received_time; /* 0 = not received */
    char name[NAME_SIZE];
    double cpu_time;  /* s */
    char *xml_doc_in; /* malloc, or NULL if not read; so the next two */
    char *xml_doc_out;
    char *stderr_out;
    int64_t batch;
    enum file_delete_state file_delete_state; /* of the output files */
    enum validate_state validate_state;
    double claimed_credit;
    double granted_credit;
    double opaque;
    int64_t random;
    int app_version_num;
    int64_t appid;
    int exit_status;
    int64_t teamid;
    int priority;
    double elapsed_time;    /* s, wall */
    double flops_estimate;  /* peak FLOPS of the resources used */
    int64_t app_version_id; /* or -1 … -6, anonymous platform */
    bool runtime_outlier;
    int size_class;
    double peak_working_set_size; /* bytes */
    double peak_swap_size;
    double peak_disk_usage;
};

#endif

/* sendable.h - what one slot of the job array says of a result ready to send.
 * Numbers only; documents are read from the database when it is sent. */
#ifndef QUORATE_SENDABLE_H
#define QUORATE_SENDABLE_H

#include <stdbool.h>
#include <stdint.h>

/* A workunit may have more keywords; these count. */
#define SENDABLE_KEYWORDS 16
/* Likewise input files. */
#define SENDABLE_FILES 8

struct sendable {
    int64_t result_id;
    int64_t wu_id;
    int64_t appid;
    int64_t batch;
    int64_t user_id;        /* who submitted the batch, 0 unknown */
    int64_t create_time;    /* of the result, Unix s */
    int64_t app_version_id; /* workunit's pin, 0 none */
    int64_t delay_bound;    /* s */
    double rsc_fpops_est;
    double rsc_fpops_bound;
    double rsc_memory_bound;            /* bytes */
    double rsc_disk_bound;              /* bytes */
    double rsc_bandwidth_bound;         /* bytes/s */
    int32_t priority;                   /* of the result; higher first */
    int32_t hr_class;                   /* workunit's, 0 uncommitted */
    int32_t app_version_num;            /* workunit's pin, 0 none */
    int32_t size_class;                 /* -1 none */
    int32_t keyword[SENDABLE_KEYWORDS]; /* ids; 0 ends them */
    uint64_t file[SENDABLE_FILES]; /* held_file_hash() of its input files, of
                                      apps with locality_scheduling = 1 only;
                                      0 ends them */
    uint32_t feasibility; /* jobs with the same number ask for much the same of
                             a host: feasibility_class(), interleave.h */
    bool need_reliable;
    char unused[3]; /* no padding: jobs are compared and hashed as bytes */
};

#endif

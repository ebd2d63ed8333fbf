/* sendable.h - what one slot of the job array says of a result ready to send.
 * Numbers only; documents are read from the database when it is sent. */
#ifndef QUORATE_SENDABLE_H
#define QUORATE_SENDABLE_H

#include <stdbool.h>
#include <stdint.h>

struct sendable {
    int64_t result_id;
    int64_t wu_id;
    int64_t appid;
    int64_t batch;
    int64_t app_version_id; /* workunit's pin, 0 none */
    int64_t delay_bound;    /* s */
    double rsc_fpops_est;
    double rsc_fpops_bound;
    double rsc_memory_bound;    /* bytes */
    double rsc_disk_bound;      /* bytes */
    double rsc_bandwidth_bound; /* bytes/s */
    int32_t priority;           /* of the result; higher first */
    int32_t hr_class;           /* workunit's, 0 uncommitted */
    int32_t app_version_num;    /* workunit's pin, 0 none */
    int32_t size_class;         /* -1 none */
    bool need_reliable;
};

#endif

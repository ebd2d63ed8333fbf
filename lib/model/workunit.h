/* workunit.h - a job: bounds, quorum, states.  Plain data; field names and
 * order are those of table workunit (schema §2).  The functions that read rows
 * say which fields they fill; the others are zero. */
#ifndef QUORATE_WORKUNIT_H
#define QUORATE_WORKUNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "names.h"

#define NAME_SIZE 256 /* names of the protocol, NUL included */

struct workunit {
    int64_t id;
    int64_t create_time; /* Unix s */
    int64_t appid;
    char name[NAME_SIZE];    /* unique in the project */
    char *xml_doc;           /* malloc, or NULL if not read */
    int64_t batch;           /* 0 none */
    double rsc_fpops_est;    /* FLOP expected */
    double rsc_fpops_bound;  /* FLOP, abort limit */
    double rsc_memory_bound; /* bytes */
    double rsc_disk_bound;   /* bytes: input, output, temporary */
    bool need_validate;
    int64_t canonical_resultid; /* 0 none */
    double canonical_credit;    /* credit of the valid results; preset: §5.1 */
    int64_t transition_time;    /* Unix s; TRANSITION_NEVER */
    int64_t delay_bound;        /* s */
    unsigned error_mask;        /* enum wu_error */
    enum file_delete_state file_delete_state; /* of the input files */
    enum assimilate_state assimilate_state;
    int hr_class; /* 0 uncommitted */
    double opaque;
    int min_quorum;
    int target_nresults;
    int max_error_results;
    int max_total_results;
    int max_success_results;
    char result_template_file[64]; /* relative to the project's root */
    int priority;                  /* higher first */
    double rsc_bandwidth_bound;    /* bytes/s, least download speed */
    int64_t app_version_id;        /* pin, homogeneous app version */
    int transitioner_flags;        /* enum transitioner_flags */
    int size_class;                /* -1 none */
    char keywords[255];
    int app_version_num; /* pin, 0 none */
};

#endif

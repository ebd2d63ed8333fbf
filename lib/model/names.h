/* names.h - every enum of the life cycle (lifecycle §1), each with a table of
 * value and text; used by logs, pages, tools and tests. */
#ifndef QUORATE_NAMES_H
#define QUORATE_NAMES_H

enum server_state {
    RESULT_INACTIVE = 1,
    RESULT_UNSENT = 2,
    RESULT_IN_PROGRESS = 4,
    RESULT_OVER = 5,
};

enum outcome { /* of a result that is OVER */
               OUTCOME_INIT = 0,
               OUTCOME_SUCCESS = 1,
               OUTCOME_COULDNT_SEND = 2,
               OUTCOME_CLIENT_ERROR = 3,
               OUTCOME_NO_REPLY = 4,
               OUTCOME_DIDNT_NEED = 5,
               OUTCOME_VALIDATE_ERROR = 6,
               OUTCOME_CLIENT_DETACHED = 7,
};

enum validate_state {
    VALIDATE_INIT = 0,
    VALIDATE_VALID = 1,
    VALIDATE_INVALID = 2,
    VALIDATE_NO_CHECK = 3,
    VALIDATE_INCONCLUSIVE = 4,
    VALIDATE_TOO_LATE = 5,
};

enum client_state {
    CLIENT_NEW = 0,
    CLIENT_FILES_DOWNLOADING = 1,
    CLIENT_FILES_DOWNLOADED = 2,
    CLIENT_COMPUTE_ERROR = 3,
    CLIENT_FILES_UPLOADING = 4,
    CLIENT_FILES_UPLOADED = 5,
    CLIENT_ABORTED = 6,
    CLIENT_UPLOAD_FAILED = 7,
};

enum file_delete_state {
    FILES_INIT = 0,
    FILES_READY = 1,
    FILES_DONE = 2,
    FILES_ERROR = 3,
};

enum assimilate_state {
    ASSIMILATE_INIT = 0,
    ASSIMILATE_READY = 1,
    ASSIMILATE_DONE = 2,
};

enum wu_error { /* bits of workunit.error_mask */
                WU_COULDNT_SEND_RESULT = 1,
                WU_TOO_MANY_ERROR_RESULTS = 2,
                WU_TOO_MANY_SUCCESS_RESULTS = 4,
                WU_TOO_MANY_TOTAL_RESULTS = 8,
                WU_CANCELLED = 16,
                WU_NO_CANONICAL_RESULT = 32,
};

enum batch_state {
    BATCH_INIT = 0,
    BATCH_IN_PROGRESS = 1,
    BATCH_COMPLETE = 2, /* each workunit has a canonical result or an error */
    BATCH_ABORTED = 3,
    BATCH_RETIRED = 4, /* its workunits may be purged */
};

enum transitioner_flags {
    TRANSITION_NORMAL = 0,
    TRANSITION_NONE = 1,
    TRANSITION_NO_NEW_RESULTS = 2,
};

enum proc_type {
    PROC_CPU = 0,
    PROC_NVIDIA = 1,
    PROC_AMD = 2,
    PROC_INTEL_GPU = 3,
    PROC_APPLE_GPU = 4,
    N_PROC_TYPES,
};

#define TRANSITION_NEVER 2147483647 /* workunit.transition_time */
#define EXIT_ABORTED_BY_PROJECT 202
#define EXIT_ABORTED_VIA_GUI 203

/* Text of a value, "unknown" for one that is none. */
const char *server_state_name(int);
const char *outcome_name(int);
const char *validate_state_name(int);
const char *client_state_name(int);
const char *file_delete_state_name(int);
const char *assimilate_state_name(int);
const char *batch_state_name(int);
const char *proc_type_name(int); /* the XML name: CPU, NVIDIA, ATI, … */

/* The type that a text means, -1 for none: "NVIDIA", "CUDA", "ATI", "AMD",
 * "CPU", and what begins with "intel" or "apple" (intel_gpu, apple_gpu), in any
 * case. */
int proc_type_by_name(const char *text);

/* "TOO_MANY_ERROR_RESULTS|CANCELLED", or "none".  `ret` of at least 160. */
const char *wu_error_names(unsigned mask, char *ret, unsigned long size);

#endif

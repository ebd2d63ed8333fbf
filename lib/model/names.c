/* names.c - every enum of the life cycle as a table of value and text. */
#include "names.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "buf.h"

struct name {
    int value;
    const char *text;
};

static const struct name server_states[] = {
    {RESULT_INACTIVE,    "INACTIVE"   },
    {RESULT_UNSENT,      "UNSENT"     },
    {RESULT_IN_PROGRESS, "IN_PROGRESS"},
    {RESULT_OVER,        "OVER"       },
};

static const struct name outcomes[] = {
    {OUTCOME_INIT,            "INIT"           },
    {OUTCOME_SUCCESS,         "SUCCESS"        },
    {OUTCOME_COULDNT_SEND,    "COULDNT_SEND"   },
    {OUTCOME_CLIENT_ERROR,    "CLIENT_ERROR"   },
    {OUTCOME_NO_REPLY,        "NO_REPLY"       },
    {OUTCOME_DIDNT_NEED,      "DIDNT_NEED"     },
    {OUTCOME_VALIDATE_ERROR,  "VALIDATE_ERROR" },
    {OUTCOME_CLIENT_DETACHED, "CLIENT_DETACHED"},
};

static const struct name validate_states[] = {
    {VALIDATE_INIT,         "INIT"        },
    {VALIDATE_VALID,        "VALID"       },
    {VALIDATE_INVALID,      "INVALID"     },
    {VALIDATE_NO_CHECK,     "NO_CHECK"    },
    {VALIDATE_INCONCLUSIVE, "INCONCLUSIVE"},
    {VALIDATE_TOO_LATE,     "TOO_LATE"    },
};

static const struct name client_states[] = {
    {CLIENT_NEW,               "NEW"              },
    {CLIENT_FILES_DOWNLOADING, "FILES_DOWNLOADING"},
    {CLIENT_FILES_DOWNLOADED,  "FILES_DOWNLOADED" },
    {CLIENT_COMPUTE_ERROR,     "COMPUTE_ERROR"    },
    {CLIENT_FILES_UPLOADING,   "FILES_UPLOADING"  },
    {CLIENT_FILES_UPLOADED,    "FILES_UPLOADED"   },
    {CLIENT_ABORTED,           "ABORTED"          },
    {CLIENT_UPLOAD_FAILED,     "UPLOAD_FAILED"    },
};

static const struct name file_delete_states[] = {
    {FILES_INIT,  "INIT" },
    {FILES_READY, "READY"},
    {FILES_DONE,  "DONE" },
    {FILES_ERROR, "ERROR"},
};

static const struct name batch_states[] = {
    {BATCH_INIT,        "INIT"       },
    {BATCH_IN_PROGRESS, "IN_PROGRESS"},
    {BATCH_COMPLETE,    "COMPLETE"   },
    {BATCH_ABORTED,     "ABORTED"    },
    {BATCH_RETIRED,     "RETIRED"    },
};

static const struct name assimilate_states[] = {
    {ASSIMILATE_INIT,  "INIT" },
    {ASSIMILATE_READY, "READY"},
    {ASSIMILATE_DONE,  "DONE" },
};

/* As they stand in <coprocs>, <app_version> and <no_rsc_apps>. */
static const struct name proc_types[] = {
    {PROC_CPU,       "CPU"      },
    {PROC_NVIDIA,    "NVIDIA"   },
    {PROC_AMD,       "ATI"      },
    {PROC_INTEL_GPU, "intel_gpu"},
    {PROC_APPLE_GPU, "apple_gpu"},
};

static const struct name wu_errors[] = {
    {WU_COULDNT_SEND_RESULT,      "COULDNT_SEND_RESULT"     },
    {WU_TOO_MANY_ERROR_RESULTS,   "TOO_MANY_ERROR_RESULTS"  },
    {WU_TOO_MANY_SUCCESS_RESULTS, "TOO_MANY_SUCCESS_RESULTS"},
    {WU_TOO_MANY_TOTAL_RESULTS,   "TOO_MANY_TOTAL_RESULTS"  },
    {WU_CANCELLED,                "CANCELLED"               },
    {WU_NO_CANONICAL_RESULT,      "NO_CANONICAL_RESULT"     },
};

static const char *
text_of(const struct name *table, size_t n, int value)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].value == value)
            return table[i].text;
    return "unknown";
}

#define TEXT_OF(table, value) text_of(table, ARRAY_LEN(table), value)

const char *
server_state_name(int value)
{
    return TEXT_OF(server_states, value);
}

const char *
outcome_name(int value)
{
    return TEXT_OF(outcomes, value);
}

const char *
validate_state_name(int value)
{
    return TEXT_OF(validate_states, value);
}

const char *
client_state_name(int value)
{
    return TEXT_OF(client_states, value);
}

const char *
file_delete_state_name(int value)
{
    return TEXT_OF(file_delete_states, value);
}

const char *
assimilate_state_name(int value)
{
    return TEXT_OF(assimilate_states, value);
}

const char *
batch_state_name(int value)
{
    return TEXT_OF(batch_states, value);
}

const char *
proc_type_name(int value)
{
    return TEXT_OF(proc_types, value);
}

int
proc_type_by_name(const char *text)
{
    static const struct {
        const char *name;
        size_t n; /* letters that count */
        enum proc_type type;
    } spelling[] = {
        {"cpu",    4, PROC_CPU      },
        {"nvidia", 7, PROC_NVIDIA   },
        {"cuda",   5, PROC_NVIDIA   },
        {"ati",    4, PROC_AMD      },
        {"amd",    4, PROC_AMD      },
        {"intel",  5, PROC_INTEL_GPU},
        {"apple",  5, PROC_APPLE_GPU},
    };

    for (size_t i = 0; i < ARRAY_LEN(spelling); i++)
        if (strncasecmp(text, spelling[i].name, spelling[i].n) == 0)
            return (int)spelling[i].type;
    return -1;
}

/* Append to a fixed field; what does not fit is left away. */
static void
append(char *ret, size_t size, const char *text)
{
    size_t len = strlen(ret);

    (void)snprintf(ret + len, size - len, "%s%s", len > 0 ? "|" : "", text);
}

const char *
wu_error_names(unsigned mask, char *ret, unsigned long size)
{
    unsigned left = mask;
    char rest[16];

    ret[0] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(wu_errors); i++) {
        if ((mask & (unsigned)wu_errors[i].value) != 0)
            append(ret, size, wu_errors[i].text);
        left &= ~(unsigned)wu_errors[i].value;
    }
    (void)snprintf(rest, sizeof(rest), "0x%x", left);
    if (left != 0)
        append(ret, size, rest);
    if (mask == 0)
        append(ret, size, "none");
    return ret;
}

/* job_limits.h - how many jobs a host may have in progress (dispatch §8.4),
 * from config_aux.xml in the project's root. */
#ifndef QUORATE_JOB_LIMITS_H
#define QUORATE_JOB_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "workunit.h"

struct buf;

struct job_limit {
    int jobs;      /* 0 none */
    bool per_proc; /* for each processor */
};

struct job_limit_set {
    struct job_limit total; /* never for each processor */
    struct job_limit cpu;
    struct job_limit gpu; /* for GPUs of each type */
};

struct app_job_limits {
    char app_name[NAME_SIZE];
    struct job_limit_set limit;
};

struct job_limits {
    struct job_limit_set project;
    struct app_job_limits *app;
    size_t n_apps;
};

/* Read root/config_aux.xml into *ret, to be given to job_limits_free().  No
 * such file: no limits.  -1, and every fault as a line "config_aux.xml:12:
 * text\n" in err. */
int job_limits_load(const char *root, struct job_limits *ret, struct buf *err);
void job_limits_free(struct job_limits *);

#endif

/* rule_files.h - the optional files that dispatch rules are read from, kept
 * from one request to the next and read again when they change: config_aux.xml
 * (job_limits.h), hr_classes.xml (hr_table.h). */
#ifndef QUORATE_RULE_FILES_H
#define QUORATE_RULE_FILES_H

#include <stdbool.h>
#include <time.h>

#include "hr_table.h"
#include "job_limits.h"

struct rule_files {
    struct timespec limits_time, hr_time; /* 0: no such file */
    bool limits_loaded, hr_loaded;        /* once without a fault */
    struct job_limits limits;
    struct hr_table hr;
};

/* Before each request.  A file with a fault is logged once, and what was read
 * before stays in force; false if nothing was: then no work may be sent, for a
 * limit would be missing. */
bool rule_files_refresh(struct rule_files *, const char *root);
void rule_files_free(struct rule_files *);

#endif

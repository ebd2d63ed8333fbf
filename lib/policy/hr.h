/* hr.h - classes of numerically equal hosts (dispatch §12).
 *
 * The results of one workunit go to hosts of one class, whose floating-point
 * results are equal to the last bit.  Types 1 (fine) and 2 (coarse) give the
 * numbers that BOINC's projects have in their databases; type 3 is a table of
 * the project's own. */
#ifndef QUORATE_HR_H
#define QUORATE_HR_H

#include "app.h"
#include "hr_table.h"

enum hr_type { HR_NONE, HR_FINE, HR_COARSE, HR_TABLE, N_HR_TYPES };

struct hr_host { /* what the classes are made of; never NULL */
    const char *os_name;
    const char *p_vendor;
    const char *p_model;
    const char *p_features;
    const char *platform; /* the client's first */
};

/* The class of the host, 0: none is known, so it gets no job of such apps. */
int hr_class(enum hr_type, const struct hr_host *, const struct hr_table *);

/* The type of an app: its own, or that of the project (config). */
enum hr_type hr_type(const struct app *, int project);

#endif

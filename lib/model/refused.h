/* refused.h - why a host could not take a job, as far as the reason lies in
 * what the computer is (dispatch §9.5).  A result that enough hosts could not
 * take for such reasons ends as COULDNT_SEND; what a user has chosen, quotas
 * and the state of a request never count. */
#ifndef QUORATE_REFUSED_H
#define QUORATE_REFUSED_H

#include <stddef.h>
#include <stdint.h>

/* The numbers are stored (x_refused_host.reason): only add. */
enum refused_for {
    REFUSED_NO_VERSION = 1,  /* none for its platforms */
    REFUSED_VERSION_OLD = 2, /* only such as are below app.min_version */
    REFUSED_CLIENT = 3,      /* client too old or too new for the version */
    REFUSED_PLAN_CLASS = 4,  /* processors, GPU, drivers, VirtualBox, … */
    REFUSED_MEMORY = 5,
    REFUSED_DISK = 6,
    REFUSED_BANDWIDTH = 7,
    REFUSED_DEADLINE = 8,
    REFUSED_HR_UNKNOWN = 9, /* of no class of equal hosts */
};

#define REFUSED_MAX 9

struct refused_host {
    int64_t hostid;
    enum refused_for reason;
};

#define REFUSED_TEXT 256

/* "memory"; "unknown" for a number without a name. */
const char *refused_name(int reason);

/* "63 memory, 37 no app version": the most frequent first. */
void refused_breakdown(const struct refused_host *, size_t n, char *ret,
                       size_t size);

#endif

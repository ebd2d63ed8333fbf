/* usage.h - how one app version uses one host: what its plan class works out to
 * there (dispatch §7.2). */
#ifndef QUORATE_USAGE_H
#define QUORATE_USAGE_H

#include "names.h"

#define USAGE_CMDLINE_SIZE 256

struct host_usage {
    enum proc_type type;    /* the processor that does most of the work */
    double avg_ncpus;       /* CPUs */
    double gpu_usage;       /* GPUs of `type`; 0 for PROC_CPU */
    double gpu_ram;         /* bytes; 0 none */
    double mem_usage;       /* bytes; 0: the workunit's rsc_memory_bound */
    double projected_flops; /* FLOPS expected of it */
    double peak_flops;      /* FLOPS; stored in result.flops_estimate */
    /* type of coprocessor if it is none of enum proc_type (`type` is PROC_CPU
     * then, and gpu_usage counts these); "" otherwise */
    char other_coproc[64];
    char cmdline[USAGE_CMDLINE_SIZE]; /* added for each job, "" none */
};

#endif

/* speeds.h - how fast the hosts of a project are (dispatch §1.1). */
#ifndef QUORATE_SPEEDS_H
#define QUORATE_SPEEDS_H

/* Of p_fpops of the hosts that compute (expavg_credit > 10), FLOPS. */
struct host_speeds {
    double mean;
    double stddev;
    double median;       /* 50th percentile */
    double percentile95; /* more than this is not believed */
};

#endif

/* clock.h - what time it is; settable in tests. */
#ifndef QUORATE_CLOCK_H
#define QUORATE_CLOCK_H

#include <stdint.h>

/* Seconds since 1970, UTC.  QUORATE_CLOCK_OFFSET in the environment (seconds,
 * may be negative) is added: tests move time with it.  */
int64_t clock_now(void);
double clock_now_fine(void); /* the same with fractions */

/* Seconds of CLOCK_MONOTONIC: same for all processes of a machine, unmoved by
 * clock steps; for claims, leases and heartbeats. */
uint32_t clock_monotonic(void);
double clock_monotonic_fine(void); /* the same with fractions */

/* Tests: clock_now() is `t` from now on (0: real time again). */
void clock_set(int64_t t);

/* Sleep; returns early when a signal arrives. */
void clock_sleep(double seconds);

#endif

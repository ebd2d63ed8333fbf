/* clock.c - what time it is; settable in tests. */
#include "clock.h"

#include <stdlib.h>
#include <time.h>

static int64_t fixed_time; /* of clock_set(), 0 none */

/* Read once: the environment does not change under a running program. */
static int64_t
offset(void)
{
    static _Atomic int known;
    static _Atomic int64_t seconds;

    if (!known) {
        const char *text = getenv("QUORATE_CLOCK_OFFSET");

        seconds = text != NULL ? strtoll(text, NULL, 10) : 0;
        known = 1;
    }
    return seconds;
}

double
clock_now_fine(void)
{
    struct timespec ts;

    if (fixed_time != 0)
        return (double)fixed_time;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)(ts.tv_sec + offset()) + (double)ts.tv_nsec / 1e9;
}

int64_t
clock_now(void)
{
    return fixed_time != 0 ? fixed_time : (int64_t)time(NULL) + offset();
}

uint32_t
clock_monotonic(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint32_t)ts.tv_sec;
}

double
clock_monotonic_fine(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

void
clock_set(int64_t t)
{
    fixed_time = t;
}

void
clock_sleep(double seconds)
{
    struct timespec ts;

    if (!(seconds > 0))
        return;
    if (seconds > 1e9)
        seconds = 1e9;
    ts.tv_sec = (time_t)seconds;
    ts.tv_nsec = (long)((seconds - (double)ts.tv_sec) * 1e9);
    (void)nanosleep(&ts, NULL);
}

/* refused.c - names of reasons, and how often each occurred. */
#include "refused.h"

#include <stdio.h>
#include <string.h>

static const char *const names[REFUSED_MAX + 1] = {
    [REFUSED_NO_VERSION] = "no app version",
    [REFUSED_VERSION_OLD] = "app version too old",
    [REFUSED_CLIENT] = "client version",
    [REFUSED_PLAN_CLASS] = "plan class",
    [REFUSED_MEMORY] = "memory",
    [REFUSED_DISK] = "disk",
    [REFUSED_BANDWIDTH] = "bandwidth",
    [REFUSED_DEADLINE] = "deadline",
    [REFUSED_HR_UNKNOWN] = "unknown class of hosts",
};

const char *
refused_name(int reason)
{
    return reason > 0 && reason <= REFUSED_MAX ? names[reason] : "unknown";
}

/* The reason with the highest count, and its count goes to 0; 0: none left. */
static int
take_most(size_t of[REFUSED_MAX + 1], size_t *ret_count)
{
    int most = 0;

    for (int k = 0; k <= REFUSED_MAX; k++)
        if (of[k] > of[most])
            most = k;
    *ret_count = of[most];
    of[most] = 0;
    return most;
}

void
refused_breakdown(const struct refused_host *host, size_t n, char *ret,
                  size_t size)
{
    size_t of[REFUSED_MAX + 1] = {0}, count, at = 0;

    for (size_t i = 0; i < n; i++)
        of[host[i].reason <= REFUSED_MAX ? host[i].reason : 0]++;
    ret[0] = '\0';
    for (;;) {
        int reason = take_most(of, &count);
        int len;

        if (count == 0)
            return;
        len = snprintf(ret + at, size - at, "%s%zu %s", at > 0 ? ", " : "",
                       count, refused_name(reason));
        if (len < 0 || (size_t)len >= size - at)
            return;
        at += (size_t)len;
    }
}

/* amount.c - amounts in words that people read. */
#include "amount.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define KILO 1024.0
#define FOR_EVER (100 * 365 * 86400.0) /* s */

const char *
amount_bytes(double bytes, char ret[AMOUNT_SIZE])
{
    static const char *const unit[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
    size_t last = sizeof(unit) / sizeof(unit[0]) - 1, u = 0;

    while (u < last && fabs(bytes) >= KILO) {
        bytes /= KILO;
        u++;
    }
    if (fabs(bytes) < 1e6)
        snprintf(ret, AMOUNT_SIZE, "%.*f %s",
                 u > 0 && fabs(bytes) < 100 ? 1 : 0, bytes, unit[u]);
    else
        snprintf(ret, AMOUNT_SIZE, "%.3g %s", bytes, unit[u]);
    return ret;
}

const char *
amount_seconds(double seconds, char ret[AMOUNT_SIZE])
{
    static const struct {
        int64_t seconds;
        const char *name;
    } unit[] = {
        {86400, "d"  },
        {3600,  "h"  },
        {60,    "min"},
        {1,     "s"  }
    };
    size_t u = 0;
    int64_t s, rest;

    if (!(fabs(seconds) < FOR_EVER)) {
        snprintf(ret, AMOUNT_SIZE, "for ever");
        return ret;
    }
    s = (int64_t)fabs(seconds);
    while (unit[u].seconds > 1 && s < unit[u].seconds)
        u++;
    rest = unit[u].seconds > 1 ? s % unit[u].seconds / unit[u + 1].seconds : 0;
    if (rest > 0)
        snprintf(ret, AMOUNT_SIZE, "%s%d %s %d %s", seconds < 0 ? "-" : "",
                 (int)(s / unit[u].seconds), unit[u].name, (int)rest,
                 unit[u + 1].name);
    else
        snprintf(ret, AMOUNT_SIZE, "%s%d %s", seconds < 0 && s > 0 ? "-" : "",
                 (int)(s / unit[u].seconds), unit[u].name);
    return ret;
}

/* version.c - the best app version of a job for a host (dispatch §7).
 *
 * In scope for now are versions without a plan class.  They all use one CPU at
 * the host's speed, so there is nothing to compare between platforms: the
 * client's first platform with a version that fits wins, and there the newest
 * version. */
#include "version.h"

#define FLOPS_UNKNOWN 1e9 /* FLOPS, of a host without benchmarks (§7) */

enum fit {
    FITS_NOT,       /* another app, platform or kind */
    FITS_TOO_OLD,   /* below app.min_version */
    FITS_NO_CLIENT, /* made for newer, or older, clients */
    FITS,
};

/* Old notation: 612 is client 6.12.0. */
static int
core_version(int version)
{
    return version >= 1 && version <= 9999 ? version * 100 : version;
}

static bool
suits_client(const struct app_version *v, int client_version)
{
    int least = core_version(v->min_core_version);
    int most = core_version(v->max_core_version);

    return (least == 0 || client_version >= least) &&
           (most == 0 || client_version <= most);
}

/* A workunit pinned to a version takes that one, superseded or not. */
static bool
is_offered(const struct version_query *q, const struct app_version *v)
{
    if (q->app_version_num != 0)
        return v->version_num == q->app_version_num;
    return !v->deprecated;
}

static enum fit
version_fit(const struct version_query *q, int64_t platformid,
            const struct app_version *v)
{
    if (v->appid != q->app->id || v->platformid != platformid ||
        v->plan_class[0] != '\0' || !is_offered(q, v))
        return FITS_NOT;
    if (v->version_num < q->app->min_version)
        return FITS_TOO_OLD;
    return suits_client(v, q->client_version) ? FITS : FITS_NO_CLIENT;
}

/* The newest version for one platform, or -1; what did not fit is counted. */
static ptrdiff_t
newest_for_platform(const struct version_query *q, int64_t platformid,
                    const struct app_version *versions, size_t n,
                    struct version_choice *ret)
{
    ptrdiff_t best = -1;

    for (size_t i = 0; i < n; i++) {
        switch (version_fit(q, platformid, &versions[i])) {
        case FITS_NOT:
            break;
        case FITS_TOO_OLD:
            ret->version_too_old = true;
            break;
        case FITS_NO_CLIENT:
            ret->client_too_old = true;
            break;
        case FITS:
            if (best < 0 ||
                versions[i].version_num > versions[best].version_num)
                best = (ptrdiff_t)i;
            break;
        }
    }
    return best;
}

void
version_choose(const struct version_query *q,
               const struct app_version *versions, size_t n,
               struct version_choice *ret)
{
    double flops = q->flops_per_cpu > 0 ? q->flops_per_cpu : FLOPS_UNKNOWN;

    *ret = (struct version_choice){
        .index = -1,
        .avg_ncpus = 1,
        .flops = flops,
        .peak_flops = flops,
    };
    for (size_t p = 0; p < q->n_platforms && ret->index < 0; p++)
        ret->index = newest_for_platform(q, q->platforms[p], versions, n, ret);

    /* one reason at most: a new enough version for another client is nearer */
    if (ret->index >= 0)
        ret->client_too_old = false;
    if (ret->index >= 0 || ret->client_too_old)
        ret->version_too_old = false;
}

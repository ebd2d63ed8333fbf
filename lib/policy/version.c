/* version.c - the best app version of a job for a host (dispatch §7).
 *
 * In scope for now are versions without a plan class.  They all use one CPU at
 * the host's speed, so there is nothing to compare between platforms: the
 * client's first platform with a version that fits wins, and there the newest
 * version. */
#include "version.h"

#define FLOPS_UNKNOWN 1e9 /* FLOPS, of a host without benchmarks (§7) */

/* Old notation: 612 is client 6.12.0. */
static int
core_version(int version)
{
    return version >= 1 && version <= 9999 ? version * 100 : version;
}

static enum version_refusal
client_refusal(const struct app_version *v, int client_version)
{
    int least = core_version(v->min_core_version);
    int most = core_version(v->max_core_version);

    if (least != 0 && client_version < least)
        return VERSION_CLIENT_TOO_OLD;
    if (most != 0 && client_version > most)
        return VERSION_CLIENT_TOO_NEW;
    return VERSION_OK;
}

/* A workunit pinned to a version takes that one, superseded or not. */
static bool
is_offered(const struct version_query *q, const struct app_version *v)
{
    if (q->app_version_num != 0)
        return v->version_num == q->app_version_num;
    return !v->deprecated;
}

static enum version_refusal
version_refusal(const struct version_query *q, int64_t platformid,
                const struct app_version *v)
{
    if (v->appid != q->app->id || v->platformid != platformid ||
        v->plan_class[0] != '\0' || !is_offered(q, v))
        return VERSION_NO_PLATFORM;
    if (v->version_num < q->app->min_version)
        return VERSION_TOO_OLD;
    return client_refusal(v, q->client_version);
}

/* The newest version for one platform, or -1; the nearest refusal is kept. */
static ptrdiff_t
newest_for_platform(const struct version_query *q, int64_t platformid,
                    const struct app_version *versions, size_t n,
                    struct version_choice *ret)
{
    ptrdiff_t best = -1;

    for (size_t i = 0; i < n; i++) {
        enum version_refusal no = version_refusal(q, platformid, &versions[i]);

        if (no != VERSION_OK && no > ret->refusal)
            ret->refusal = no;
        if (no == VERSION_OK &&
            (best < 0 || versions[i].version_num > versions[best].version_num))
            best = (ptrdiff_t)i;
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
        .usage = {.avg_ncpus = 1,
                  .projected_flops = flops,
                  .peak_flops = flops},
        .fpops_scale = 1,
        .refusal = VERSION_NO_PLATFORM,
        .text = "",
    };
    for (size_t p = 0; p < q->n_platforms && ret->index < 0; p++)
        ret->index =
            newest_for_platform(q, q->platforms[p].id, versions, n, ret);
    if (ret->index < 0)
        return;
    ret->refusal = VERSION_OK;
    ret->version_id = versions[ret->index].id;
}

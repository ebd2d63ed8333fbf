/* host_offer.h - what a host has to offer in this request (dispatch §6). */
#ifndef QUORATE_HOST_OFFER_H
#define QUORATE_HOST_OFFER_H

#include "rules.h"

struct project_prefs;
struct rpc;

/* Everything but the limits on jobs in progress, which limits.c adds. */
void host_offer_describe(const struct rpc *, const struct project_prefs *,
                         struct offer_host *ret);

#endif

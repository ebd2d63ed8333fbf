/* request_ability.h - coprocs and the rest of host_info -> struct ability.
 * Inside lib/proto only. */
#ifndef QUORATE_REQUEST_ABILITY_H
#define QUORATE_REQUEST_ABILITY_H

#include "ability.h"

struct xml_node;

/* What host_info says beyond table host. */
void ability_read_host_info(const struct xml_node *, struct ability *ret);
void ability_read_coprocs(const struct xml_node *, struct ability *ret);

#endif

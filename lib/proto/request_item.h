/* request_item.h - the items of a request's lists: results, trickles, versions,
 * files.  Inside lib/proto only.  Each function fills a zeroed struct. */
#ifndef QUORATE_REQUEST_ITEM_H
#define QUORATE_REQUEST_ITEM_H

#include "request.h"

struct dialect;
struct xml_node;

/* The opaque body of a node as valid UTF-8, appended.  False if it has none. */
bool item_body(const struct xml_node *, const struct dialect *,
               struct buf *out);

/* False: it has no name, nothing is held. */
bool item_result(const struct xml_node *, const struct dialect *,
                 struct reported_result *ret);
bool item_other_result(const struct xml_node *, struct other_result *ret);
bool item_file(const struct xml_node *, struct client_file *ret);
/* False: it runs on a coprocessor, or has no deadline. */
bool item_queued_job(const struct xml_node *, struct queued_job *ret);
/* False: neither <yes> nor <no> with an id. */
bool item_keyword(const struct xml_node *, struct keyword_wish *ret);
void item_app_version(const struct xml_node *, struct client_app_version *ret);

/* False: it has no body. */
bool item_trickle(const struct xml_node *, const struct dialect *,
                  struct trickle_up *ret);

void item_free(struct reported_result *);

/* Drop (and free) each result whose name an earlier one has.  Returns how many
 * are left, in their order. */
size_t item_drop_duplicates(struct reported_result *, size_t n);

#endif

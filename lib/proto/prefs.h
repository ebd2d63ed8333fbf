/* prefs.h - preferences (protocol §8): a document -> what the server uses of
 * it. */
#ifndef QUORATE_PREFS_H
#define QUORATE_PREFS_H

#include <stdbool.h>

#include "account.h"

/* What a client assumes that has no preferences. */
void prefs_defaults(struct global_prefs *ret);

/* Read a <global_preferences> document, in a client's dialect.  A block of this
 * venue ("" = none) replaces the main part: its missing elements have their
 * defaults, not the main part's values; mod_time is always the main part's.
 * 0, or -1 and defaults if the document cannot be read.  NULL is unreadable. */
int prefs_parse(const char *xml, const char *venue, struct global_prefs *ret);

/* Is this a <global_preferences> document of well-formed XML?  One that is not
 * may be read all the same, but must not go into a reply. */
bool prefs_is_xml(const char *xml);

/* Read a <project_preferences> document (protocol §8.3); as with global ones, a
 * block of this venue replaces the main part.  Limits below 1 and what is no
 * number are no limit.  0; 1 read, but it is not well-formed XML, so it must
 * not go into a reply; -1 and no preferences if the document cannot be read.
 * NULL and "" are readable and empty.  Free *ret in all cases. */
int project_prefs_parse(const char *xml, const char *venue,
                        struct project_prefs *ret);
void project_prefs_free(struct project_prefs *);

/* Did the user select this application?  Yes if none is selected. */
bool project_prefs_selects(const struct project_prefs *, int64_t appid);

#endif

/* prefs.h - global preferences (protocol §8.1): a document -> the numbers that
 * the server uses. */
#ifndef QUORATE_PREFS_H
#define QUORATE_PREFS_H

#include "account.h"

/* What a client assumes that has no preferences. */
void prefs_defaults(struct global_prefs *ret);

/* Read a <global_preferences> document, in a client's dialect.  A block of this
 * venue ("" = none) replaces the main part: its missing elements have their
 * defaults, not the main part's values; mod_time is always the main part's.
 * 0, or -1 and defaults if the document cannot be read.  NULL is unreadable. */
int prefs_parse(const char *xml, const char *venue, struct global_prefs *ret);

#endif

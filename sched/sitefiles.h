/* sitefiles.h - the optional files in the project's root that replies are made
 * from: gui_urls.xml, project_files.xml, file_delete_regex, download_servers,
 * plan_class_spec.xml.
 *
 * They are kept between requests, and read again when they change.  What is
 * wrong with one is logged, and it (or its bad line) is left out: a reply that
 * clients cannot read would be worse. */
#ifndef QUORATE_SITEFILES_H
#define QUORATE_SITEFILES_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "plan_class_spec.h"

struct config;
struct mirrors;

enum {
    SITEFILE_GUI_URLS,
    SITEFILE_PROJECT_FILES,
    SITEFILE_DELETE_REGEX,
    SITEFILE_SERVERS,
    SITEFILE_PLAN_CLASSES,
    N_SITEFILES,
};

struct sitefiles {
    struct timespec mtime[N_SITEFILES]; /* all 0: not there */
    char *gui_urls, *project_files;     /* XML, or NULL */
    regex_t *delete_regex;
    size_t n_delete_regex;
    struct mirrors *mirrors;            /* or NULL */
    struct plan_class_set plan_classes; /* no file: the built-in names */
};

void sitefiles_refresh(struct sitefiles *, const struct config *);
void sitefiles_free(struct sitefiles *);

/* Is the client to delete its sticky file of this name? */
bool sitefiles_deletes(const struct sitefiles *, const char *name);

#endif

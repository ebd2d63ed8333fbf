/* db_catalog.h - the feeder's question: which platforms, applications and
 * versions may be used, and how fast are the hosts?
 *
 * Writes nothing. */
#ifndef QUORATE_DB_CATALOG_H
#define QUORATE_DB_CATALOG_H

#include "app.h"
#include "catalog.h"

struct db;

struct db_catalog {
    struct platform *platform;
    size_t n_platforms;
    struct app *app;
    size_t n_apps;
    struct app_version *version; /* with xml_doc */
    size_t n_versions;
    struct host_speeds speeds;
};

/* Read all platforms, apps and versions that are not deprecated (dispatch
 * §1.2), and how fast the hosts are (§1.1).  Versions whose app or platform is
 * not among them are left out.
 *
 * A version with a lower number than another of the same app, platform and plan
 * class is superseded.  If app.min_version is 0 it is left out.  If not, all
 * versions from min_version on are there, the superseded ones marked
 * `deprecated`: only a workunit that pins one (app_version_num) may use it.  An
 * app all of whose versions for a platform are below min_version has the newest
 * of them there, without its document: it is not used, but told apart from an
 * app that was never made for the platform.
 *
 * An application with homogeneous_app_version keeps its superseded versions,
 * too: workunits are committed to the version that their first result got.
 *
 * min_core_version and max_core_version in the old notation (100·major + minor)
 * become 10000·major + 100·minor.
 *
 * 0, and *ret is to be freed; -1 (logged), and there is nothing to free. */
int db_catalog_load(struct db *, struct db_catalog *ret);
void db_catalog_free(struct db_catalog *);

/* The same, for catalog.h; valid as long as the rows are. */
struct catalog_source db_catalog_source(const struct db_catalog *);

#endif

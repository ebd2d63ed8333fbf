/* db_open.c - connect as the project's config.xml says. */
#include "db.h"

#include <string.h>

#include "config.h"
#include "path.h"

/* A project that names its own host as the database's means the local server;
 * it may listen on its socket only. */
static const char *
local_or_given(const char *host)
{
    return host != NULL && strcmp(host, path_short_host()) == 0 ? "" : host;
}

struct db *
db_open(const struct config *cfg)
{
    return db_open_params(local_or_given(cfg->db_host), cfg->db_user,
                          cfg->db_passwd, cfg->db_name);
}

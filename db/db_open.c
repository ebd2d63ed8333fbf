/* db_open.c - connect as the project's config.xml says. */
#include "db.h"

#include "config.h"

struct db *
db_open(const struct config *cfg)
{
    return db_open_params(cfg->db_host, cfg->db_user, cfg->db_passwd,
                          cfg->db_name);
}

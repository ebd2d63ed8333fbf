/* config.h - struct config and the one table that declares config.xml
 * (operations §2).  A new option: a field here, a row in config.c. */
#ifndef QUORATE_CONFIG_H
#define QUORATE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conf.h"

struct buf;

/* One <daemon> or <task> (operations §3).  Strings are never NULL. */
struct config_program {
    char *cmd;
    char *host;
    bool disabled;
    char *output;   /* file name; default made from cmd */
    char *pid_file;
    char *lock_file;
    bool use_shell;
    bool silent_start;
    int64_t period; /* tasks: s */
    bool always_run;
    int line; /* of config.xml */
};

struct config {
    /* Every element of operations §2.1-2.6, field name = element name, in the
     * table's order.  Durations are in seconds whatever the element's unit
     * (grace_period_hours sets report_grace_period, delete_delay_hours is
     * kept as given). */

    struct config_program *daemon;
    size_t n_daemons;
    struct config_program *task;
    size_t n_tasks;

    char *project_root; /* real path of the folder that holds config.xml */
};

extern const struct conf_option config_options[];
extern const size_t n_config_options;

/* Read and check `root`/config.xml.  NULL, and every fault as a line
 * "config.xml:12: text" in `err`.  Derived defaults are filled in: key_dir,
 * download_dir, upload_dir = root/keys, download, upload; host = short name. */
struct config *config_load(const char *root, struct buf *err);
void config_free(struct config *);

#endif

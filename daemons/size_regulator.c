/* size_regulator.c - keep some jobs of each size class ready to be sent.
 *
 * Results of an application with several size classes are made INACTIVE; of
 * each class there are to be between --lo and --hi that are UNSENT, so that the
 * job array is not full of one size (dispatch §13). */
#include "daemon.h"

#include <inttypes.h>
#include <stdlib.h>

#include "buf.h"
#include "db.h"
#include "db_daemon.h"
#include "db_size.h"
#include "log.h"

enum { AT_ONCE = 500 };

struct regulator_options {
    char *app_name;
    int64_t lo, hi, sleep_time;
    bool random_order, priority_order, priority_asc, priority_order_create_time;
};

static enum size_order
order_of(const struct regulator_options *o)
{
    if (o->random_order)
        return SIZE_RANDOM;
    if (o->priority_order || o->priority_order_create_time)
        return SIZE_BEST;
    return o->priority_asc ? SIZE_WORST : SIZE_BY_ID;
}

/* How many were made unsent, or -1. */
static int64_t
regulate(struct daemon *d, int size_class)
{
    const struct regulator_options *o = d->options;
    int64_t have, made = 0;

    if (db_size_count(d->db, d->appid, size_class, o->hi, &have) != 0)
        return -1;
    if (have >= o->lo)
        return 0;
    while (have + made < o->hi && !daemon_stopping()) {
        int64_t want = o->hi - have - made;
        size_t n;
        int rc = db_size_release(
            d->db, d->appid, size_class, order_of(o),
            want < AT_ONCE ? (size_t)want : (size_t)AT_ONCE, &n);

        if (rc < 0)
            return -1;
        made += (int64_t)n;
        if (n == 0) /* no more, or others hold the locks: later */
            break;
    }
    if (made > 0)
        log_normal("size class %d: %" PRId64 " unsent, %" PRId64 " more now",
                   size_class, have, made);
    return made;
}

static int
one_pass(struct daemon *d)
{
    int n;

    if (db_size_classes(d->db, d->appid, &n) != 0)
        return -1;
    for (int i = 0; i < n && !daemon_stopping(); i++)
        if (regulate(d, i) < 0)
            return -1;
    return 0;
}

static int
start(struct daemon *d)
{
    const struct regulator_options *o = d->options;
    int orders = o->random_order + o->priority_asc +
                 (o->priority_order || o->priority_order_create_time);
    int rc;

    if (orders > 1 || o->lo > o->hi) {
        log_critical(orders > 1 ? "one order, please"
                                : "--lo is to be no more than --hi");
        return EXIT_USAGE;
    }
    rc = db_app_id(d->db, o->app_name, &d->appid);
    if (rc == DB_NONE) {
        log_critical("there is no application %s", o->app_name);
        return EXIT_USAGE;
    }
    d->sleep_interval = (double)o->sleep_time;
    return rc;
}

#define CONF_STRUCT struct regulator_options
static const struct conf_option rows[] = {
    OPTION(app_name, CONF_STRING, NULL, 0, 0, CONF_REQUIRED, "NAME",
           "short name of the application"),
    OPTION(lo, CONF_INT, NULL, 1, 1e9, CONF_REQUIRED, "results",
           "act if fewer results of a class than this are unsent"),
    OPTION(hi, CONF_INT, NULL, 1, 1e9, CONF_REQUIRED, "results",
           "have so many then"),
    OPTION(sleep_time, CONF_SECONDS, "5", 1, 86400, 0, "s", "look so often"),
    OPTION(random_order, CONF_BOOL, NULL, 0, 0, 0, "",
           "by the random number that each result has"),
    OPTION(priority_order, CONF_BOOL, NULL, 0, 0, 0, "", "high priority first"),
    OPTION(priority_order_create_time, CONF_BOOL, NULL, 0, 0, 0, "",
           "the same, old workunits first among equals"),
    OPTION(priority_asc, CONF_BOOL, NULL, 0, 0, 0, "", "low priority first"),
};
#undef CONF_STRUCT

int
main(int argc, char **argv)
{
    static const struct daemon_spec spec = {
        .name = "size_regulator",
        .summary = "keep some jobs of each size class ready to be sent",
        .description =
            "For an application with several size classes: if fewer than --lo "
            "results of a class are unsent, inactive ones are made unsent "
            "until there are --hi.  The classes of hosts are those of census.",
        .account = DB_ACCOUNT_SIZE_REGULATOR,
        .pass = one_pass,
        .start = start,
        .options = rows,
        .n_options = ARRAY_LEN(rows),
        .options_size = sizeof(struct regulator_options),
    };

    return daemon_main(argc, argv, &spec);
}

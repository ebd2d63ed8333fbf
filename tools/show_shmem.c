/* show_shmem.c - print what feeder and schedulers share. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "cmdline.h"
#include "config.h"
#include "db.h"
#include "db_refused.h"
#include "jobarray.h"
#include "segment.h"
#include "tool.h"

struct options {
    bool json;
    int64_t unsendable;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(json, CONF_BOOL, NULL, 0, 0, 0, "", "print JSON"),
    OPTION(unsendable, CONF_INT, "0", 0, 100000, 0, "N",
           "instead of the memory, the last N results that could not be sent, "
           "and why"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "show_shmem",
    .section = 1,
    .summary = "print the shared memory of feeder and schedulers",
    .description =
        "Prints the feeder's state, the platforms, applications and versions "
        "that it has published, and each slot of the job array: its state, the "
        "scheduler that has claimed it, its result, and how long it is "
        "there, and how many hosts could not take it for what they are.\n\n"
        "Run it in the project's folder.  Nothing is changed, and nobody is "
        "kept waiting; the slots may change while they are read.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

/* ---- what there is, as one JSON value -------------------------------------
 */

static json_t *
anchor_json(const char *name, const struct segment *s, enum segment_state state)
{
    const struct segment_anchor *a = segment_anchor(s);

    return json_pack("{s:s, s:s, s:i, s:I, s:i, s:i, s:b}", "name", name,
                     "state", segment_state_text(state), "version",
                     (int)a->version, "generation",
                     (json_int_t)segment_generation(s), "feeder_pid",
                     (int)atomic_load(&a->feeder_pid), "heartbeat_age",
                     (int)(clock_monotonic() - atomic_load(&a->heartbeat)),
                     "same_pid_namespace", (int)segment_shares_pids(s));
}

static json_t *
platforms_json(const struct catalog *c)
{
    json_t *list = json_array();

    for (size_t i = 0; i < catalog_n_platforms(c); i++) {
        struct platform p;

        catalog_platform(c, i, &p);
        json_array_append_new(
            list,
            json_pack("{s:I, s:s}", "id", (json_int_t)p.id, "name", p.name));
    }
    return list;
}

static json_t *
apps_json(const struct catalog *c)
{
    json_t *list = json_array();

    for (size_t i = 0; i < catalog_n_apps(c); i++) {
        struct app a;

        catalog_app(c, i, &a);
        json_array_append_new(
            list, json_pack("{s:I, s:s, s:i, s:f, s:i, s:b, s:i, s:i}", "id",
                            (json_int_t)a.id, "name", a.name, "min_version",
                            a.min_version, "weight", a.weight,
                            "homogeneous_redundancy", a.homogeneous_redundancy,
                            "beta", (int)a.beta, "locality_scheduling",
                            a.locality_scheduling, "size_quantiles",
                            a.n_size_quantiles));
    }
    return list;
}

static json_t *
versions_json(const struct catalog *c)
{
    json_t *list = json_array();

    for (size_t i = 0; i < catalog_n_versions(c); i++) {
        struct app_version v;

        catalog_version(c, i, &v);
        json_array_append_new(
            list,
            json_pack("{s:I, s:I, s:I, s:i, s:s, s:b, s:b}", "id",
                      (json_int_t)v.id, "appid", (json_int_t)v.appid,
                      "platformid", (json_int_t)v.platformid, "version_num",
                      v.version_num, "plan_class", v.plan_class, "superseded",
                      (int)v.deprecated, "beta", (int)v.beta));
    }
    return list;
}

static const char *
slot_state_text(enum slot_state state)
{
    switch (state) {
    case SLOT_EMPTY:
        return "empty";
    case SLOT_READY:
        return "ready";
    case SLOT_CLAIMED:
        return "claimed";
    }
    return "unknown";
}

/* Only the word and the hints: the job itself is its owner's. */
static char *
refused_text(const struct jobarray *array, const struct job_slot *slot,
             char ret[REFUSED_TEXT])
{
    int64_t id = atomic_load(&slot->result_id);
    size_t n = jobarray_refused(array, slot, id, NULL, 0);
    struct refused_host *host = xcalloc(n + 1, sizeof(*host));
    size_t found = jobarray_refused(array, slot, id, host, n);

    refused_breakdown(host, found < n ? found : n, ret, REFUSED_TEXT);
    free(host);
    return ret;
}

static json_t *
slot_json(const struct jobarray *array, const struct job_slot *slot, size_t i,
          uint32_t now)
{
    char text[REFUSED_TEXT];
    uint64_t word = atomic_load(&slot->word);
    enum slot_state state = jobarray_state(slot);
    json_t *j = json_pack("{s:I, s:s}", "slot", (json_int_t)i, "state",
                          slot_state_text(state));

    if (state == SLOT_CLAIMED)
        json_object_update_new(
            j,
            json_pack("{s:i, s:i}", "owner", (int)jobarray_owner(word),
                      "claimed_for", (int)(now - jobarray_claim_time(word))));
    if (state != SLOT_EMPTY)
        json_object_update_new(
            j, json_pack("{s:I, s:I, s:i, s:i, s:i}", "result",
                         (json_int_t)atomic_load(&slot->result_id), "workunit",
                         (json_int_t)atomic_load(&slot->wu_id), "priority",
                         (int)atomic_load(&slot->priority), "age",
                         (int)(now - jobarray_time_added(slot)), "refusals",
                         (int)atomic_load(&slot->refusals)));
    if (state != SLOT_EMPTY && atomic_load(&slot->refusals) > 0)
        json_object_set_new(j, "refused",
                            json_string(refused_text(array, slot, text)));
    return j;
}

static json_t *
slots_json(struct jobarray *array)
{
    json_t *list = json_array();
    uint32_t now = clock_monotonic();

    for (size_t i = 0; i < jobarray_n_slots(array); i++)
        json_array_append_new(
            list, slot_json(array, jobarray_slot(array, i), i, now));
    return list;
}

static json_t *
segment_json(const char *name, const struct segment *s,
             enum segment_state state)
{
    json_t *all = json_object();
    const struct catalog *catalog = segment_catalog(s);
    struct jobarray *array = segment_jobarray(s);

    json_object_set_new(all, "segment", anchor_json(name, s, state));
    if (catalog != NULL) {
        json_object_set_new(all, "platforms", platforms_json(catalog));
        json_object_set_new(all, "apps", apps_json(catalog));
        json_object_set_new(all, "versions", versions_json(catalog));
    }
    if (array != NULL)
        json_object_set_new(all, "slots", slots_json(array));
    return all;
}

/* ---- the same for people --------------------------------------------------
 */

static void
print_value(const json_t *v, int width)
{
    if (json_is_string(v))
        printf(" %-*s", width, json_string_value(v));
    else if (json_is_integer(v))
        printf(" %*" JSON_INTEGER_FORMAT, width, json_integer_value(v));
    else if (json_is_real(v))
        printf(" %*g", width, json_real_value(v));
    else if (json_is_boolean(v))
        printf(" %*s", width, json_is_true(v) ? "yes" : "no");
    else
        printf(" %*s", width, "-");
}

struct column {
    const char *key;
    int width; /* negative: to the left */
};

static void
print_table(const char *title, const json_t *list, const struct column *column,
            size_t n_columns)
{
    size_t i;
    const json_t *row;

    printf("\n%s: %zu\n", title, json_array_size(list));
    if (json_array_size(list) == 0)
        return;
    for (size_t c = 0; c < n_columns; c++)
        printf(" %*s", column[c].width, column[c].key);
    putchar('\n');
    json_array_foreach(list, i, row)
    {
        for (size_t c = 0; c < n_columns; c++) {
            const json_t *v = json_object_get(row, column[c].key);
            int width = column[c].width;

            print_value(v, json_is_string(v) && width < 0 ? -width : width);
        }
        putchar('\n');
    }
}

static void
print_text(const json_t *all)
{
    static const struct column platform[] = {
        {"id",   6  },
        {"name", -40}
    };
    static const struct column app[] = {
        {"id",          6  },
        {"name",        -30},
        {"min_version", 11 },
        {"weight",      7  },
        {"beta",        4  },
    };
    static const struct column version[] = {
        {"id",          6  },
        {"appid",       6  },
        {"platformid",  10 },
        {"version_num", 11 },
        {"plan_class",  -20},
        {"superseded",  10 },
        {"beta",        4  },
    };
    static const struct column slot[] = {
        {"slot",        6 },
        {"state",       -8},
        {"result",      12},
        {"workunit",    12},
        {"priority",    8 },
        {"age",         6 },
        {"refusals",    8 },
        {"owner",       8 },
        {"claimed_for", 11},
        {"refused",     -1},
    };
    const json_t *anchor = json_object_get(all, "segment");
    const char *key;
    json_t *v;

    json_object_foreach((json_t *)(uintptr_t)anchor, key, v)
    {
        printf("%-20s", key);
        print_value(v, 0);
        putchar('\n');
    }
    print_table("platforms", json_object_get(all, "platforms"), platform,
                ARRAY_LEN(platform));
    print_table("apps", json_object_get(all, "apps"), app, ARRAY_LEN(app));
    print_table("versions", json_object_get(all, "versions"), version,
                ARRAY_LEN(version));
    print_table("slots", json_object_get(all, "slots"), slot, ARRAY_LEN(slot));
}

/* ---- main -----------------------------------------------------------------
 */

static void
print_absent(const char *name, enum segment_state state, bool json)
{
    if (json)
        printf("{\"segment\": {\"name\": \"%s\", \"state\": \"%s\"}}\n", name,
               segment_state_text(state));
    else
        printf("%s: %s\n", name, segment_state_text(state));
}

static int
show(const char *name, bool json)
{
    enum segment_state state;
    struct segment *s = segment_look(name, &state);
    json_t *all;

    if (s == NULL) {
        print_absent(name, state, json);
        return EXIT_NO;
    }
    all = segment_json(name, s, state);
    if (json)
        json_dumpf(all, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    else
        print_text(all);
    json_decref(all);
    segment_detach(s);
    return state == SEGMENT_OK ? EXIT_OK : EXIT_NO;
}

static void
print_unsendable(const struct could_not_send *c, size_t n, bool json)
{
    json_t *all = json_array();

    for (size_t i = 0; i < n; i++) {
        if (!json)
            printf("result %" PRId64 ", workunit %" PRId64 " %s: %d hosts: "
                   "%s\n",
                   c[i].result_id, c[i].wu_id, c[i].wu_name, c[i].hosts,
                   c[i].breakdown);
        json_array_append_new(
            all, json_pack("{s:I, s:I, s:s, s:I, s:i, s:s}", "result",
                           (json_int_t)c[i].result_id, "workunit",
                           (json_int_t)c[i].wu_id, "name", c[i].wu_name, "time",
                           (json_int_t)c[i].time, "hosts", c[i].hosts,
                           "breakdown", c[i].breakdown));
    }
    if (json)
        json_dumpf(all, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    json_decref(all);
}

static int
show_unsendable(const struct config *cfg, size_t max, bool json)
{
    struct db *db = db_open(cfg, DB_ACCOUNT_READER);
    struct could_not_send *c = xcalloc(max, sizeof(*c));
    size_t n = 0;
    int rc = db == NULL ? -1 : db_could_not_send_list(db, c, max, &n);

    if (rc == 0)
        print_unsendable(c, n, json);
    free(c);
    if (db != NULL)
        db_close(db);
    return rc == 0 ? EXIT_OK : EXIT_TEMPFAIL;
}

int
main(int argc, char **argv)
{
    struct options options = {.json = false};
    struct config *cfg;
    char name[32];
    int rc;

    tool_begin(argv[0]);
    if (cmdline_parse(&cmdline, argc, argv, &options) != argc) {
        tool_error("takes no arguments; try --help");
        return EXIT_USAGE;
    }
    cfg = tool_config("", argv[0]);
    if (cfg == NULL)
        return EXIT_USAGE;
    segment_name(cfg->shmem_key, cfg->project_root, name);
    rc = options.unsendable > 0
             ? show_unsendable(cfg, (size_t)options.unsendable, options.json)
             : show(name, options.json);
    config_free(cfg);
    return fflush(stdout) == 0 ? rc : EXIT_TEMPFAIL;
}

/* test_conf.c - option rows: values, bounds, defaults, names, print-out. */
#include <string.h>

#include "buf.h"
#include "conf.h"
#include "unit_test.h"

struct sample {
    bool flag;
    int64_t count;
    double share;
    int64_t wait;
    char *text;
    int64_t mode;
    struct conf_list list;
    char *secret;
};

#define CONF_STRUCT struct sample
enum { FLAG, COUNT, SHARE, WAIT, TEXT, MODE, LIST, SECRET };

static const struct conf_option rows[] = {
    OPTION(flag, CONF_BOOL, NULL, 0, 0, 0, "", "a switch"),
    OPTION(count, CONF_INT, "5", 1, 100, 0, "slots", "how many"),
    OPTION(share, CONF_DOUBLE, "0.5", 0, 1, 0, "", "what part"),
    OPTION(wait, CONF_SECONDS, "90", 0, 1e18, 0, "s", "how long"),
    OPTION(text, CONF_STRING, "x y", 0, 0, 0, "", "what"),
    OPTION(mode, CONF_OCTAL, NULL, 0, 511, 0, "", "of the file"),
    OPTION(list, CONF_LIST, NULL, 0, 0, 0, "", "many"),
    OPTION(secret, CONF_STRING, NULL, 0, 0, CONF_SECRET, "", "hidden"),
};

static struct sample sample;

static void
setup(void)
{
    conf_defaults(rows, ARRAY_LEN(rows), &sample);
}

static void
teardown(void)
{
    conf_free(rows, ARRAY_LEN(rows), &sample);
}

START_TEST(every_field_has_its_default)
{
    ck_assert(!sample.flag);
    ck_assert_int_eq(sample.count, 5);
    ck_assert_double_eq(sample.share, 0.5);
    ck_assert_int_eq(sample.wait, 90);
    ck_assert_str_eq(sample.text, "x y");
    ck_assert_int_eq(sample.mode, -1);
    ck_assert_uint_eq(sample.list.n, 0);
    ck_assert_str_eq(sample.secret, "");
}
END_TEST

/* `value` is what conf_value() says afterwards; NULL: refused, `err` says why.
 */
static const struct {
    int row;
    const char *given, *value, *err;
} values[] = {
    {FLAG,  "",                     "1",         NULL                        },
    {FLAG,  " 1 ",                  "1",         NULL                        },
    {FLAG,  "0",                    "0",         NULL                        },
    {FLAG,  "true",                 NULL,        "must be 1 or 0"            },
    {FLAG,  "2",                    NULL,        "must be 1 or 0"            },
    {COUNT, "1",                    "1",         NULL                        },
    {COUNT, "100",                  "100",       NULL                        },
    {COUNT, "\n 7\t",               "7",         NULL                        },
    {COUNT, "0x1f",                 "31",        NULL                        },
    {COUNT, "010",                  "10",        NULL                        },
    {COUNT, "0",                    NULL,        "must be 1 to 100"          },
    {COUNT, "101",                  NULL,        "must be 1 to 100"          },
    {COUNT, "",                     NULL,        "not a whole number: "      },
    {COUNT, "5x",                   NULL,        "not a whole number: 5x"    },
    {COUNT, "5.0",                  NULL,        "not a whole number: 5.0"   },
    {COUNT, "99999999999999999999", NULL,        "not a whole number"        },
    {SHARE, "0",                    "0",         NULL                        },
    {SHARE, "1",                    "1",         NULL                        },
    {SHARE, "2.5e-1",               "0.25",      NULL                        },
    {SHARE, "1.01",                 NULL,        "must be 0 to 1"            },
    {SHARE, "nan",                  NULL,        "not a number: nan"         },
    {SHARE, "inf",                  NULL,        "not a number: inf"         },
    {SHARE, "0,5",                  NULL,        "not a number: 0,5"         },
    {WAIT,  "17",                   "17",        NULL                        },
    {WAIT,  "2 hours",              "7200",      NULL                        },
    {WAIT,  "-1",                   NULL,        "must be at least 0 seconds"},
    {WAIT,  "soon",                 NULL,        "not a duration: soon"      },
    {TEXT,  "a <b> & c",            "a <b> & c", NULL                        },
    {TEXT,  "",                     "",          NULL                        },
    {MODE,  "0664",                 "0664",      NULL                        },
    {MODE,  "0",                    "00",        NULL                        },
    {MODE,  "777",                  "0777",      NULL                        },
    {MODE,  "1000",                 NULL,        "must be 0 to 777"          },
    {MODE,  "8",                    NULL,        "not an octal number: 8"    },
};

START_TEST(a_value_is_taken_or_refused_with_a_reason)
{
    struct buf err = BUF_INIT, was = BUF_INIT, is = BUF_INIT;
    const struct conf_option *row = &rows[values[_i].row];
    int rc;

    conf_value(row, &sample, &was);
    rc = conf_set(row, &sample, values[_i].given, &err);
    conf_value(row, &sample, &is);
    if (values[_i].value != NULL) {
        ck_assert_msg(rc == 0, "%s: %s", values[_i].given, buf_str(&err));
        ck_assert_str_eq(buf_str(&is), values[_i].value);
        ck_assert_uint_eq(err.len, 0);
    } else {
        ck_assert_int_eq(rc, -1);
        ck_assert_msg(strstr(buf_str(&err), values[_i].err) != NULL,
                      "\"%s\" for %s", buf_str(&err), values[_i].given);
        ck_assert_str_eq(buf_str(&is), buf_str(&was)); /* untouched */
    }
    buf_free(&err);
    buf_free(&was);
    buf_free(&is);
}
END_TEST

static const struct {
    const char *text;
    int64_t bare, seconds; /* -1: no duration */
} durations[] = {
    {"90",         1,  90     },
    {"5",          60, 300    },
    {"5 min",      60, 300    },
    {"5min",       1,  300    },
    {"1 minute",   1,  60     },
    {"2 hours",    1,  7200   },
    {"1.5 h",      1,  5400   },
    {"7 days",     1,  604800 },
    {"1 day",      60, 86400  },
    {"2 weeks",    1,  1209600},
    {"1 month",    60, 2592000},
    {"3 months",   60, 7776000},
    {" 10 secs ",  60, 10     },
    {"0",          60, 0      },
    {"",           1,  -1     },
    {"min",        1,  -1     },
    {"5 mo",       1,  -1     },
    {"5 ss",       1,  -1     },
    {"5 moons",    1,  -1     },
    {"1e300 days", 1,  -1     },
    {"nan",        1,  -1     },
};

START_TEST(a_duration_has_a_unit_or_the_bare_one)
{
    int64_t got = -1;
    int rc = conf_seconds(durations[_i].text, durations[_i].bare, &got);

    ck_assert_msg(got == durations[_i].seconds, "\"%s\": %lld",
                  durations[_i].text, (long long)got);
    ck_assert_int_eq(rc, durations[_i].seconds < 0 ? -1 : 0);
}
END_TEST

START_TEST(a_list_grows)
{
    struct buf b = BUF_INIT;

    ck_assert_int_eq(conf_set(&rows[LIST], &sample, "one", &b), 0);
    ck_assert_int_eq(conf_set(&rows[LIST], &sample, "two 2", &b), 0);
    ck_assert_uint_eq(sample.list.n, 2);
    ck_assert_str_eq(sample.list.item[1], "two 2");
    conf_value(&rows[LIST], &sample, &b);
    ck_assert_str_eq(buf_str(&b), "one, two 2");
    buf_free(&b);
}
END_TEST

START_TEST(a_secret_is_never_shown)
{
    struct buf b = BUF_INIT;

    conf_value(&rows[SECRET], &sample, &b);
    ck_assert_str_eq(buf_str(&b), ""); /* there is none: that may be seen */
    ck_assert_int_eq(conf_set(&rows[SECRET], &sample, "hush", &b), 0);
    conf_print(rows, ARRAY_LEN(rows), &sample, &b);
    ck_assert_ptr_null(strstr(buf_str(&b), "hush"));
    ck_assert_ptr_nonnull(strstr(buf_str(&b), "secret = ******   # hidden\n"));
    buf_free(&b);
}
END_TEST

START_TEST(all_rows_are_printed_with_what_they_mean)
{
    struct buf b = BUF_INIT;

    conf_print(rows, 5, &sample, &b);
    ck_assert_str_eq(buf_str(&b),
                     "flag = 0   # a switch\n"
                     "count = 5   # how many (slots, default 5, 1 to 100)\n"
                     "share = 0.5   # what part (default 0.5, 0 to 1)\n"
                     "wait = 90   # how long (s, default 90, at least 0)\n"
                     "text = x y   # what (default x y)\n");
    buf_free(&b);
}
END_TEST

static const struct conf_option named[] = {
    {"d|debug_level",    CONF_INT,  0, NULL, 0, 0, 0, "", ""},
    {"shmem_work_items", CONF_INT,  0, NULL, 0, 0, 0, "", ""},
    {"one_pass",         CONF_BOOL, 0, NULL, 0, 0, 0, "", ""},
    {"app",              CONF_BOOL, 0, NULL, 0, 0, 0, "", ""},
};

START_TEST(a_row_is_found_by_either_spelling)
{
    ck_assert_ptr_eq(conf_find(named, 4, "d"), &named[0]);
    ck_assert_ptr_eq(conf_find(named, 4, "debug_level"), &named[0]);
    ck_assert_ptr_eq(conf_find(named, 4, "one_pass"), &named[2]);
    ck_assert_ptr_null(conf_find(named, 4, "d|debug_level"));
    ck_assert_ptr_null(conf_find(named, 4, "debug"));
    ck_assert_ptr_null(conf_find(named, 4, ""));
    ck_assert_str_eq(conf_name(&named[0]), "debug_level");
    ck_assert_str_eq(conf_name(&named[3]), "app");
}
END_TEST

/* Edit distances by hand; the limit is a third of the letters given. */
static const struct {
    const char *given, *near;
} misspelt[] = {
    {"shmem_work_item",  "shmem_work_items"}, /* 1 of 15 */
    {"shmem_wrok_itmes", "shmem_work_items"}, /* 2 swaps of 16 */
    {"one-pass",         "one_pass"        }, /* 1 of 8 */
    {"onepas",           "one_pass"        }, /* 2 of 6 */
    {"npo_ssae",         NULL              }, /* 8 letters, more than 2 */
    {"apo",              "app"             }, /* 1 of 3 */
    {"pap",              "app"             }, /* 1 swap of 3 */
    {"onpas",            NULL              }, /* 3 of 5 */
    {"debuglevel",       "debug_level"     }, /* 1 of 10 */
    {"apq",              "app"             }, /* 1 of 3 */
    {"aqq",              NULL              }, /* 2 of 3 */
    {"ap",               NULL              }, /* 1 of 2 */
    {"",                 NULL              },
    {"completely_else",  NULL              },
};

START_TEST(a_misspelt_name_has_a_nearest_row)
{
    const struct conf_option *near = conf_nearest(named, 4, misspelt[_i].given);

    if (misspelt[_i].near == NULL) {
        ck_assert_ptr_null(near);
    } else {
        ck_assert_ptr_nonnull(near);
        ck_assert_str_eq(conf_name(near), misspelt[_i].near);
    }
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, every_field_has_its_default);
    tcase_add_loop_test(tc, a_value_is_taken_or_refused_with_a_reason, 0,
                        ARRAY_LEN(values));
    tcase_add_loop_test(tc, a_duration_has_a_unit_or_the_bare_one, 0,
                        ARRAY_LEN(durations));
    tcase_add_test(tc, a_list_grows);
    tcase_add_test(tc, a_secret_is_never_shown);
    tcase_add_test(tc, all_rows_are_printed_with_what_they_mean);
    tcase_add_test(tc, a_row_is_found_by_either_spelling);
    tcase_add_loop_test(tc, a_misspelt_name_has_a_nearest_row, 0,
                        ARRAY_LEN(misspelt));
}

int
main(void)
{
    return unit_main("conf", add_tests);
}

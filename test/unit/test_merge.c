/* test_merge.c - which records of hosts may be one computer. */
#include <check.h>
#include <string.h>

#include "merge.h"
#include "unit_test.h"

#define DAY 86400

/* In use on the days `from` to `to`. */
static struct host
computer(int64_t id, int from, int to)
{
    struct host h = {
        .id = id,
        .userid = 7,
        .create_time = from * DAY,
        .rpc_time = to * DAY,
        .p_vendor = "GenuineIntel",
        .p_model = "Intel(R) Core(TM) i5 [Family 6 Model 165 Stepping 3]",
        .os_name = "Linux Debian",
    };

    return h;
}

static const struct {
    const char *promise;
    int from, to; /* days of the second; the first: 10 to 20 */
    bool first_new, second_new;
    enum merge_refusal want;
} times[] = {
    {"one after the other",                           21, 30, false, false, MERGE_OK     },
    {"in either order",                               1,  9,  false, false, MERGE_OK     },
    {"the first day of one is the last of the other", 20, 30, false, false,
     MERGE_AT_ONCE                                                                       },
    {"likewise before",                               1,  10, false, false, MERGE_AT_ONCE},
    {"one inside the other",                          12, 13, false, false, MERGE_AT_ONCE},
    {"but one has done nothing",                      12, 13, false, true,  MERGE_OK     },
    {"or the other",                                  12, 13, true,  false, MERGE_OK     },
};

START_TEST(not_at_the_same_time)
{
    struct host a = computer(1, 10, 20);
    struct host b = computer(2, times[_i].from, times[_i].to);

    ck_assert_msg(merge_check(&a, times[_i].first_new, &b,
                              times[_i].second_new) == times[_i].want,
                  "broken: %s", times[_i].promise);
    ck_assert_msg(merge_check(&b, times[_i].second_new, &a,
                              times[_i].first_new) == times[_i].want,
                  "broken the other way round: %s", times[_i].promise);
}
END_TEST

static const struct {
    const char *promise, *os_name, *vendor, *model;
    enum merge_refusal want;
} kinds[] = {
    {"another Linux",                 "Linux Ubuntu",         "GenuineIntel", "Intel(R) Core(TM) i5",
     MERGE_OK                                                                                                       },
    {"Windows",                       "Microsoft Windows 11", "GenuineIntel", "Intel(R) Core(TM) i5",
     MERGE_SYSTEM                                                                                                   },
    {"Android is not Linux",          "Android Linux",        "GenuineIntel",
     "Intel(R) Core(TM) i5",                                                                            MERGE_SYSTEM},
    {"a system of no family",         "OS/2",                 "GenuineIntel", "Intel(R) Core(TM) i5",
     MERGE_SYSTEM                                                                                                   },
    {"an unknown system",             "",                     "GenuineIntel", "Intel(R) Core(TM) i5",   MERGE_OK    },
    {"another text behind the model", "Linux",                "GenuineIntel",
     "Intel(R) Core(TM) i5 [x86 Family 6]",                                                             MERGE_OK    },
    {"another model",                 "Linux",                "GenuineIntel", "Intel(R) Core(TM) i7",
     MERGE_CPU                                                                                                      },
    {"a longer name",                 "Linux",                "GenuineIntel", "Intel(R) Core(TM) i5 X",
     MERGE_CPU                                                                                                      },
    {"another vendor",                "Linux",                "AuthenticAMD", "Intel(R) Core(TM) i5",
     MERGE_CPU                                                                                                      },
    {"an unknown CPU",                "Linux",                "",             "",                       MERGE_OK    },
};

START_TEST(of_one_kind)
{
    struct host a = computer(1, 10, 20), b = computer(2, 30, 40);

    snprintf(b.os_name, sizeof(b.os_name), "%s", kinds[_i].os_name);
    snprintf(b.p_vendor, sizeof(b.p_vendor), "%s", kinds[_i].vendor);
    snprintf(b.p_model, sizeof(b.p_model), "%s", kinds[_i].model);
    ck_assert_msg(merge_check(&a, false, &b, false) == kinds[_i].want,
                  "broken: %s", kinds[_i].promise);
}
END_TEST

START_TEST(of_one_user)
{
    struct host a = computer(1, 10, 20), b = computer(2, 30, 40);

    ck_assert_int_eq(merge_check(&a, false, &a, false), MERGE_SAME);
    b.userid = 8;
    ck_assert_int_eq(merge_check(&a, false, &b, false), MERGE_USER);
    b.userid = 0;
    ck_assert_int_eq(merge_check(&a, false, &b, false), MERGE_GONE);
}
END_TEST

START_TEST(the_newer_one_goes_on)
{
    struct host a = computer(1, 10, 20), b = computer(2, 9, 40);

    ck_assert(merge_is_newer(&a, &b));
    ck_assert(!merge_is_newer(&b, &a));
    b.create_time = a.create_time;
    ck_assert(merge_is_newer(&b, &a));
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_loop_test(tc, not_at_the_same_time, 0,
                        (int)(sizeof(times) / sizeof(times[0])));
    tcase_add_loop_test(tc, of_one_kind, 0,
                        (int)(sizeof(kinds) / sizeof(kinds[0])));
    tcase_add_test(tc, of_one_user);
    tcase_add_test(tc, the_newer_one_goes_on);
}

int
main(void)
{
    return unit_main("merge", fill);
}

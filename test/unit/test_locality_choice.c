/* test_locality_choice.c - where jobs with large files go (dispatch §9.4). */
#include "locality_choice.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* ---- the file of a job ---- */

static const struct {
    const char *promise, *name;
    size_t length;
} names[] = {
    {"a file is what stands before two underscores", "h1_0500__12_0", 7},
    {"the first two",                                "a__b__c_0",     1},
    {"single ones are part of it",                   "a_b_c__1_0",    5},
    {"no two: no file",                              "h1_0500_12_0",  0},
    {"nothing before them: no file",                 "__1_0",         0},
    {"no name: no file",                             "",              0},
};

START_TEST(a_job_names_its_file)
{
    ck_assert_msg(locality_file_length(names[_i].name) == names[_i].length,
                  "broken: %s", names[_i].promise);
}
END_TEST

/* ---- the next file ---- */

#define FREE(n)                                                                \
    {                                                                          \
        .unsent = (n)                                                          \
    }
#define HELD(n, by)                                                            \
    {                                                                          \
        .unsent = (n), .holders = (by)                                         \
    }
#define OVERDUE(n, by)                                                         \
    {                                                                          \
        .unsent = (n), .holders = (by), .overdue = true                        \
    }
#define TRIED(n)                                                               \
    {                                                                          \
        .unsent = (n), .refused = true                                         \
    }

static const struct {
    const char *promise;
    size_t n;
    struct locality_file file[4];
    bool fast, sorted;
    double draw;
    int64_t min_share;
    ptrdiff_t want;
} choices[] = {
    {"no files: none",                                            0, {FREE(0)},                                  false, false, 0, 50, -1},
    {"a file that nobody works on is sent, however little it is",
     2,                                                              {HELD(900, 1), FREE(1)},
     true,                                                                                                              false,
     0,                                                                                                                           50,
     1                                                                                                                                  },
    {"a file without jobs is not",                                1, {FREE(0)},                                  true,  false, 0, 1,  -1},
    {"nor one tried before",                                      1, {TRIED(200)},                               true,  false, 0, 1,  -1},
    {"of several the draw takes one: here the first",
     3,                                                              {FREE(9), FREE(9), FREE(9)},
     false,                                                                                                             false,
     0,                                                                                                                           50,
     0                                                                                                                                  },
    {"a third of the way is the first still",
     3,                                                              {FREE(9), FREE(9), FREE(9)},
     false,                                                                                                             false,
     0.33,                                                                                                                        50,
     0                                                                                                                                  },
    {"beyond it is the second",
     3,                                                              {FREE(9), FREE(9), FREE(9)},
     false,                                                                                                             false,
     0.34,                                                                                                                        50,
     1                                                                                                                                  },
    {"a draw of 1 is the last",
     3,                                                              {FREE(9), FREE(9), FREE(9)},
     false,                                                                                                             false,
     1,                                                                                                                           50,
     2                                                                                                                                  },
    {"a draw that is no number is the first",
     3,                                                              {FREE(9), FREE(9), FREE(9)},
     false,                                                                                                             false,
     NAN,                                                                                                                         50,
     0                                                                                                                                  },
    {"the draw counts free files only",
     4,                                                              {HELD(9, 1), FREE(9), HELD(9, 1), FREE(9)},
     false,                                                                                                             false,
     0.99,                                                                                                                        50,
     3                                                                                                                                  },
    {"in sorted order it is the first",
     3,                                                              {HELD(9, 1), FREE(9), FREE(9)},
     false,                                                                                                             true,
     0.99,                                                                                                                        50,
     1                                                                                                                                  },
    {"50 jobs for each of two are enough to share a file",
     1,                                                              {HELD(100, 1)},
     false,                                                                                                             false,
     0,                                                                                                                           50,
     0                                                                                                                                  },
    {"one less is not",                                           1, {HELD(99, 1)},                              false, false, 0, 50, -1},
    {"for each of three: 150",                                    1, {HELD(150, 2)},                             false, false, 0, 50, 0 },
    {"the largest share is taken, not the most jobs",
     3,                                                              {HELD(300, 3), HELD(200, 1), HELD(290, 2)},
     false,                                                                                                             false,
     0,                                                                                                                           50,
     1                                                                                                                                  },
    {"of equal shares the first",
     2,                                                              {HELD(200, 1), HELD(200, 1)},
     false,                                                                                                             false,
     0.9,                                                                                                                         50,
     0                                                                                                                                  },
    {"a fast host takes an overdue job, however few there are",
     2,                                                              {HELD(40, 1), OVERDUE(1, 1)},
     true,                                                                                                              false,
     0,                                                                                                                           50,
     1                                                                                                                                  },
    {"before it takes a larger share",
     2,                                                              {HELD(400, 1), OVERDUE(1, 1)},
     true,                                                                                                              false,
     0,                                                                                                                           50,
     1                                                                                                                                  },
    {"a slow host does not",
     2,                                                              {HELD(40, 1), OVERDUE(1, 1)},
     false,                                                                                                             false,
     0,                                                                                                                           50,
     -1                                                                                                                                 },
    {"a free file comes before an overdue one",
     2,                                                              {OVERDUE(100, 1), FREE(1)},
     true,                                                                                                              false,
     0,                                                                                                                           50,
     1                                                                                                                                  },
};

START_TEST(a_file_is_chosen)
{
    const struct locality_host host = {
        .fast = choices[_i].fast,
        .sorted_order = choices[_i].sorted,
        .draw = choices[_i].draw,
        .min_share = choices[_i].min_share,
    };

    ck_assert_msg(locality_choose(choices[_i].file, choices[_i].n, &host) ==
                      choices[_i].want,
                  "broken: %s", choices[_i].promise);
}
END_TEST

/* ---- files on the client ---- */

static const struct {
    const char *promise;
    bool is_work, is_sticky, work_patterns, sticky_patterns;
    enum locality_use want;
} uses[] = {
    {"without patterns every file is for jobs",             false, false, false, false,
     LOCALITY_WORK                                                                                    },
    {"with some, those that match are",                     true,  false, true,  true,  LOCALITY_WORK },
    {"a file of both sorts is, too",                        true,  true,  true,  true,  LOCALITY_WORK },
    {"a sticky file stays",                                 false, true,  true,  true,  LOCALITY_STAYS},
    {"what matches nothing goes",                           false, false, true,  true,  LOCALITY_GOES },
    {"also if there are no sticky ones",                    false, false, true,  false,
     LOCALITY_GOES                                                                                    },
    {"with sticky patterns alone, all others are for jobs", false, false, false,
     true,                                                                              LOCALITY_WORK },
    {"and a sticky one stays",                              false, true,  false, true,  LOCALITY_STAYS},
};

START_TEST(a_file_has_a_use)
{
    ck_assert_msg(locality_use_of(uses[_i].is_work, uses[_i].is_sticky,
                                  uses[_i].work_patterns,
                                  uses[_i].sticky_patterns) == uses[_i].want,
                  "broken: %s", uses[_i].promise);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("locality_choice");
    TCase *tc = tcase_create("core");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, a_job_names_its_file, 0, ARRAY_LEN(names));
    tcase_add_loop_test(tc, a_file_is_chosen, 0, ARRAY_LEN(choices));
    tcase_add_loop_test(tc, a_file_has_a_use, 0, ARRAY_LEN(uses));
    suite_add_tcase(s, tc);
    runner = srunner_create(s);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* test_amount.c - amounts as people read them. */
#include "amount.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    double x;
    const char *want;
} bytes_spec[] = {
    {0,                        "0 bytes"   },
    {1,                        "1 bytes"   },
    {1023,                     "1023 bytes"},
    {1024,                     "1.0 KB"    },
    {1536,                     "1.5 KB"    },
    {99.9 * 1024,              "99.9 KB"   },
    {100 * 1024,               "100 KB"    },
    {1e9,                      "954 MB"    }, /* 953.67 */
    {1073741824,               "1.0 GB"    },
    {-1073741824,              "-1.0 GB"   },
    {1e15,                     "909 TB"    },
    {1125899906842624.0,       "1.0 PB"    },
    {1125899906842624.0 * 1e9, "1e+09 PB"  },
    {INFINITY,                 "inf PB"    },
};

START_TEST(bytes_in_words)
{
    char text[AMOUNT_SIZE];

    ck_assert_str_eq(amount_bytes(bytes_spec[_i].x, text), bytes_spec[_i].want);
}
END_TEST

static const struct {
    double x;
    const char *want;
} seconds_spec[] = {
    {0,        "0 s"        },
    {0.9,      "0 s"        },
    {59,       "59 s"       },
    {60,       "1 min"      },
    {61,       "1 min 1 s"  },
    {3599,     "59 min 59 s"},
    {3600,     "1 h"        },
    {3659,     "1 h"        }, /* not rounded up */
    {3660,     "1 h 1 min"  },
    {7500,     "2 h 5 min"  },
    {86400,    "1 d"        },
    {90000,    "1 d 1 h"    },
    {-7500,    "-2 h 5 min" },
    {-0.5,     "0 s"        },
    {1e12,     "for ever"   },
    {INFINITY, "for ever"   },
    {NAN,      "for ever"   },
};

START_TEST(seconds_in_words)
{
    char text[AMOUNT_SIZE];

    ck_assert_str_eq(amount_seconds(seconds_spec[_i].x, text),
                     seconds_spec[_i].want);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("amount");
    TCase *tc = tcase_create("amount");
    SRunner *runner;
    int failed;

    tcase_add_loop_test(tc, bytes_in_words, 0, (int)ARRAY_LEN(bytes_spec));
    tcase_add_loop_test(tc, seconds_in_words, 0, (int)ARRAY_LEN(seconds_spec));
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

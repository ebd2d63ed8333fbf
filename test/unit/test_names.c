/* test_names.c - texts of states. */
#include <string.h>

#include "buf.h"
#include "names.h"
#include "refused.h"
#include "unit_test.h"

/* protocol §13: numbers are part of the wire format and of the tables. */
static const struct {
    const char *(*name)(int);
    int value;
    const char *text;
} names[] = {
    {server_state_name,      1,  "INACTIVE"         },
    {server_state_name,      2,  "UNSENT"           },
    {server_state_name,      3,  "unknown"          },
    {server_state_name,      4,  "IN_PROGRESS"      },
    {server_state_name,      5,  "OVER"             },
    {outcome_name,           0,  "INIT"             },
    {outcome_name,           1,  "SUCCESS"          },
    {outcome_name,           2,  "COULDNT_SEND"     },
    {outcome_name,           3,  "CLIENT_ERROR"     },
    {outcome_name,           4,  "NO_REPLY"         },
    {outcome_name,           5,  "DIDNT_NEED"       },
    {outcome_name,           6,  "VALIDATE_ERROR"   },
    {outcome_name,           7,  "CLIENT_DETACHED"  },
    {outcome_name,           8,  "unknown"          },
    {validate_state_name,    0,  "INIT"             },
    {validate_state_name,    1,  "VALID"            },
    {validate_state_name,    2,  "INVALID"          },
    {validate_state_name,    3,  "NO_CHECK"         },
    {validate_state_name,    4,  "INCONCLUSIVE"     },
    {validate_state_name,    5,  "TOO_LATE"         },
    {client_state_name,      0,  "NEW"              },
    {client_state_name,      1,  "FILES_DOWNLOADING"},
    {client_state_name,      2,  "FILES_DOWNLOADED" },
    {client_state_name,      3,  "COMPUTE_ERROR"    },
    {client_state_name,      4,  "FILES_UPLOADING"  },
    {client_state_name,      5,  "FILES_UPLOADED"   },
    {client_state_name,      6,  "ABORTED"          },
    {client_state_name,      7,  "UPLOAD_FAILED"    },
    {client_state_name,      -1, "unknown"          },
    {file_delete_state_name, 0,  "INIT"             },
    {file_delete_state_name, 1,  "READY"            },
    {file_delete_state_name, 2,  "DONE"             },
    {file_delete_state_name, 3,  "ERROR"            },
    {assimilate_state_name,  0,  "INIT"             },
    {assimilate_state_name,  1,  "READY"            },
    {assimilate_state_name,  2,  "DONE"             },
    {batch_state_name,       0,  "INIT"             },
    {batch_state_name,       4,  "RETIRED"          },
    {batch_state_name,       5,  "unknown"          },
    {proc_type_name,         0,  "CPU"              },
    {proc_type_name,         1,  "NVIDIA"           },
    {proc_type_name,         2,  "ATI"              },
    {proc_type_name,         5,  "unknown"          },
};

START_TEST(a_state_has_the_protocols_name)
{
    ck_assert_str_eq(names[_i].name(names[_i].value), names[_i].text);
}
END_TEST

static const struct {
    unsigned mask;
    const char *text;
} masks[] = {
    {0,  "none"                                                        },
    {1,  "COULDNT_SEND_RESULT"                                         },
    {2,  "TOO_MANY_ERROR_RESULTS"                                      },
    {4,  "TOO_MANY_SUCCESS_RESULTS"                                    },
    {8,  "TOO_MANY_TOTAL_RESULTS"                                      },
    {16, "CANCELLED"                                                   },
    {32, "NO_CANONICAL_RESULT"                                         },
    {18, "TOO_MANY_ERROR_RESULTS|CANCELLED"                            },
    {63, "COULDNT_SEND_RESULT|TOO_MANY_ERROR_RESULTS|TOO_MANY_SUCCESS_RESULTS|"
         "TOO_MANY_TOTAL_RESULTS|CANCELLED|NO_CANONICAL_RESULT"},
    {66, "TOO_MANY_ERROR_RESULTS|0x40"                                 },
};

START_TEST(every_bit_of_a_mask_is_named)
{
    char text[160];

    ck_assert_str_eq(wu_error_names(masks[_i].mask, text, sizeof(text)),
                     masks[_i].text);
}
END_TEST

START_TEST(reasons_are_counted_the_most_frequent_first)
{
    struct refused_host host[100];
    char text[REFUSED_TEXT], small[12];

    for (int i = 0; i < 100; i++)
        host[i] = (struct refused_host){i + 1, i < 37 ? REFUSED_NO_VERSION
                                                      : REFUSED_MEMORY};
    refused_breakdown(host, 100, text, sizeof(text));
    ck_assert_str_eq(text, "63 memory, 37 no app version");
    refused_breakdown(host, 0, text, sizeof(text));
    ck_assert_str_eq(text, "");
    refused_breakdown(host, 100, small, sizeof(small));
    ck_assert_uint_lt(strlen(small), sizeof(small));
    ck_assert_str_eq(refused_name(0), "unknown");
    ck_assert_str_eq(refused_name(REFUSED_MAX), "unknown class of hosts");
    ck_assert_str_eq(refused_name(REFUSED_MAX + 1), "unknown");
}
END_TEST

START_TEST(a_small_field_is_not_overrun)
{
    char text[32];

    memset(text, '#', sizeof(text));
    (void)wu_error_names(63, text, 8);
    ck_assert_uint_lt(strlen(text), 8);
    ck_assert_int_eq(text[8], '#');
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, a_state_has_the_protocols_name, 0,
                        ARRAY_LEN(names));
    tcase_add_loop_test(tc, every_bit_of_a_mask_is_named, 0, ARRAY_LEN(masks));
    tcase_add_test(tc, reasons_are_counted_the_most_frequent_first);
    tcase_add_test(tc, a_small_field_is_not_overrun);
}

int
main(void)
{
    return unit_main("names", add_tests);
}

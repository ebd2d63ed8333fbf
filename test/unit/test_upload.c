/* test_upload.c - the headers of uploads as clients of all ages write them, and
 * as nobody should. */
#include "proto_data.h"

#include <stdint.h>

#include "sign.h"
#include "upload.h"

static const struct {
    const char *file;
    enum upload_kind kind;
    const char *name;
    int64_t max_nbytes, nbytes, offset;
    const char *md5;
    bool has_data;
    const char *data; /* what follows the header */
} captured[] = {
    {"requests/upload_01_get_file_size_7.20.5.txt",   UPLOAD_SIZE,
     "wu_big_2_0_r123456789_1",    0,       0,      0,      "", false, ""                    },
    {"requests/upload_02_small_file_7.20.5.txt",      UPLOAD_FILE,
     "wu_ok_1_0_r123456789_0",     1000000, 19,     0,
     "11ec5e7841907c3a420e0bd8b942d67c",                        true,  "HELLO FROM WU_OK_1\n"},
    {"requests/upload_03_big_file_header_7.20.5.txt", UPLOAD_FILE,
     "wu_big_2_0_r123456789_1",    1000000, 300000, 0,
     "c0c90f55e1914d273e6cbd019f63ddb9",                        true,  ""                    },
    {"requests/upload_04_resume_header_7.20.5.txt",   UPLOAD_FILE,
     "wu_utrans_3_0_r123456789_1", 3000000, 300000, 150000,
     "c266de9c0b071f14ea3b656b255a23bf",                        true,  ""                    },
};

START_TEST(reads_captured)
{
    struct buf bytes = data_file(captured[_i].file);
    struct upload_request u;

    ck_assert(upload_header_complete(buf_str(&bytes), bytes.len));
    upload_parse(buf_str(&bytes), bytes.len, &u);
    ck_assert_int_eq(u.kind, captured[_i].kind);
    ck_assert_str_eq(u.name, captured[_i].name);
    ck_assert_int_eq(u.client_version, 72005);
    ck_assert_int_eq(u.max_nbytes, captured[_i].max_nbytes);
    ck_assert_int_eq(u.nbytes, captured[_i].nbytes);
    ck_assert_int_eq(u.offset, captured[_i].offset);
    ck_assert_str_eq(u.md5, captured[_i].md5);
    ck_assert(u.has_data == captured[_i].has_data);
    ck_assert(u.has_nbytes == captured[_i].has_data);
    ck_assert(u.has_max_nbytes == captured[_i].has_data);
    ck_assert_str_eq(buf_str(&bytes) + u.header_size, captured[_i].data);
    buf_free(&bytes);
}
END_TEST

/* Certificates of captured uploads were made with the test project's key. */
START_TEST(certificates_verify)
{
    struct buf bytes = data_file(captured[1 + _i].file), err = BUF_INIT,
               text = BUF_INIT;
    struct sign_key *key = sign_key_read(TEST_DATA "/keys/upload_public", &err);
    struct upload_request u;

    ck_assert_msg(key != NULL, "%s", buf_str(&err));
    upload_parse(buf_str(&bytes), bytes.len, &u);
    upload_certificate_text(u.name, u.max_nbytes, &text);
    ck_assert(sign_verify(key, buf_str(&text), text.len, u.xml_signature));
    buf_reset(&text);
    upload_certificate_text(u.name, u.max_nbytes + 1, &text);
    ck_assert(!sign_verify(key, buf_str(&text), text.len, u.xml_signature));
    sign_key_free(key);
    buf_free(&bytes);
    buf_free(&text);
}
END_TEST

START_TEST(certificate_text_is_that_of_the_vectors)
{
    struct buf want = data_file("sign/upload_cert.txt"), text = BUF_INIT;

    upload_certificate_text("wu_demo_0_r123456789_0", 1000000, &text);
    ck_assert_str_eq(buf_str(&text), buf_str(&want));
    buf_free(&want);
    buf_free(&text);
}
END_TEST

/* ---- other forms ----------------------------------------------------------
 */

#define UPLOAD(lines) "<data_server_request>\n<file_upload>\n" lines "<data>\n"
#define INFO(lines) "<file_info>\n" lines "</file_info>\n"

static void
parse(const char *text, struct upload_request *u)
{
    upload_parse(text, strlen(text), u);
}

START_TEST(reads_old_clients)
{
    struct upload_request u;

    parse(UPLOAD(INFO("    <name>a_0</name>\n"
                      "    <generated_locally/>\n"
                      "    <status>1</status>\n"
                      "    <nbytes>5.000000</nbytes>\n"
                      "    <max_nbytes>1000.000000</max_nbytes>\n"
                      "    <md5_cksum></md5_cksum>\n"
                      "    <url>http://x/file_upload_handler</url>\n"
                      "<signed_xml>\n"
                      "    <name>a_0</name>\n"
                      "    <upload_when_present/>\n"
                      "</signed_xml>\n"
                      "<xml_signature>\n"
                      "0123\n"
                      ".\n"
                      "</xml_signature>\n") "<nbytes>20.000000</nbytes>\n"
                                            "<offset>5.000000</offset>\n"),
          &u);
    ck_assert_int_eq(u.kind, UPLOAD_FILE);
    ck_assert_str_eq(u.name, "a_0");
    ck_assert_str_eq(u.xml_signature, "0123\n.\n");
    ck_assert_int_eq(u.max_nbytes, 1000);
    ck_assert_int_eq(u.nbytes, 20);
    ck_assert_int_eq(u.offset, 5);
    ck_assert_str_eq(u.md5, "");
    ck_assert(u.has_data);
}
END_TEST

START_TEST(order_does_not_matter)
{
    struct upload_request u;

    parse(UPLOAD("<offset>1</offset>\n"
                 "<md5_cksum>11EC5E7841907C3A420E0BD8B942D67C</md5_cksum>\n"
                 "<nbytes>7</nbytes>\n" INFO(
                     "<max_nbytes>9</max_nbytes>\n"
                     "<nbytes>3</nbytes>\n"
                     "<md5_cksum>00000000000000000000000000000000</md5_cksum>\n"
                     "<xml_signature>\nab\n.</xml_signature>\n"
                     "<name>b</name>\n")),
          &u);
    ck_assert_str_eq(u.name, "b");
    ck_assert_int_eq(u.nbytes, 7);
    ck_assert_int_eq(u.offset, 1);
    ck_assert_int_eq(u.max_nbytes, 9);
    ck_assert_str_eq(u.md5, "11ec5e7841907c3a420e0bd8b942d67c");
    ck_assert_str_eq(u.xml_signature, "ab\n.\n");
}
END_TEST

static const struct {
    const char *value;
    bool has;
    int64_t want;
} sizes[] = {
    {"0",                          true,  0                  },
    {"19",                         true,  19                 },
    {" 19 ",                       true,  19                 },
    {"300000.000000",              true,  300000             },
    {"0.999",                      true,  0                  },
    {"5000000000",                 true,  INT64_C(5000000000)},
    {"9223372036854775807",        true,  INT64_MAX          },
    {"9223372036854775808",        true,  INT64_MAX          },
    {"99999999999999999999999999", true,  INT64_MAX          },
    {"-1",                         true,  -1                 },
    {"-9999999999999999999999",    true,  -INT64_MAX         },
    {"",                           false, 0                  },
    {"-",                          false, 0                  },
    {".5",                         false, 0                  },
    {"1e6",                        false, 0                  },
    {"0x10",                       false, 0                  },
    {"nan",                        false, 0                  },
    {"inf",                        false, 0                  },
    {"1 2",                        false, 0                  },
    {"1,5",                        false, 0                  },
};

START_TEST(sizes_are_whole_numbers)
{
    struct buf text = BUF_INIT;
    struct upload_request u;

    buf_addf(&text,
             UPLOAD("<nbytes>%s</nbytes>\n<max_nbytes>%s</max_nbytes>\n"),
             sizes[_i].value, sizes[_i].value);
    parse(buf_str(&text), &u);
    ck_assert_msg(u.has_nbytes == sizes[_i].has && u.nbytes == sizes[_i].want &&
                      u.has_max_nbytes == sizes[_i].has &&
                      u.max_nbytes == sizes[_i].want,
                  "\"%s\"", sizes[_i].value);
    buf_free(&text);
}
END_TEST

START_TEST(an_unreadable_offset_is_negative)
{
    struct upload_request u;

    parse(UPLOAD("<offset>x</offset>\n"), &u);
    ck_assert_int_lt(u.offset, 0);
    parse(UPLOAD(""), &u);
    ck_assert_int_eq(u.offset, 0);
}
END_TEST

static const struct {
    const char *given;
    enum upload_kind kind;
    const char *name;
} names[] = {
    {"",                                         UPLOAD_NEITHER, ""      },
    {"\n\n\n",                                   UPLOAD_NEITHER, ""      },
    {"<data>\n",                                 UPLOAD_NEITHER, ""      },
    {UPLOAD(""),                                 UPLOAD_FILE,    ""      },
    {UPLOAD("<name></name>\n"),                  UPLOAD_FILE,    ""      },
    {UPLOAD("<name>../../etc/passwd</name>\n"),  UPLOAD_FILE,
     "../../etc/passwd"                                                  }, /* the handler refuses it */
    {UPLOAD("<name>a<b</name>\n"),               UPLOAD_FILE,    "a"     },
    {UPLOAD("<name>no end\n"),                   UPLOAD_FILE,    "no end"},
    {UPLOAD("<names>a</names>\n<nam>b</nam>\n"), UPLOAD_FILE,    ""      },
    {"<get_file_size>x</get_file_size>",         UPLOAD_SIZE,    "x"     },
    {"<get_file_size>x",                         UPLOAD_SIZE,    "x"     },
};

START_TEST(names_are_taken_as_they_are)
{
    struct upload_request u;

    parse(names[_i].given, &u);
    ck_assert_int_eq(u.kind, names[_i].kind);
    ck_assert_str_eq(u.name, names[_i].name);
}
END_TEST

START_TEST(a_name_that_is_too_long_is_none)
{
    struct buf text = BUF_INIT;
    struct upload_request u;

    for (int len = 255; len <= 256; len++) {
        buf_reset(&text);
        buf_add(&text, "<file_upload>\n<name>");
        for (int i = 0; i < len; i++)
            buf_addc(&text, 'x');
        buf_add(&text, "</name>\n<data>\n");
        upload_parse(buf_str(&text), text.len, &u);
        ck_assert_uint_eq(strlen(u.name), len == 255 ? 255 : 0);
    }
    buf_free(&text);
}
END_TEST

START_TEST(a_name_holds_no_nul)
{
    static const char given[] = "<file_upload>\n<name>a\0b</name>\n<data>\n";
    struct upload_request u;

    upload_parse(given, sizeof given - 1, &u);
    ck_assert_str_eq(u.name, "");
    ck_assert(u.has_data);
}
END_TEST

START_TEST(a_long_signature_is_none)
{
    struct buf text = BUF_INIT;
    struct upload_request u;

    buf_add(&text, "<file_upload>\n<xml_signature>\n");
    for (int i = 0; i < 100; i++)
        buf_add(&text, "0123456789abcdef\n");
    buf_add(&text, "</xml_signature>\n<nbytes>5</nbytes>\n<data>\n");
    upload_parse(buf_str(&text), text.len, &u);
    ck_assert_str_eq(u.xml_signature, "");
    ck_assert_int_eq(u.nbytes, 5);
    ck_assert(u.has_data);
    buf_free(&text);
}
END_TEST

/* ---- where a header ends --------------------------------------------------
 */

static const struct {
    const char *given;
    bool complete;
} ends[] = {
    {"",                                     false},
    {"<data_server_request>\n",              false},
    {UPLOAD(""),                             true },
    {"<file_upload>\n<data>",                false}, /* the newline belongs to it */
    {"<file_upload>\n<name><data>\n",        false},
    {"<get_file_size>a",                     false},
    {"<get_file_size>a</get_file_size>",     true },
    {"<nonsense>\n</data_server_request>\n", true },
};

START_TEST(knows_a_complete_header)
{
    ck_assert(upload_header_complete(ends[_i].given, strlen(ends[_i].given)) ==
              ends[_i].complete);
}
END_TEST

/* Each beginning of a header is incomplete; nothing behind it is read. */
START_TEST(complete_only_at_its_end)
{
    struct buf bytes = data_file(captured[1].file);
    struct upload_request u;

    upload_parse(buf_str(&bytes), bytes.len, &u);
    for (size_t n = 0; n <= bytes.len; n++)
        ck_assert(upload_header_complete(buf_str(&bytes), n) ==
                  (n >= u.header_size));
    buf_free(&bytes);
}
END_TEST

START_TEST(a_header_has_a_limit)
{
    struct buf text = BUF_INIT;
    struct upload_request u;

    buf_add(&text, "<file_upload>\n");
    while (text.len < UPLOAD_HEADER_MAX)
        buf_add(&text, "<url>x</url>\n");
    buf_add(&text, "<nbytes>1</nbytes>\n<data>\n");
    ck_assert(!upload_header_complete(buf_str(&text), text.len));
    upload_parse(buf_str(&text), text.len, &u);
    ck_assert(!u.has_data);
    ck_assert(!u.has_nbytes);
    ck_assert_uint_eq(u.header_size, UPLOAD_HEADER_MAX);
    buf_free(&text);
}
END_TEST

START_TEST(damage_does_no_harm)
{
    static const char bad[] = "<>/\n\0-.9";
    unsigned state = 0x0b5e55ed;
    struct upload_request u;

    for (int round = 0; round < 2000; round++) {
        struct buf bytes = data_file(captured[round % 4].file);

        for (int i = 0; i < 20; i++) {
            size_t at = (size_t)noise(&state) << 8 | noise(&state);

            bytes.data[at % bytes.len] =
                i % 2 == 0 ? bad[noise(&state) % (sizeof bad - 1)]
                           : (char)noise(&state);
        }
        upload_header_complete(bytes.data, bytes.len);
        upload_parse(bytes.data, bytes.len, &u);
        ck_assert_uint_le(u.header_size, bytes.len);
        ck_assert_uint_lt(strlen(u.xml_signature), sizeof u.xml_signature);
        buf_free(&bytes);
    }
}
END_TEST

/* ---- replies ---------------------------------------------------------------
 */

START_TEST(replies_are_what_clients_search_for)
{
    struct buf out = BUF_INIT;

    upload_reply(UPLOAD_OK, NULL, &out);
    upload_reply(UPLOAD_TRANSIENT, "disk <full>\n", &out);
    upload_reply(UPLOAD_PERMANENT, "no", &out);
    upload_reply_size(INT64_C(5000000000), &out);
    ck_assert_str_eq(buf_str(&out), "<data_server_reply>\n"
                                    "    <status>0</status>\n"
                                    "</data_server_reply>\n"
                                    "<data_server_reply>\n"
                                    "    <status>1</status>\n"
                                    "    <message>disk  full&gt; </message>\n"
                                    "</data_server_reply>\n"
                                    "<data_server_reply>\n"
                                    "    <status>-1</status>\n"
                                    "    <message>no</message>\n"
                                    "</data_server_reply>\n"
                                    "<data_server_reply>\n"
                                    "    <status>0</status>\n"
                                    "    <file_size>5000000000</file_size>\n"
                                    "</data_server_reply>\n");
    buf_free(&out);
}
END_TEST

START_TEST(a_message_has_at_most_255_bytes)
{
    struct buf text = BUF_INIT, out = BUF_INIT;
    const char *begin, *end;

    for (int i = 0; i < 300; i++)
        buf_addc(&text, 'x');
    upload_reply(UPLOAD_PERMANENT, buf_str(&text), &out);
    begin = strstr(buf_str(&out), "<message>") + strlen("<message>");
    end = strstr(buf_str(&out), "</message>");
    ck_assert_int_eq(end - begin, 255);
    buf_free(&text);
    buf_free(&out);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_set_timeout(tc, 120); /* under valgrind */
    tcase_add_loop_test(tc, reads_captured, 0, ARRAY_LEN(captured));
    tcase_add_loop_test(tc, certificates_verify, 0, 3);
    tcase_add_test(tc, certificate_text_is_that_of_the_vectors);
    tcase_add_test(tc, reads_old_clients);
    tcase_add_test(tc, order_does_not_matter);
    tcase_add_loop_test(tc, sizes_are_whole_numbers, 0, ARRAY_LEN(sizes));
    tcase_add_test(tc, an_unreadable_offset_is_negative);
    tcase_add_loop_test(tc, names_are_taken_as_they_are, 0, ARRAY_LEN(names));
    tcase_add_test(tc, a_name_that_is_too_long_is_none);
    tcase_add_test(tc, a_name_holds_no_nul);
    tcase_add_test(tc, a_long_signature_is_none);
    tcase_add_loop_test(tc, knows_a_complete_header, 0, ARRAY_LEN(ends));
    tcase_add_test(tc, complete_only_at_its_end);
    tcase_add_test(tc, a_header_has_a_limit);
    tcase_add_test(tc, damage_does_no_harm);
    tcase_add_test(tc, replies_are_what_clients_search_for);
    tcase_add_test(tc, a_message_has_at_most_255_bytes);
}

int
main(void)
{
    return unit_main("upload", fill);
}

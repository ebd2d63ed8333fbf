/* test_dialect.c - what clients send becomes well-formed XML; nothing that
 * anybody sends crashes, hangs or swells. */
#include "proto_data.h"

#include <stdint.h>

#include "dialect.h"
#include "utf8.h"
#include "xml.h"

/* ---- repair ------------------------------------------------------------- */

static const struct {
    const char *promise;
    const char *given, *want;
} repairs[] = {
    {"well-formed XML stays as it is",                "<r><a>1</a><b/></r>",
     "<r><a>1</a><b/></r>"                                                                                            },
    {"what stands before the root is dropped",        "<?xml version=\"1.0\"?>x<r/>",
     "<r/>"                                                                                                           },
    {"a name that begins like the root's is another", "<root/><r>1</r>",
     "<r>1</r>"                                                                                                       },
    {"what stands behind the root is dropped",        "<r>1</r><r>2</r>",                          "<r>1</r>"         },
    {"a bare ampersand is text",                      "<r>a & b &c; d&</r>",
     "<r>a &amp; b &amp;c; d&amp;</r>"                                                                                },
    {"a bare < is text",                              "<r>1 < 2 <3 <- << <</r>",
     "<r>1 &lt; 2 &lt;3 &lt;- &lt;&lt; &lt;</r>"                                                                      },
    {"a bare > is text",                              "<r>a > b</r>",                              "<r>a &gt; b</r>"  },
    {"the five entities mean characters",             "<r>&lt;&gt;&amp;&quot;&apos;</r>",
     "<r>&lt;&gt;&amp;&quot;'</r>"                                                                                    },
    {"an unknown entity is text",                     "<r>&eacute;&#x41;</r>",
     "<r>&amp;eacute;&amp;#x41;</r>"                                                                                  },
    {"numeric references are bytes of UTF-8",         "<r>caf&#195;&#169;</r>",
     "<r>caf\xc3\xa9</r>"                                                                                             },
    {"a reference that is no UTF-8 is Latin-1",       "<r>caf&#233;</r>",
     "<r>caf\xc3\xa9</r>"                                                                                             },
    {"a reference above 255 is text",                 "<r>&#256;&#8364;&#;&#1</r>",
     "<r>&amp;#256;&amp;#8364;&amp;#;&amp;#1</r>"                                                                     },
    {"a byte that is no UTF-8 is Latin-1",            "<r>caf\xe9</r>",
     "<r>caf\xc3\xa9</r>"                                                                                             },
    {"control bytes are dropped",
     "<r>a\x01\x1f"
     "b&#2;</r>",                                                                                  "<r>ab</r>"        },
    {"a missing end tag is closed with its parent",   "<r><a><b>1</a>2</r>",
     "<r><a><b>1</b></a>2</r>"                                                                                        },
    {"a stray end tag is dropped",                    "<r>1</b>2</r>",                             "<r>12</r>"        },
    {"a stray declaration is dropped",                "<r>1<?xml version=\"1.0\"?>2</r>",
     "<r>12</r>"                                                                                                      },
    {"a document type is dropped",                    "<r>1<!DOCTYPE x>2</r>",                     "<r>12</r>"        },
    {"a comment is dropped",                          "<r>1<!-- <a> & -->2</r>",                   "<r>12</r>"        },
    {"a comment without end is text",                 "<r>1<!-- 2</r>",                            "<r>1&lt;!-- 2</r>"},
    {"CDATA is text as it stands",                    "<r><![CDATA[<a>&amp;]]></r>",
     "<r>&lt;a&gt;&amp;amp;</r>"                                                                                      },
    {"CDATA without end is text",                     "<r>1<![CDATA[2</r>",
     "<r>1&lt;![CDATA[2</r>"                                                                                          },
    {"attributes are kept",                           "<r><v name=\"work\" b='&amp;' c>1</v></r>",
     "<r><v name=\"work\" b=\"&amp;\">1</v></r>"                                                                      },
    {"an attribute is not given twice",               "<r><v a=\"1\" a=\"2\">1</v></r>",
     "<r><v a=\"1\">1</v></r>"                                                                                        },
    {"a / in an attribute makes the element empty",   "<r><a b=\"x/y\">1</a></r>",
     "<r><a b=\"x/y\"/>1</r>"                                                                                         },
    {"a colon needs no namespace",                    "<r><a:b>1</a:b></r>",
     "<r><a_b>1</a_b></r>"                                                                                            },
    {"a tag without its > is text",                   "<r>1<a</r>",                                "<r>1&lt;a</r>"    },
};

/* ---- what is built is what a parser makes of what is written ---- */

static void
same_node(const struct xml_node *a, const struct xml_node *b)
{
    static const char *const attributes[] = {"n", "b", "a", "c", "x"};
    struct buf x = BUF_INIT, y = BUF_INIT;

    ck_assert_str_eq(xml_name(a), xml_name(b));
    xml_text_raw(a, &x);
    xml_text_raw(b, &y);
    ck_assert_str_eq(buf_str(&x), buf_str(&y));
    buf_free(&x);
    buf_free(&y);
    for (size_t i = 0; i < ARRAY_LEN(attributes); i++) {
        const char *u = xml_attr(a, attributes[i]);
        const char *v = xml_attr(b, attributes[i]);

        ck_assert_int_eq(u == NULL, v == NULL);
        if (u != NULL && v != NULL)
            ck_assert_str_eq(u, v);
    }
    a = xml_first(a);
    b = xml_first(b);
    for (; a != NULL && b != NULL; a = xml_next(a), b = xml_next(b))
        same_node(a, b);
    ck_assert(a == NULL && b == NULL);
}

static void
builds_the_same(const char *given, size_t n, const char *root)
{
    struct buf err = BUF_INIT, x = BUF_INIT, y = BUF_INIT;
    struct xml_doc *built, *parsed;
    struct dialect d, e;
    int rc = dialect_repair(given, n, root, &d, &err);

    ck_assert_int_eq(dialect_read(given, n, root, &e, &built, &err), rc);
    if (rc == 0) {
        buf_reset(&err);
        parsed = xml_parse(buf_str(&d.xml), d.xml.len, "test", &err);
        ck_assert_msg(parsed != NULL, "%s", buf_str(&err));
        same_node(xml_root(built), xml_root(parsed));
        xml_dump(xml_root(built), &x);
        xml_dump(xml_root(parsed), &y);
        ck_assert_str_eq(buf_str(&x), buf_str(&y));
        ck_assert_uint_eq(d.n_bodies, e.n_bodies);
        for (size_t i = 0; i < d.n_bodies; i++) {
            ck_assert_ptr_eq(d.body[i].bytes, e.body[i].bytes);
            ck_assert_uint_eq(d.body[i].len, e.body[i].len);
        }
        xml_free(parsed);
        xml_free(built);
        dialect_free(&d);
        dialect_free(&e);
    }
    buf_free(&x);
    buf_free(&y);
    buf_free(&err);
}

/* Random words of the dialect, and random bytes. */
START_TEST(what_is_built_is_what_would_be_parsed)
{
    static const char *const words[] = {
        "<a>",
        "</a>",
        "<b/>",
        "</b>",
        "<b c=\"1\n\t&lt;\">",
        "<c x='&#9;'/>",
        "text",
        " ",
        "\n",
        "&amp;",
        "&lt;",
        "&#228;",
        "\xe4",
        "\xc3\xa4",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<?x?>",
        "<!d>",
        "<stderr_out>",
        "</stderr_out>",
        "<a:b>",
        "</a:b>",
        "\r",
        "&#xD;",
        "\x01",
        ">",
        "<",
        "\"",
        "<job_log>",
        "</job_log>",
        "<msg_from_host>",
        "</msg_from_host>",
        "<a b=\"x\" b=\"y\">",
        "<r>",
        "</r>",
        "<working_global_preferences>",
    };
    unsigned seed = 1;

    for (int round = 0; round < 5000; round++) {
        struct buf given = BUF_INIT;

        buf_add(&given, "<r>");
        for (int n = rand_r(&seed) % 60; n > 0; n--) {
            if (rand_r(&seed) % 8 == 0)
                buf_addc(&given, (char)(1 + rand_r(&seed) % 255));
            else
                buf_add(&given,
                        words[(size_t)rand_r(&seed) % ARRAY_LEN(words)]);
        }
        buf_add(&given, "</a></r>");
        builds_the_same(given.data, given.len, "r");
        buf_free(&given);
    }
}
END_TEST

START_TEST(repairs_it)
{
    struct buf err = BUF_INIT;
    struct dialect d;
    struct xml_doc *doc;

    ck_assert_msg(dialect_repair(repairs[_i].given, strlen(repairs[_i].given),
                                 "r", &d, &err) == 0,
                  "broken: %s: %s", repairs[_i].promise, buf_str(&err));
    ck_assert_msg(strcmp(buf_str(&d.xml), repairs[_i].want) == 0,
                  "broken: %s: %s", repairs[_i].promise, buf_str(&d.xml));
    doc = xml_parse(buf_str(&d.xml), d.xml.len, "test", &err);
    ck_assert_msg(doc != NULL, "not well-formed: %s", buf_str(&d.xml));
    xml_free(doc);
    dialect_free(&d);
    builds_the_same(repairs[_i].given, strlen(repairs[_i].given), "r");
}
END_TEST

START_TEST(drops_nul_bytes)
{
    static const char given[] = "\0<r>a\0b</r>";
    struct buf err = BUF_INIT;
    struct dialect d;

    ck_assert_int_eq(dialect_repair(given, sizeof given - 1, "r", &d, &err), 0);
    ck_assert_str_eq(buf_str(&d.xml), "<r>ab</r>");
    dialect_free(&d);
}
END_TEST

/* ---- opaque bodies ------------------------------------------------------ */

#define CDATA_END "\n]]>\n</stderr_out>\n"

static const struct {
    const char *promise;
    const char *given, *want_xml, *want_body;
} bodies[] = {
    {"stderr without CDATA ends at its end tag",
     "<r><stderr_out>a</b>&</stderr_out>1</r>",                                                             "<r><stderr_out n=\"0\"/>1</r>",
     "a</b>&"                                                                                                                                                                          },
    {"stderr with CDATA ends where clients end it",
     "<r><stderr_out>\n<![CDATA[\n</stderr_out></r>]]>" CDATA_END
     "</result>1</r>",                                                                                      "<r><stderr_out n=\"0\"/>\n1</r>",
     "\n<![CDATA[\n</stderr_out></r>]]>\n]]>\n"                                                                                                                                        },
    {"so it does before an output file",
     "<r><stderr_out><![CDATA[x" CDATA_END "  <file_info>1</file_info></r>",
     "<r><stderr_out n=\"0\"/>\n  <file_info>1</file_info></r>",                                                                                    "<![CDATA[x\n]]>\n"                },
    {"an end that nothing of a result follows is the application's",
     "<r><stderr_out><![CDATA[x" CDATA_END "<a>" CDATA_END "</result></r>",
     "<r><stderr_out n=\"0\"/>\n</r>",                                                                                                              "<![CDATA[x" CDATA_END "<a>\n]]>\n"},
    {"without such an end the first end tag will do",
     "<r><stderr_out><![CDATA[x]]></stderr_out>1</r>",                                                      "<r><stderr_out n=\"0\"/>1</r>",        "<![CDATA[x]]>"                    },
    {"CDATA of a later element is not this one's",
     "<r><stderr_out>x</stderr_out><a><![CDATA[y" CDATA_END "</result></a></r>",
     "<r><stderr_out n=\"0\"/><a>y\n\n\n</a></r>",                                                                                                  "x"                                },
    {"a message to us is bytes",
     "<r><msg_from_host>\n<a> & \n</msg_from_host></r>",                                                    "<r><msg_from_host n=\"0\"/></r>",      "\n<a> & \n"                       },
    {"a log is bytes",                                               "<r><job_log>\n1 <ue\n</job_log></r>",
     "<r><job_log n=\"0\"/></r>",                                                                                                                   "\n1 <ue\n"                        },
    {"preferences are bytes",
     "<r><global_preferences>a<b></global_preferences></r>",                                                "<r><global_preferences n=\"0\"/></r>", "a<b>"                             },
    {"an attribute cannot point to a body",
     "<r><job_log n=\"7\">x</job_log><job_log n=\"0\"/></r>",                                               "<r><job_log n=\"0\"/><job_log/></r>",  "x"                                },
};

START_TEST(keeps_the_body)
{
    struct buf err = BUF_INIT;
    struct dialect d;

    ck_assert_msg(dialect_repair(bodies[_i].given, strlen(bodies[_i].given),
                                 "r", &d, &err) == 0,
                  "broken: %s: %s", bodies[_i].promise, buf_str(&err));
    ck_assert_msg(strcmp(buf_str(&d.xml), bodies[_i].want_xml) == 0,
                  "broken: %s: %s", bodies[_i].promise, buf_str(&d.xml));
    ck_assert_uint_eq(d.n_bodies, 1);
    ck_assert_msg(
        d.body[0].len == strlen(bodies[_i].want_body) &&
            memcmp(d.body[0].bytes, bodies[_i].want_body, d.body[0].len) == 0,
        "broken: %s: %.*s", bodies[_i].promise, (int)d.body[0].len,
        d.body[0].bytes);
    dialect_free(&d);
}
END_TEST

START_TEST(a_log_without_end_is_empty)
{
    static const char given[] = "<r><job_log>x<hostid>7</hostid></r>";
    struct buf err = BUF_INIT;
    struct dialect d;

    ck_assert_int_eq(dialect_repair(given, strlen(given), "r", &d, &err), 0);
    ck_assert_str_eq(buf_str(&d.xml), "<r><job_log/>x<hostid>7</hostid></r>");
    ck_assert_uint_eq(d.n_bodies, 0);
    dialect_free(&d);
}
END_TEST

/* ---- refusal ------------------------------------------------------------ */

static const struct {
    const char *promise;
    const char *given, *why;
} refusals[] = {
    {"an empty request",                "",                                     "<r>" },
    {"a page of something else",        "<html><body>&nbsp;</body></html>",     "<r>" },
    {"a request that was cut off",      "<r><a>1</a>",                          "</r>"},
    {"preferences without end",         "<r><global_preferences>1</r>",
     "</global_preferences>"                                                          },
    {"working preferences without end", "<r><working_global_preferences>1</r>",
     "</working_global_preferences>"                                                  },
};

START_TEST(refuses_it)
{
    struct buf err = BUF_INIT;
    struct dialect d;

    ck_assert_msg(dialect_repair(refusals[_i].given, strlen(refusals[_i].given),
                                 "r", &d, &err) == -1,
                  "broken: %s is refused", refusals[_i].promise);
    ck_assert_ptr_nonnull(strstr(buf_str(&err), refusals[_i].why));
    buf_free(&err);
}
END_TEST

static struct buf
repeated(const char *before, const char *what, size_t n, const char *after)
{
    struct buf b = BUF_INIT;

    buf_add(&b, before);
    for (size_t i = 0; i < n; i++)
        buf_add(&b, what);
    buf_add(&b, after);
    return b;
}

/* Returns what dialect_repair() does, after checking what it promises. */
static int
repair(const struct buf *given, const char *root)
{
    struct buf err = BUF_INIT;
    struct dialect d;
    int rc = dialect_repair(buf_str(given), given->len, root, &d, &err);

    if (rc == 0) {
        ck_assert_uint_le(d.xml.len, 6 * given->len + 1024);
        ck_assert(utf8_valid(buf_str(&d.xml), d.xml.len));
        ck_assert_uint_eq(strlen(buf_str(&d.xml)), d.xml.len);
        for (size_t i = 0; i < d.n_bodies; i++) {
            ck_assert(d.body[i].bytes >= given->data);
            ck_assert(d.body[i].bytes + d.body[i].len <=
                      given->data + given->len);
        }
        dialect_free(&d);
    } else {
        ck_assert_int_eq(rc, -1);
        ck_assert_uint_gt(err.len, 0);
    }
    buf_free(&err);
    return rc;
}

#define DEPTH(n)                                                               \
    {                                                                          \
        "<r>", "<a>", n, "</r>", n < DIALECT_MAX_DEPTH ? 0 : -1                \
    }

static const struct {
    const char *before, *what;
    size_t n;
    const char *after;
    int want;
} masses[] = {
    DEPTH(DIALECT_MAX_DEPTH - 1),
    DEPTH(DIALECT_MAX_DEPTH),
    {"<r>",                      "<a>",                                         3000000,                  "</r>",  -1},
    {"<r>",                      "<a/>",                                        DIALECT_MAX_ELEMENTS,     "</r>",  0 },
    {"<r>",                      "<a/>",                                        DIALECT_MAX_ELEMENTS + 1, "</r>",  -1},
    {"<r>",                      "<job_log>",                                   DIALECT_MAX_ELEMENTS + 1, "</r>",  -1},
    {"<r>",                      "<stderr_out></stderr_out>",                   DIALECT_MAX_ELEMENTS,     "</r>",  0 },
    {"<r>",                      "<stderr_out><![CDATA[",                       DIALECT_MAX_ELEMENTS / 2, "</r>",  0 },
    {"<r>",                      "<stderr_out><![CDATA[</stderr_out>",          100000,                   "</r>",  0 },
    {"<r>",                      "<stderr_out><![CDATA[" CDATA_END "</result>", 100000,                   "</r>",  0 },
    {"<r><stderr_out><![CDATA[", CDATA_END,                                     400000,                   "</r>",  0 },
    {"",                         "<",                                           10000000,                 "",      -1},
    {"<r>",                      "<",                                           1000000,                  "</r>",  0 },
    {"<r>",                      "<",                                           10000000,                 "</r>",  -1},
    {"<r>",                      "<a",                                          500000,                   "</r>",  0 },
    {"<r>",                      "<!--",                                        250000,                   "</r>",  0 },
    {"<r>",                      "<![CDATA[",                                   100000,                   "</r>",  0 },
    {"<r>",                      "<!--x-->",                                    1000000,                  "</r>",  0 },
    {"<r>",                      "&",                                           1000000,                  "</r>",  0 },
    {"<r>",                      "\"",                                          1000000,                  "</r>",  0 },
    {"<r>",                      "</a>",                                        2000000,                  "</r>",  0 },
    {"<r",                       " a=\"\"\"",                                   1000000,                  "></r>", 0 },
    {"<r><a",                    " a=\"\"\"",                                   1000000,                  "></r>", 0 },
    {"<r",                       "",                                            0,                        "",      -1},
    {"",                         "<r",                                          1000000,                  "",      -1},
};

START_TEST(masses_do_no_harm)
{
    struct buf given = repeated(masses[_i].before, masses[_i].what,
                                masses[_i].n, masses[_i].after);

    ck_assert_msg(repair(&given, "r") == masses[_i].want, "row %d: %s × %zu",
                  _i, masses[_i].what, masses[_i].n);
    buf_free(&given);
}
END_TEST

/* 64 bytes at a time, all that can be cut off is: a message, and no more. */
START_TEST(cut_requests_do_no_harm)
{
    struct buf whole = data_file(captured_requests[_i]);

    ck_assert_int_eq(repair(&whole, "scheduler_request"), 0);
    for (size_t n = 0; n < whole.len; n += 64) {
        struct buf part = BUF_INIT;

        buf_addn(&part, whole.data, n);
        ck_assert_int_eq(repair(&part, "scheduler_request"), -1);
        buf_free(&part);
    }
    buf_free(&whole);
}
END_TEST

START_TEST(noise_does_no_harm)
{
    unsigned state = 0x5eed + (unsigned)_i;
    struct buf given = repeated("<r>", "", 0, "");

    for (int i = 0; i < 100000; i++)
        buf_addc(&given, (char)noise(&state));
    buf_add(&given, "</r>");
    repair(&given, "r");
    buf_free(&given);
}
END_TEST

/* Real requests with bytes changed. */
START_TEST(damage_does_no_harm)
{
    unsigned state = 0xda3a9e;
    struct buf whole = data_file(captured_requests[_i]);

    for (int round = 0; round < 200; round++) {
        struct buf given = BUF_INIT;

        buf_addn(&given, whole.data, whole.len);
        for (int i = 0; i < 20; i++) {
            size_t at = ((size_t)noise(&state) << 8 | noise(&state));

            given.data[at % given.len] =
                "<>/&\0\"]![ \n\xff"[noise(&state) % 12];
        }
        repair(&given, "scheduler_request");
        buf_free(&given);
    }
    buf_free(&whole);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_set_timeout(tc, 120); /* under valgrind */
    tcase_add_test(tc, what_is_built_is_what_would_be_parsed);
    tcase_add_loop_test(tc, repairs_it, 0, ARRAY_LEN(repairs));
    tcase_add_test(tc, drops_nul_bytes);
    tcase_add_loop_test(tc, keeps_the_body, 0, ARRAY_LEN(bodies));
    tcase_add_test(tc, a_log_without_end_is_empty);
    tcase_add_loop_test(tc, refuses_it, 0, ARRAY_LEN(refusals));
    tcase_add_loop_test(tc, masses_do_no_harm, 0, ARRAY_LEN(masses));
    tcase_add_loop_test(tc, cut_requests_do_no_harm, 0,
                        ARRAY_LEN(captured_requests));
    tcase_add_loop_test(tc, noise_does_no_harm, 0, 20);
    tcase_add_loop_test(tc, damage_does_no_harm, 0,
                        ARRAY_LEN(captured_requests));
}

int
main(void)
{
    return unit_main("dialect", fill);
}

/* test_xml.c - the strict reader, the escaping writer, and documents as text.
 */
#include <math.h>
#include <string.h>

#include "buf.h"
#include "unit_test.h"
#include "xml.h"

static struct buf text = BUF_INIT;
static struct xml_doc *doc;

static const struct xml_node *
parse(const char *source)
{
    xml_free(doc);
    buf_reset(&text);
    doc = xml_parse(source, strlen(source), "test.xml", &text);
    ck_assert_msg(doc != NULL, "%s", buf_str(&text));
    buf_reset(&text);
    return xml_root(doc);
}

static void
teardown(void)
{
    xml_free(doc);
    doc = NULL;
    buf_free(&text);
}

/* ---- reader -------------------------------------------------------------- */

START_TEST(elements_are_walked_in_order)
{
    const struct xml_node *root =
        parse("<?xml version=\"1.0\"?>\n<a x=\"1\">\n<!-- no -->t<b/>\n"
              "<c>2</c><b>3</b></a>");
    const struct xml_node *n = xml_first(root);

    ck_assert_str_eq(xml_name(root), "a");
    ck_assert_int_eq(xml_line(root), 2);
    ck_assert_str_eq(xml_attr(root, "x"), "1");
    ck_assert_ptr_null(xml_attr(root, "y"));
    ck_assert(!xml_is_leaf(root));
    ck_assert_str_eq(xml_name(n), "b");
    ck_assert_int_eq(xml_line(n), 3);
    ck_assert(xml_is_leaf(n));
    n = xml_next(n);
    ck_assert_str_eq(xml_name(n), "c");
    ck_assert_int_eq(xml_line(n), 4);
    n = xml_next(n);
    ck_assert_ptr_null(xml_next(n));
    ck_assert_ptr_null(xml_first(n));
    ck_assert_ptr_eq(xml_child(root, "b"), xml_first(root));
    ck_assert_ptr_null(xml_child(root, "d"));
    ck_assert_ptr_null(xml_child(NULL, "d"));
}
END_TEST

START_TEST(text_is_decoded_and_trimmed)
{
    const struct xml_node *root =
        parse("<a> x &lt;&amp;&#233;&#xe9; <![CDATA[<raw> ]]>\n</a>");

    xml_text(root, &text);
    ck_assert_str_eq(buf_str(&text), "x <&\xc3\xa9\xc3\xa9 <raw>");
    xml_text(parse("<a> \n </a>"), &text);
    ck_assert_str_eq(buf_str(&text), "");
    xml_text_raw(parse("<a> x\n</a>"), &text);
    ck_assert_str_eq(buf_str(&text), " x\n");
    xml_text(parse("<a/>"), &text);
    ck_assert_str_eq(buf_str(&text), "");
}
END_TEST

START_TEST(text_is_appended)
{
    const struct xml_node *root = parse("<a> x </a>");

    buf_add(&text, "before ");
    xml_text(root, &text);
    ck_assert_str_eq(buf_str(&text), "before x");
}
END_TEST

START_TEST(numbers_are_whole_numbers_or_absent)
{
    static const struct {
        const char *given;
        bool is_i64, is_double, is_bool;
    } numbers[] = {
        {"<x>5</x>",                   true,  true,  false},
        {"<x> -5\n</x>",               true,  true,  false},
        {"<x>9223372036854775807</x>", true,  true,  false},
        {"<x>9223372036854775808</x>", false, true,  false},
        {"<x>1.5e3</x>",               false, true,  false},
        {"<x>5 s</x>",                 false, false, false},
        {"<x>nan</x>",                 false, false, false},
        {"<x>-inf</x>",                false, false, false},
        {"<x>1e999</x>",               false, false, false},
        {"<x></x>",                    false, false, true },
        {"<x/>",                       false, false, true },
        {"<x>1</x>",                   true,  true,  true },
        {"<x>0</x>",                   true,  true,  true },
        {"<x>true</x>",                false, false, false},
        {"<y>1</y>",                   false, false, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        struct buf b = BUF_INIT;
        const struct xml_node *root;
        int64_t whole = 77;
        double real = 77;
        bool flag = false;

        buf_addf(&b, "<r>%s</r>", numbers[i].given);
        root = parse(buf_str(&b));
        ck_assert_msg(xml_get_i64(root, "x", &whole) == numbers[i].is_i64, "%s",
                      numbers[i].given);
        ck_assert_msg(xml_get_double(root, "x", &real) == numbers[i].is_double,
                      "%s", numbers[i].given);
        ck_assert_msg(xml_get_bool(root, "x", &flag) == numbers[i].is_bool,
                      "%s", numbers[i].given);
        if (!numbers[i].is_i64)
            ck_assert_int_eq(whole, 77); /* untouched */
        if (!numbers[i].is_double)
            ck_assert_double_eq(real, 77);
        buf_free(&b);
    }
}
END_TEST

START_TEST(values_are_those_written)
{
    const struct xml_node *root =
        parse("<r><i>-5000000000</i><d>1.5e3</d><t/><f>0</f></r>");
    int64_t i = 0;
    double d = 0;
    bool t = false, f = true;

    ck_assert(xml_get_i64(root, "i", &i) && i == -INT64_C(5000000000));
    ck_assert(xml_get_double(root, "d", &d) && fabs(d - 1500) < 1e-9);
    ck_assert(xml_get_bool(root, "t", &t) && t);
    ck_assert(xml_get_bool(root, "f", &f) && !f);
}
END_TEST

START_TEST(a_text_fits_its_field_or_is_refused)
{
    const struct xml_node *root = parse("<r><s> 1234567 </s></r>");
    char eight[8] = "was", seven[7] = "was";

    ck_assert(xml_get_str(root, "s", eight, sizeof(eight)));
    ck_assert_str_eq(eight, "1234567");
    ck_assert(!xml_get_str(root, "s", seven, sizeof(seven)));
    ck_assert_str_eq(seven, "was");
    ck_assert(!xml_get_str(root, "t", eight, sizeof(eight)));
}
END_TEST

static const struct {
    const char *promise, *source, *err;
} bad[] = {
    {"an end tag of another element",                         "<a>\n<b></c></a>",
     "test.xml:2: Opening and ending tag mismatch: b line 2 and c"                                                                                                    },
    {"an end tag left out; what follows from it is not told",
     "<a>\n<b>\n<c>\n</b>\n</a>\n",                                                                      "test.xml:4: Opening and ending tag mismatch: c line 3 and b"},
    {"no end",                                                "<a>\n",                                   "test.xml:2: "                                               },
    {"nothing",                                               "",                                        "test.xml:1: "                                               },
    {"no element",                                            "text",                                    "test.xml:1: "                                               },
    {"two roots",                                             "<a/><b/>",                                "test.xml:1: "                                               },
    {"an entity that is not of XML",                          "<a>\n\n&nbsp;</a>",                       "test.xml:3: "                                               },
    {"a bare ampersand",                                      "<a>x & y</a>",                            "test.xml:1: "                                               },
    {"Latin-1",                                               "<a>caf\xe9</a>",                          "test.xml:1: "                                               },
    {"a control character",                                   "<a>\x01</a>",                             "test.xml:1: "                                               },
    {"a document type",                                       "<!DOCTYPE a>\n<a/>",
     "test.xml:1: a document type (DOCTYPE) is not allowed"                                                                                                           },
    {"entities of its own",
     "<!DOCTYPE a [<!ENTITY x \"y\"><!ENTITY z \"&x;&x;\">]><a>&z;</a>",                                 "test.xml:1: a document type (DOCTYPE) is not allowed"       },
    {"a file of the system",                                  "<!DOCTYPE a SYSTEM \"/etc/passwd\"><a/>",
     "test.xml:1: a document type (DOCTYPE) is not allowed"                                                                                                           },
};

START_TEST(what_is_not_well_formed_is_refused_with_its_line)
{
    doc = xml_parse(bad[_i].source, strlen(bad[_i].source), "test.xml", &text);
    ck_assert_msg(doc == NULL, "accepted: %s", bad[_i].promise);
    ck_assert_msg(strncmp(buf_str(&text), bad[_i].err, strlen(bad[_i].err)) ==
                      0,
                  "%s: %s", bad[_i].promise, buf_str(&text));
    ck_assert_ptr_null(strchr(buf_str(&text), '\n'));
}
END_TEST

static void
nest(int depth, struct buf *out)
{
    buf_reset(out);
    for (int i = 0; i < depth; i++)
        buf_add(out, "<a>");
    for (int i = 0; i < depth; i++)
        buf_add(out, "</a>");
}

START_TEST(elements_nest_64_deep_at_most)
{
    struct buf source = BUF_INIT;

    nest(64, &source);
    parse(buf_str(&source));
    nest(65, &source);
    ck_assert_ptr_null(
        xml_parse(buf_str(&source), source.len, "test.xml", &text));
    ck_assert_str_eq(buf_str(&text),
                     "test.xml:1: elements nested deeper than 64");
    nest(100000, &source);
    buf_reset(&text);
    ck_assert_ptr_null(
        xml_parse(buf_str(&source), source.len, "test.xml", &text));
    buf_free(&source);
}
END_TEST

START_TEST(lines_are_counted_beyond_65535)
{
    struct buf source = BUF_INIT;

    buf_add(&source, "<a>");
    for (int i = 0; i < 70000; i++)
        buf_addc(&source, '\n');
    buf_add(&source, "<b>x</b></a>");
    ck_assert_int_eq(xml_line(xml_first(parse(buf_str(&source)))), 70001);
    buf_free(&source);
}
END_TEST

START_TEST(a_file_is_called_by_its_name)
{
    ck_assert_int_eq(file_write(scratch("config.xml"), "<a>\n</b>", 8, 0600),
                     0);
    ck_assert_ptr_null(xml_parse_file(scratch("config.xml"), &text));
    ck_assert_int_eq(strncmp(buf_str(&text), "config.xml:2: ", 14), 0);
    buf_reset(&text);
    ck_assert_ptr_null(xml_parse_file(scratch("none.xml"), &text));
    ck_assert_ptr_nonnull(strstr(buf_str(&text), "none.xml: No such file"));
}
END_TEST

/* ---- writer -------------------------------------------------------------- */

START_TEST(text_is_escaped)
{
    xml_escape(&text, "a<b>&\"c'\n\t");
    ck_assert_str_eq(buf_str(&text), "a&lt;b&gt;&amp;&quot;c'\n\t");
}
END_TEST

START_TEST(what_xml_forbids_never_leaves)
{
    xml_escape(&text, "a\x01\x1b"
                      "b\xe9\xc3\xa9\xef\xbf\xbf");
    ck_assert_str_eq(buf_str(&text), "ab\xc3\xa9\xc3\xa9");
}
END_TEST

START_TEST(one_element_is_one_line)
{
    xml_open(&text, "r");
    xml_put_str(&text, "s", "<&>");
    xml_put_str(&text, "e", "");
    xml_put_i64(&text, "i", INT64_C(-5000000000));
    xml_put_double(&text, "d", 1.5);
    xml_put_double(&text, "n", (double)NAN);
    xml_put_double(&text, "f", (double)INFINITY);
    xml_put_empty(&text, "x");
    xml_close(&text, "r");
    ck_assert_str_eq(buf_str(&text),
                     "<r>\n<s>&lt;&amp;&gt;</s>\n<e></e>\n<i>-5000000000</i>\n"
                     "<d>1.500000</d>\n<n>0.000000</n>\n<f>0.000000</f>\n<x/>\n"
                     "</r>\n");
}
END_TEST

/* Pairs of bytes of all kinds: whatever is written, the reader accepts. */
START_TEST(what_is_written_can_be_read)
{
    for (unsigned i = 1; i < 65536; i += 37) {
        const char raw[] = {(char)(i & 255), (char)(i >> 8), '&', '\0'};
        struct buf b = BUF_INIT;

        xml_put_str(&b, "a", raw);
        parse(buf_str(&b));
        buf_free(&b);
    }
}
END_TEST

/* ---- documents as text --------------------------------------------------- */

static const struct {
    const char *promise, *source, *want;
} dumps[] = {
    {"a leaf is one line",                          "<a>\n x \n</a>",            "<a>x</a>\n"                            },
    {"an empty element stays empty",                "<a></a>",                   "<a/>\n"                                },
    {"blanks are nothing",                          "<a> \n </a>",               "<a/>\n"                                },
    {"tags of containers are alone on their lines",
     "<a><b>1</b>  <c><d/></c></a>",                                             "<a>\n<b>1</b>\n<c>\n<d/>\n</c>\n</a>\n"},
    {"text is escaped again",                       "<a>&lt;&amp;&#13;</a>",     "<a>&lt;&amp;</a>\n"                    },
    {"attributes stay",                             "<a k='1' l='&quot;'>x</a>",
     "<a k=\"1\" l=\"&quot;\">x</a>\n"                                                                                   },
    {"comments go",                                 "<a><!-- x --><b/></a>",     "<a>\n<b/>\n</a>\n"                     },
    {"CDATA becomes text",                          "<a><![CDATA[<x>]]></a>",    "<a>&lt;x&gt;</a>\n"                    },
    {"a key keeps its lines",                       "<a><k>1024\nab\n.</k></a>",
     "<a>\n<k>\n1024\nab\n.\n</k>\n</a>\n"                                                                               },
    {"text between elements stays",                 "<a> x <b/> y &amp; </a>",
     "<a>\nx\n<b/>\ny &amp;\n</a>\n"                                                                                     },
};

START_TEST(a_document_is_written_as_clients_read_it)
{
    xml_dump(parse(dumps[_i].source), &text);
    ck_assert_msg(strcmp(buf_str(&text), dumps[_i].want) == 0, "broken: %s: %s",
                  dumps[_i].promise, buf_str(&text));
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, elements_are_walked_in_order);
    tcase_add_test(tc, text_is_decoded_and_trimmed);
    tcase_add_test(tc, text_is_appended);
    tcase_add_test(tc, numbers_are_whole_numbers_or_absent);
    tcase_add_test(tc, values_are_those_written);
    tcase_add_test(tc, a_text_fits_its_field_or_is_refused);
    tcase_add_loop_test(tc, what_is_not_well_formed_is_refused_with_its_line, 0,
                        ARRAY_LEN(bad));
    tcase_add_test(tc, elements_nest_64_deep_at_most);
    tcase_add_test(tc, lines_are_counted_beyond_65535);
    tcase_add_test(tc, a_file_is_called_by_its_name);
    tcase_add_test(tc, text_is_escaped);
    tcase_add_test(tc, what_xml_forbids_never_leaves);
    tcase_add_test(tc, one_element_is_one_line);
    tcase_add_test(tc, what_is_written_can_be_read);
    tcase_add_loop_test(tc, a_document_is_written_as_clients_read_it, 0,
                        ARRAY_LEN(dumps));
}

int
main(void)
{
    return unit_main("xml", add_tests);
}

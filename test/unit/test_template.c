/* test_template.c - templates become the documents that the protocol shows;
 * mistakes in them are told with their line. */
#include "proto_data.h"

#include <stdint.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "sign.h"
#include "template.h"
#include "upload.h"

#define A_MD5 "0cc175b9c0f1b6a831c399e269772661"

static const struct input_file demo_file = {
    .name = "wu_demo.in", .md5 = A_MD5, .nbytes = 1};

static struct input_template *
read_input(const char *name)
{
    struct buf path = BUF_INIT, err = BUF_INIT;
    struct input_template *t;

    buf_addf(&path, "%s/templates/%s", TEST_DATA, name);
    t = input_template_read(buf_str(&path), &err);
    ck_assert_msg(t != NULL, "%s", buf_str(&err));
    buf_free(&path);
    return t;
}

static struct output_template *
read_output(const char *name)
{
    struct buf path = BUF_INIT, err = BUF_INIT;
    struct output_template *t;

    buf_addf(&path, "%s/templates/%s", TEST_DATA, name);
    t = output_template_read(buf_str(&path), &err);
    ck_assert_msg(t != NULL, "%s", buf_str(&err));
    buf_free(&path);
    return t;
}

static void
check_golden(struct buf *got, const char *name)
{
    struct buf want = data_file(name);

    ck_assert_str_eq(buf_str(got), buf_str(&want));
    buf_free(&want);
    buf_free(got);
}

/* ---- a download folder with one staged file ---------------------------------
 */

struct folder {
    char path[512];
    struct input_paths paths;
};

static void
put_file(const struct folder *f, const char *name, const char *text)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/%s", f->path, name);
    ck_assert_int_eq(file_write(buf_str(&path), text, strlen(text), 0644), 0);
    buf_free(&path);
}

/* words_1.txt lies in 24d (protocol §3.4; MD5 of the name by md5sum). */
static void
make_folder(struct folder *f, const char *md5_line, const char *gz)
{
    struct buf sub = BUF_INIT;

    str_copy(f->path, sizeof f->path, scratch("download"));
    buf_addf(&sub, "%s/24d", f->path);
    ck_assert_int_eq(file_mkdirs(buf_str(&sub), 0755), 0);
    put_file(f, "24d/words_1.txt", "abcabcabcabc");
    if (md5_line != NULL)
        put_file(f, "24d/words_1.txt.md5", md5_line);
    if (gz != NULL)
        put_file(f, "24d/words_1.txt.gz", gz);
    f->paths = (struct input_paths){.download_url =
                                        "https://project.example/ex/download",
                                    .download_dir = f->path,
                                    .fanout = 1024};
    buf_free(&sub);
}

static void
remove_folder(const struct folder *f)
{
    ck_assert_int_eq(file_remove_tree(f->path), 0);
}

#define WORDS_MD5 "900150983cd24fb0d6963f7d28e17f72"

/* ---- workunits
 * --------------------------------------------------------------- */

START_TEST(workunit_document)
{
    struct input_template *t = read_input("uppercase_in");
    struct buf out = BUF_INIT, err = BUF_INIT;
    struct folder f;

    make_folder(&f, WORDS_MD5 " 12\n", "xyz");
    ck_assert_uint_eq(input_template_n_files(t), 1);
    ck_assert_msg(input_template_document(t, &demo_file, 1, NULL, &f.paths,
                                          &out, &err) == 0,
                  "%s", buf_str(&err));
    check_golden(&out, "golden/uppercase_wu.xml");
    input_template_free(t);
    remove_folder(&f);
}
END_TEST

/* Generated on the client, and fetched from elsewhere: nothing is given. */
START_TEST(workunit_document_without_staged_files)
{
    static const struct input_paths nowhere = {"http://x/", "/nonexistent", 0};
    struct input_template *t = read_input("remote_in");
    struct buf out = BUF_INIT, err = BUF_INIT, warn = BUF_INIT;
    struct workunit wu = {.target_nresults = 2};

    ck_assert_uint_eq(input_template_n_files(t), 0);
    ck_assert_int_eq(
        input_template_document(t, NULL, 0, NULL, &nowhere, &out, &err), 0);
    check_golden(&out, "golden/remote_wu.xml");
    input_template_apply(t, &wu, &warn);
    ck_assert_str_eq(buf_str(&warn), "");
    input_template_free(t);
}
END_TEST

START_TEST(a_remote_file_is_given_with_the_job)
{
    static const char text[] = "<file_info></file_info><workunit><file_ref>"
                               "<open_name>in</open_name></file_ref>"
                               "</workunit>";
    static const struct input_paths nowhere = {"http://x/", "/nonexistent", 0};
    static const struct input_file file = {
        .url = "http://a.example/x?a&b", .md5 = A_MD5, .nbytes = 5};
    struct buf out = BUF_INIT, err = BUF_INIT;
    struct input_template *t =
        input_template_parse(text, strlen(text), "in", &err);

    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(
        input_template_document(t, &file, 1, "-x <1>", &nowhere, &out, &err),
        0);
    ck_assert_str_eq(buf_str(&out),
                     "<file_info>\n"
                     "    <name>jf_" A_MD5 "</name>\n"
                     "    <url>http://a.example/x?a&amp;b</url>\n"
                     "    <md5_cksum>" A_MD5 "</md5_cksum>\n"
                     "    <nbytes>5</nbytes>\n"
                     "</file_info>\n"
                     "<workunit>\n"
                     "<command_line>\n"
                     "-x &lt;1&gt;\n"
                     "</command_line>\n"
                     "<file_ref>\n"
                     "    <file_name>jf_" A_MD5 "</file_name>\n"
                     "    <open_name>in</open_name>\n"
                     "</file_ref>\n"
                     "</workunit>\n");
    buf_free(&out);
    input_template_free(t);
}
END_TEST

START_TEST(numbers_of_the_template_override)
{
    struct input_template *t = read_input("uppercase_in");
    struct workunit wu = {.priority = 9, .min_quorum = 1, .batch = 1};
    struct buf warn = BUF_INIT;

    input_template_apply(t, &wu, &warn);
    ck_assert_double_eq(wu.rsc_fpops_est, 1e12);
    ck_assert_double_eq(wu.rsc_fpops_bound, 1e14);
    ck_assert_double_eq(wu.rsc_memory_bound, 1e8);
    ck_assert_double_eq(wu.rsc_disk_bound, 2e8);
    ck_assert_double_eq(wu.rsc_bandwidth_bound, 1000);
    ck_assert_int_eq(wu.delay_bound, 86400);
    ck_assert_int_eq(wu.min_quorum, 2);
    ck_assert_int_eq(wu.target_nresults, 3);
    ck_assert_int_eq(wu.max_error_results, 4);
    ck_assert_int_eq(wu.max_total_results, 8);
    ck_assert_int_eq(wu.max_success_results, 5);
    ck_assert_int_eq(wu.batch, 12);
    ck_assert_int_eq(wu.size_class, 1);
    ck_assert_int_eq(wu.priority, 9);
    ck_assert_str_eq(buf_str(&warn), "");
    input_template_free(t);
}
END_TEST

START_TEST(limits_are_raised_to_the_target)
{
    static const char text[] = "<workunit><target_nresults>3"
                               "</target_nresults></workunit>";
    struct buf err = BUF_INIT, warn = BUF_INIT;
    struct input_template *t =
        input_template_parse(text, strlen(text), "in", &err);
    struct workunit wu = {.max_success_results = 1, .max_total_results = 5};

    ck_assert_ptr_nonnull(t);
    input_template_apply(t, &wu, &warn);
    ck_assert_int_eq(wu.max_success_results, 3);
    ck_assert_int_eq(wu.max_total_results, 5);
    input_template_free(t);
}
END_TEST

/* A client from 7.0 on would wait for such a file for ever. */
START_TEST(warns_of_generated_files_that_cannot_work)
{
    static const char text[] =
        "<file_info>\n<generated_locally/>\n<physical_name>x</physical_name>\n"
        "</file_info>\n<workunit>\n<file_ref>\n<open_name>in</open_name>\n"
        "<copy_file/>\n</file_ref>\n</workunit>\n";
    struct buf err = BUF_INIT, warn = BUF_INIT;
    struct input_template *t =
        input_template_parse(text, strlen(text), "in", &err);
    struct workunit wu = {.min_quorum = 1};

    ck_assert_ptr_nonnull(t);
    input_template_apply(t, &wu, &warn);
    ck_assert_ptr_nonnull(strstr(buf_str(&warn), "in:6: x "));
    ck_assert_ptr_nonnull(strstr(buf_str(&warn), "<optional/>"));
    ck_assert_ptr_nonnull(strstr(buf_str(&warn), "in:1: x "));
    ck_assert_ptr_nonnull(strstr(buf_str(&warn), "<sticky/>"));
    buf_free(&warn);
    input_template_free(t);
}
END_TEST

/* ---- staged files
 * ------------------------------------------------------------ */

static const struct {
    const char *promise, *md5_line, *gz, *why; /* why NULL: it works */
} staged[] = {
    {"a size may have an exponent", WORDS_MD5 " 1.200000000000000e+01\n",    "x",
     NULL                                                                                },
    {"without a .md5",              NULL,                                    "x",  ".md5"},
    {"with a .md5 of nonsense",     "hello",                                 "x",  ".md5"},
    {"with an MD5 in upper case",   "900150983CD24FB0D6963F7D28E17F72 12\n", "x",
     ".md5"                                                                              },
    {"without a size",              WORDS_MD5 "\n",                          "x",  ".md5"},
    {"with a size that is none",    WORDS_MD5 " nan\n",                      "x",  ".md5"},
    {"without its .gz",             WORDS_MD5 " 12\n",                       NULL, ".gz" },
};

START_TEST(constant_files_are_staged)
{
    struct input_template *t = read_input("uppercase_in");
    struct buf out = BUF_INIT, err = BUF_INIT;
    struct folder f;
    int rc;

    make_folder(&f, staged[_i].md5_line, staged[_i].gz);
    rc = input_template_document(t, &demo_file, 1, NULL, &f.paths, &out, &err);
    if (staged[_i].why == NULL)
        ck_assert_msg(rc == 0 && strstr(buf_str(&out), "<nbytes>12</nbytes>"),
                      "broken: %s: %s", staged[_i].promise, buf_str(&err));
    else
        ck_assert_msg(rc == -1 && strstr(buf_str(&err), staged[_i].why),
                      "broken: %s: %s", staged[_i].promise, buf_str(&err));
    buf_free(&out);
    buf_free(&err);
    input_template_free(t);
    remove_folder(&f);
}
END_TEST

START_TEST(a_stale_md5_is_refused)
{
    static const struct timespec past[2] = {
        {1000000000, 0},
        {1000000000, 0}
    };
    struct input_template *t = read_input("uppercase_in");
    struct buf out = BUF_INIT, err = BUF_INIT, path = BUF_INIT;
    struct folder f;

    make_folder(&f, WORDS_MD5 " 12\n", "x");
    buf_addf(&path, "%s/24d/words_1.txt.md5", f.path);
    ck_assert_int_eq(utimensat(AT_FDCWD, buf_str(&path), past, 0), 0);
    ck_assert_int_eq(
        input_template_document(t, &demo_file, 1, NULL, &f.paths, &out, &err),
        -1);
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "older than the file"));
    buf_free(&out);
    buf_free(&err);
    buf_free(&path);
    input_template_free(t);
    remove_folder(&f);
}
END_TEST

/* ---- jobs that do not fit
 * ------------------------------------------------------ */

#define ONE_FILE                                                               \
    "<file_info></file_info><workunit><file_ref><open_name>in</open_name>"     \
    "</file_ref></workunit>"

static const struct {
    const char *template;
    size_t n_files;
    const char *name, *md5, *command_line, *why;
} misfits[] = {
    {ONE_FILE,                                              0, "a",      A_MD5, NULL, "0 input files were given"},
    {ONE_FILE,                                              2, "a",      A_MD5, NULL, "2 input files were given"},
    {ONE_FILE,                                              1, "a/../b", A_MD5, NULL, "cannot be a file name"   },
    {ONE_FILE,                                              1, "",       A_MD5, NULL, "cannot be a file name"   },
    {ONE_FILE,                                              1, "a",      "",    NULL, "MD5"                     },
    {"<file_info><gzip/></file_info><workunit><file_ref><open_name>in"
     "</open_name></file_ref></workunit>",             1, "a",      A_MD5, NULL, "gz"                      },
    {"<workunit><command_line>x</command_line></workunit>", 0, "",       "",    "y",
     "command line"                                                                                             },
};

START_TEST(says_what_does_not_fit)
{
    static const struct input_paths paths = {"http://x/", "/nonexistent", 0};
    struct input_file file[2] = {{.name = misfits[_i].name}, {.name = "b"}};
    struct buf out = BUF_INIT, err = BUF_INIT;
    struct input_template *t = input_template_parse(
        misfits[_i].template, strlen(misfits[_i].template), "in", &err);

    ck_assert_ptr_nonnull(t);
    str_copy(file[0].md5, sizeof file[0].md5, misfits[_i].md5);
    ck_assert_int_eq(input_template_document(t, file, misfits[_i].n_files,
                                             misfits[_i].command_line, &paths,
                                             &out, &err),
                     -1);
    ck_assert_msg(strstr(buf_str(&err), misfits[_i].why) != NULL, "%s",
                  buf_str(&err));
    buf_free(&out);
    buf_free(&err);
    input_template_free(t);
}
END_TEST

/* "<workunit>\n<command_line>\n" + line + "\n</command_line>\n</workunit>\n":
 * 55 bytes around the line; a document has at most 65535. */
START_TEST(a_document_fits_into_its_column)
{
    static const struct input_paths paths = {"http://x/", "/nonexistent", 0};
    static const char text[] = "<workunit></workunit>";
    struct buf out = BUF_INIT, err = BUF_INIT, line = BUF_INIT;
    struct input_template *t =
        input_template_parse(text, strlen(text), "in", &err);

    ck_assert_ptr_nonnull(t);
    while (line.len < 65535 - 55)
        buf_addc(&line, 'x');
    ck_assert_int_eq(
        input_template_document(t, NULL, 0, buf_str(&line), &paths, &out, &err),
        0);
    ck_assert_uint_eq(out.len, 65535);
    buf_addc(&line, 'x');
    buf_reset(&out);
    ck_assert_int_eq(
        input_template_document(t, NULL, 0, buf_str(&line), &paths, &out, &err),
        -1);
    buf_free(&out);
    buf_free(&err);
    buf_free(&line);
    input_template_free(t);
}
END_TEST

/* ---- mistakes in templates
 * ------------------------------------------------------ */

#define WU "<workunit>\n</workunit>\n"

static const struct {
    const char *given, *where, *why;
} input_mistakes[] = {
    {"",                                                                 "in:1:", "no <workunit>"              },
    {"<input_template>\n<workunit>\n</input_template>",                  "in:3:", ""                           },
    {"<input_template>\n</input_template>\n<x/>\n",                      "in:3:", "may follow"                 },
    {WU WU,                                                              "in:3:", "second <workunit>"          },
    {WU "<output/>\n",                                                   "in:3:", "unknown"                    },
    {WU "<file_info>\n</file_info>\n",                                   "in:1:", "0 file_ref, but 1 file_info"},
    {"<workunit>\n<rsc_fpops_est>\nlots</rsc_fpops_est>\n</workunit>",
     "in:2:",                                                                     "rsc_fpops_est"              },
    {"<workunit>\n\n<rsc_fpops_bound>-1</rsc_fpops_bound>\n</workunit>",
     "in:3:",                                                                     "rsc_fpops_bound"            },
    {"<workunit>\n<delay_bound>0</delay_bound>\n</workunit>",
     "in:2:",                                                                     "delay_bound"                },
    {"<workunit>\n<delay_bound>2147483648</delay_bound>\n</workunit>",
     "in:2:",                                                                     "delay_bound"                },
    {"<workunit>\n<min_quorum>1.5</min_quorum>\n</workunit>",
     "in:2:",                                                                     "whole number"               },
    {"<workunit>\n<min_quorum>1</min_quorum>\n<min_quorum>2</min_quorum>\n</"
     "workunit>",                                                   "in:3:", "second <min_quorum>"        },
    {"<workunit>\n<command_line>a</command_line>\n<command_line>b</"
     "command_line>\n</workunit>",                                  "in:3:", "second <command_line>"      },
    {"<workunit>\n<file_ref>\n</file_ref>\n</workunit>",                 "in:2:", "open_name"                  },
    {"<file_info>\n<physical_name>a/b</physical_name></file_info>" WU,
     "in:2:",                                                                     "file name"                  },
    {"<file_info>\n<md5_cksum>0</md5_cksum></file_info>" WU,
     "in:2:",                                                                     "32 hex digits"              },
    {"<file_info>\n<md5_cksum>" A_MD5 "</md5_cksum></file_info>" WU,
     "in:1:",                                                                     "without <url>"              },
    {"<file_info>\n<url>http://x/</url></file_info>" WU,
     "in:1:",                                                                     "needs <md5_cksum>"          },
    {"<file_info>\n<generate_locally/></file_info>" WU,
     "in:1:",                                                                     "physical_name"              },
    {"<file_info>\n<generate_locally/><physical_name>a</"
     "physical_name><url>http://x/</url></file_info>" WU,
     "in:1:",                                                                     "no url"                     },
    {"<file_info>\n<nbytes>-5</nbytes></file_info>" WU,
     "in:2:",                                                                     "number of bytes"            },
};

START_TEST(input_mistakes_are_told_with_their_line)
{
    const char *text = input_mistakes[_i].given;
    struct buf err = BUF_INIT;

    ck_assert_ptr_null(input_template_parse(text, strlen(text), "in", &err));
    ck_assert_msg(strncmp(buf_str(&err), input_mistakes[_i].where,
                          strlen(input_mistakes[_i].where)) == 0 &&
                      strstr(buf_str(&err), input_mistakes[_i].why) != NULL,
                  "%s: %s", text, buf_str(&err));
    buf_free(&err);
}
END_TEST

#define OUT_FILE                                                               \
    "<file_info>\n<name><OUTFILE_0/></name>\n<max_nbytes>1</max_nbytes>\n"     \
    "</file_info>\n"

static const struct {
    const char *given, *where, *why;
} output_mistakes[] = {
    {"",                                                               "out:1:", "no <result>"    },
    {OUT_FILE,                                                         "out:1:", "no <result>"    },
    {"<result>\n</result>\n<result/>",                                 "out:3:", "second <result>"},
    {"<result>\n</result>\n<workunit/>",                               "out:3:", "unknown"        },
    {"<file_info>\n<max_nbytes>1</max_nbytes>\n</file_info><result/>",
     "out:1:",                                                                   "<name>"         },
    {"<file_info>\n<name>\n</name></file_info><result/>",              "out:2:", "<name>"         },
    {"<file_info>\n<name><OUTFILE_0/></name>\n</file_info><result/>",
     "out:1:",                                                                   "<max_nbytes>"   },
    {"<file_info>\n<name><OUTFILE_0/></name>\n<max_nbytes>many</max_nbytes></"
     "file_info><result/>",                                       "out:3:", "max_nbytes"     },
    {"<file_info>\n<name><OUTFILE_0/></name>\n<max_nbytes>0</max_nbytes></"
     "file_info><result/>",                                       "out:3:", "max_nbytes"     },
    {OUT_FILE "<result>\n<file_ref>\n</file_ref></result>",
     "out:6:",                                                                   "<file_name>"    },
    {OUT_FILE "<result>\n<file_ref><file_name><OUTFILE_1/></file_name>\n</"
              "file_ref></result>",                               "out:6:", "no file_info"   },
    {OUT_FILE "<result>\n<file_ref><file_name><OUTFILE_0/></file_name>\n</"
              "file_ref></result>",                               "out:6:", "<open_name>"    },
    {"<result>\n\xee\x80\x80</result>",                                "out:",   "private-use"    },
    {"<result>\n<a>\n</result>",                                       "out:3:", ""               },
};

START_TEST(output_mistakes_are_told_with_their_line)
{
    const char *text = output_mistakes[_i].given;
    struct buf err = BUF_INIT;

    ck_assert_ptr_null(output_template_parse(text, strlen(text), "out", &err));
    ck_assert_msg(strncmp(buf_str(&err), output_mistakes[_i].where,
                          strlen(output_mistakes[_i].where)) == 0 &&
                      strstr(buf_str(&err), output_mistakes[_i].why) != NULL,
                  "%s: %s", text, buf_str(&err));
    buf_free(&err);
}
END_TEST

START_TEST(a_template_that_is_not_there)
{
    struct buf err = BUF_INIT;

    ck_assert_ptr_null(input_template_read("/nonexistent/in", &err));
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "/nonexistent/in"));
    buf_reset(&err);
    ck_assert_ptr_null(output_template_read("/nonexistent/out", &err));
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "/nonexistent/out"));
    buf_free(&err);
}
END_TEST

/* ---- results
 * ---------------------------------------------------------------------- */

#define UPLOAD_URL "https://project.example/ex_cgi/file_upload_handler?a&b"

START_TEST(result_document)
{
    struct output_template *t = read_output("uppercase_out");
    struct buf out = BUF_INIT, err = BUF_INIT;

    ck_assert_int_eq(output_template_document(t, "wu_up_1_0", 77, UPLOAD_URL,
                                              NULL, &out, &err),
                     0);
    check_golden(&out, "golden/uppercase_result.xml");
    output_template_free(t);
}
END_TEST

/* The certificate of the vectors, made by the reference's tool. */
START_TEST(result_document_with_certificate)
{
    static const char text[] =
        "<file_info><name><OUTFILE_0/></name><max_nbytes>1000000</max_nbytes>"
        "</file_info><result></result>";
    struct buf want = data_file("sign/upload_cert.sig"), out = BUF_INIT,
               err = BUF_INIT, document = BUF_INIT;
    struct output_template *t =
        output_template_parse(text, strlen(text), "out", &err);
    struct sign_key *key =
        sign_key_read(TEST_DATA "/keys/upload_private", &err);

    ck_assert_msg(t != NULL && key != NULL, "%s", buf_str(&err));
    ck_assert_int_eq(output_template_document(t, "wu_demo_0", 123456789,
                                              UPLOAD_URL, key, &out, &err),
                     0);
    buf_addf(&document,
             "<file_info>\n"
             "<name>wu_demo_0_r123456789_0</name>\n"
             "<max_nbytes>1000000</max_nbytes>\n"
             "<xml_signature>\n"
             "%s"
             "</xml_signature>\n"
             "</file_info>\n"
             "<result>\n"
             "</result>\n",
             buf_str(&want));
    ck_assert_str_eq(buf_str(&out), buf_str(&document));
    buf_free(&want);
    buf_free(&out);
    buf_free(&document);
    sign_key_free(key);
    output_template_free(t);
}
END_TEST

START_TEST(a_result_document_fits_into_its_column)
{
    struct buf text = BUF_INIT, out = BUF_INIT, err = BUF_INIT;
    struct output_template *t;

    buf_add(&text, "<result>");
    for (int i = 0; i < 7000; i++)
        buf_add(&text, "<note>x</note>");
    buf_add(&text, "</result>");
    t = output_template_parse(buf_str(&text), text.len, "out", &err);
    ck_assert_ptr_nonnull(t);
    ck_assert_int_eq(
        output_template_document(t, "a_0", 1, UPLOAD_URL, NULL, &out, &err),
        -1);
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "65535"));
    buf_free(&text);
    buf_free(&out);
    buf_free(&err);
    output_template_free(t);
}
END_TEST

/* ---- what documents name
 * ------------------------------------------------------------ */

START_TEST(names_the_output_files)
{
    struct buf document = data_file("golden/uppercase_result.xml");
    struct output_file file[4];

    ck_assert_int_eq(result_document_files(buf_str(&document), file, 4), 2);
    ck_assert_str_eq(file[0].name, "wu_up_1_0_r77_0");
    ck_assert_str_eq(file[0].open_name, "out");
    ck_assert(!file[0].optional && !file[0].no_validate && !file[0].no_delete);
    ck_assert_int_eq(file[0].max_nbytes, 2000000);
    ck_assert_str_eq(file[1].name, "wu_up_1_0_r77_log.txt");
    ck_assert_str_eq(file[1].open_name, "log");
    ck_assert(file[1].optional && file[1].no_validate && file[1].no_delete);
    ck_assert_int_eq(file[1].max_nbytes, INT64_C(5000000000));
    file[1].name[0] = '#';
    ck_assert_int_eq(result_document_files(buf_str(&document), file, 1), 2);
    ck_assert_int_eq(file[1].name[0], '#');
    buf_free(&document);
}
END_TEST

/* A file that no file_ref names is there to be deleted all the same. */
START_TEST(names_files_without_reference)
{
    struct output_file file[2];

    ck_assert_int_eq(
        result_document_files("<file_info>\n<name>a</name>\n</file_info>\n"
                              "<result>\n</result>\n",
                              file, 2),
        1);
    ck_assert_str_eq(file[0].name, "a");
    ck_assert_str_eq(file[0].open_name, "");
    ck_assert_int_eq(result_document_files("<result>\n</result>\n", file, 2),
                     0);
    ck_assert_int_eq(result_document_files(NULL, file, 2), -1);
}
END_TEST

/* What is sticky and has no URL to be uploaded to stays on the client. */
START_TEST(tells_which_outputs_stay_on_the_client)
{
    static const struct {
        const char *elements;
        bool stays;
    } cases[] = {
        {"<sticky/>",                           true },
        {"<sticky/><url>http://a/u</url>",      false},
        {"<sticky/><upload_url>u</upload_url>", false},
        {"<url>http://a/u</url>",               false},
        {"",                                    false},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf document = BUF_INIT;
        struct output_file file;

        buf_addf(&document,
                 "<file_info>\n<name>a</name>\n%s\n</file_info>\n"
                 "<result>\n<file_ref>\n<file_name>a</file_name>\n"
                 "</file_ref>\n</result>\n",
                 cases[i].elements);
        ck_assert_int_eq(result_document_files(buf_str(&document), &file, 1),
                         1);
        ck_assert(file.stays == cases[i].stays);
        buf_free(&document);
    }
}
END_TEST

START_TEST(names_the_input_files)
{
    struct buf document = data_file("golden/remote_wu.xml");
    struct document_file file[4];

    ck_assert_int_eq(workunit_document_files(buf_str(&document), file, 4), 2);
    ck_assert_str_eq(file[0].name, "made_here");
    ck_assert(file[0].sticky && file[0].generated_locally);
    ck_assert(!file[0].no_delete);
    ck_assert_str_eq(file[1].name, "jf_" A_MD5);
    ck_assert(!file[1].sticky && !file[1].generated_locally);
    ck_assert_str_eq(file[0].url, "");
    ck_assert_str_eq(file[1].url, "http://a.example/dir/jf_" A_MD5);
    ck_assert_int_eq(workunit_document_files(NULL, file, 4), -1);
    buf_free(&document);
}
END_TEST

/* BOINC's tools wrote command lines without escaping. */
START_TEST(reads_documents_that_are_no_xml)
{
    struct document_file file[2];

    ck_assert_int_eq(
        workunit_document_files(
            "<file_info>\n    <number>0</number>\n<no_delete/>\n"
            "    <name>a</name>\n</file_info>\n<workunit>\n<command_line>\n"
            "a < b && c\n</command_line>\n</workunit>",
            file, 2),
        1);
    ck_assert_str_eq(file[0].name, "a");
    ck_assert(file[0].no_delete);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_test(tc, workunit_document);
    tcase_add_test(tc, workunit_document_without_staged_files);
    tcase_add_test(tc, a_remote_file_is_given_with_the_job);
    tcase_add_test(tc, numbers_of_the_template_override);
    tcase_add_test(tc, limits_are_raised_to_the_target);
    tcase_add_test(tc, warns_of_generated_files_that_cannot_work);
    tcase_add_loop_test(tc, constant_files_are_staged, 0, ARRAY_LEN(staged));
    tcase_add_test(tc, a_stale_md5_is_refused);
    tcase_add_loop_test(tc, says_what_does_not_fit, 0, ARRAY_LEN(misfits));
    tcase_add_test(tc, a_document_fits_into_its_column);
    tcase_add_loop_test(tc, input_mistakes_are_told_with_their_line, 0,
                        ARRAY_LEN(input_mistakes));
    tcase_add_loop_test(tc, output_mistakes_are_told_with_their_line, 0,
                        ARRAY_LEN(output_mistakes));
    tcase_add_test(tc, a_template_that_is_not_there);
    tcase_add_test(tc, result_document);
    tcase_add_test(tc, result_document_with_certificate);
    tcase_add_test(tc, a_result_document_fits_into_its_column);
    tcase_add_test(tc, names_the_output_files);
    tcase_add_test(tc, names_files_without_reference);
    tcase_add_test(tc, tells_which_outputs_stay_on_the_client);
    tcase_add_test(tc, names_the_input_files);
    tcase_add_test(tc, reads_documents_that_are_no_xml);
}

int
main(void)
{
    return unit_main("template", fill);
}

/* test_version_dir.c - application versions on disk (protocol §6.3). */
#include "unit_test.h"

#include <limits.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "sign.h"
#include "version_dir.h"

#define FOLDER "apps/demo/1.07/x86_64-pc-linux-gnu"

static struct buf err;
static struct version_dir v;

static const struct {
    const char *text;
    int number;
} versions[] = {
    {"1.0",   100 },
    {"1.07",  107 },
    {"1.7",   107 },
    {"12.34", 1234},
    {"0.01",  1   },
    {"345",   345 },
    {"1.99",  199 },
    {"1.100", -1  },
    {"",      -1  },
    {"1.",    -1  },
    {".5",    -1  },
    {"1.0.1", -1  },
    {"v1.0",  -1  },
    {"1.0a",  -1  },
    {"-1",    -1  },
    {"1.-5",  -1  },
};

START_TEST(versions_are_major_and_minor)
{
    ck_assert_int_eq(version_dir_number(versions[_i].text),
                     versions[_i].number);
}
END_TEST

static void
setup(void)
{
    buf_reset(&err);
    ck_assert_int_eq(file_remove_tree(scratch("apps")), 0);
    ck_assert_int_eq(file_mkdirs(scratch(FOLDER), 0755), 0);
}

static void
put(const char *name, const char *text)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/%s", scratch(FOLDER), name);
    ck_assert_int_eq(file_write(buf_str(&path), text, strlen(text), 0755), 0);
    buf_free(&path);
}

static int
read_it(void)
{
    version_dir_free(&v);
    return version_dir_read(scratch(FOLDER), &v, &err);
}

START_TEST(a_single_file_is_the_main_program)
{
    put("demo_1.07", "program");
    ck_assert_int_eq(read_it(), 0);
    ck_assert_str_eq(v.app, "demo");
    ck_assert_str_eq(v.platform, "x86_64-pc-linux-gnu");
    ck_assert_str_eq(v.plan_class, "");
    ck_assert_int_eq(v.version_num, 107);
    ck_assert_uint_eq(v.n_files, 1);
    ck_assert(v.file[0].main_program);
    ck_assert_int_eq(v.file[0].nbytes, 7);
}
END_TEST

START_TEST(a_plan_class_follows_two_underscores)
{
    const char *folder = scratch("apps/demo/2.0/windows_x86_64__mt_avx");

    ck_assert_int_eq(file_mkdirs(folder, 0755), 0);
    ck_assert_int_eq(
        file_write(scratch("apps/demo/2.0/windows_x86_64__mt_avx/a.exe"), "x",
                   1, 0644),
        0);
    version_dir_free(&v);
    ck_assert_int_eq(version_dir_read(folder, &v, &err), 0);
    ck_assert_str_eq(v.platform, "windows_x86_64");
    ck_assert_str_eq(v.plan_class, "mt_avx");
}
END_TEST

START_TEST(version_xml_says_more_and_other_files_are_added)
{
    put("demo_1.07", "program API_VERSION_7.20.5 text");
    put("data.bin", "data");
    put("demo_1.07.sig", "ab\n.\n");
    put("version.xml", "<version>\n<file>\n"
                       "<physical_name>demo_1.07</physical_name>\n"
                       "<logical_name>demo</logical_name>\n"
                       "<main_program/>\n<copy_file/>\n</file>\n"
                       "<needs_network/>\n<beta/>\n</version>\n");
    ck_assert_int_eq(read_it(), 0);
    ck_assert_uint_eq(v.n_files, 2);
    ck_assert_str_eq(v.file[0].name, "demo_1.07");
    ck_assert_str_eq(v.file[0].logical, "demo");
    ck_assert(v.file[0].main_program && v.file[0].copy_file);
    ck_assert_str_eq(v.file[0].signature, "ab\n.\n");
    ck_assert_str_eq(v.file[1].name, "data.bin");
    ck_assert(!v.file[1].main_program);
    ck_assert(v.needs_network && v.beta && !v.is_wrapper);
    ck_assert_str_eq(v.api_version, "7.20.5");
}
END_TEST

static void
refused(const char *why)
{
    ck_assert_int_eq(read_it(), -1);
    ck_assert_msg(strstr(buf_str(&err), why) != NULL, "got: %s", buf_str(&err));
}

START_TEST(two_files_need_a_main_program)
{
    put("a", "1");
    put("b", "2");
    refused("names no <main_program/>");
}
END_TEST

START_TEST(two_main_programs_are_too_many)
{
    put("a", "1");
    put("b", "2");
    put("version.xml",
        "<version><file><physical_name>a</physical_name><main_program/></file>"
        "<file><physical_name>b</physical_name><main_program/></file>"
        "</version>");
    refused("more than one <main_program/>");
}
END_TEST

START_TEST(an_empty_folder_is_no_version)
{
    refused("holds no files");
}
END_TEST

START_TEST(a_listed_file_must_be_there)
{
    put("a", "1");
    put("version.xml", "<version><file><physical_name>gone</physical_name>"
                       "</file></version>");
    refused("gone: cannot be read");
}
END_TEST

START_TEST(an_unknown_element_is_named_with_its_line)
{
    put("a", "1");
    put("version.xml", "<version>\n<mainprogram/>\n</version>");
    refused("version.xml:2: unknown element <mainprogram>");
}
END_TEST

/* ---- signatures -----------------------------------------------------------
 */

static struct sign_key *
key(const char *name)
{
    struct buf path = BUF_INIT;
    struct sign_key *k;

    buf_addf(&path, "%s/keys/%s", TEST_DATA, name);
    k = sign_key_read(buf_str(&path), &err);
    ck_assert_ptr_nonnull(k);
    buf_free(&path);
    return k;
}

START_TEST(files_are_signed_for_clients)
{
    struct sign_key *private_key = key("code_sign_private");
    struct sign_key *public_key = key("code_sign_public");

    put("demo_1.07", "program");
    ck_assert_int_eq(read_it(), 0);
    ck_assert_int_eq(version_dir_sign(&v, private_key, public_key, &err), 0);
    ck_assert(sign_verify(public_key, "program", 7, v.file[0].signature));
    sign_key_free(private_key);
    sign_key_free(public_key);
}
END_TEST

START_TEST(a_signature_of_another_key_is_refused)
{
    struct sign_key *other = key("code_sign_new_private");
    struct sign_key *public_key = key("code_sign_public");

    put("demo_1.07", "program");
    ck_assert_int_eq(read_it(), 0);
    ck_assert_int_eq(version_dir_sign(&v, other, public_key, &err), -1);
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "clients would refuse it"));
    sign_key_free(other);
    sign_key_free(public_key);
}
END_TEST

START_TEST(without_key_and_signature_there_is_no_version)
{
    struct sign_key *public_key = key("code_sign_public");

    put("demo_1.07", "program");
    ck_assert_int_eq(read_it(), 0);
    ck_assert_int_eq(version_dir_sign(&v, NULL, public_key, &err), -1);
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "has no FILE.sig"));
    sign_key_free(public_key);
}
END_TEST

/* ---- publishing -----------------------------------------------------------
 */

static struct config cfg;

static void
set_config(void)
{
    static char folder[300], url[] = "http://127.0.0.1/ex/download";

    (void)snprintf(folder, sizeof(folder), "%s", scratch("download"));
    cfg.download_dir = folder;
    cfg.download_url = url;
    ck_assert_int_eq(file_remove_tree(folder), 0);
    ck_assert_int_eq(file_mkdirs(folder, 0755), 0);
}

START_TEST(published_files_never_change)
{
    set_config();
    put("demo_1.07", "program");
    ck_assert_int_eq(read_it(), 0);
    ck_assert_int_eq(version_dir_check(&v, &cfg, &err), 0);
    ck_assert_int_eq(version_dir_publish(&v, &cfg, &err), 0);
    ck_assert_int_eq(version_dir_check(&v, &cfg, &err), 0); /* the same */

    put("demo_1.07", "another");
    ck_assert_int_eq(read_it(), 0);
    ck_assert_int_eq(version_dir_check(&v, &cfg, &err), -1);
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "immutable"));
}
END_TEST

START_TEST(the_document_is_what_clients_read)
{
    struct buf doc = BUF_INIT;

    set_config();
    put("demo_1.07", "program");
    ck_assert_int_eq(read_it(), 0);
    v.file[0].signature = xstrdup("00ff\n.\n");
    version_dir_document(&v, &cfg, &doc);
    ck_assert_str_eq(buf_str(&doc),
                     "<file_info>\n"
                     "    <name>demo_1.07</name>\n"
                     "    <url>http://127.0.0.1/ex/download/demo_1.07</url>\n"
                     "    <executable/>\n"
                     "    <file_signature>\n"
                     "00ff\n"
                     ".\n"
                     "    </file_signature>\n"
                     "    <nbytes>7</nbytes>\n"
                     "</file_info>\n"
                     "<app_version>\n"
                     "    <app_name>demo</app_name>\n"
                     "    <version_num>107</version_num>\n"
                     "<file_ref>\n"
                     "    <file_name>demo_1.07</file_name>\n"
                     "    <main_program/>\n"
                     "</file_ref>\n"
                     "</app_version>\n");
    buf_free(&doc);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, versions_are_major_and_minor, 0,
                        (int)ARRAY_LEN(versions));
    tcase_add_test(tc, a_single_file_is_the_main_program);
    tcase_add_test(tc, a_plan_class_follows_two_underscores);
    tcase_add_test(tc, version_xml_says_more_and_other_files_are_added);
    tcase_add_test(tc, two_files_need_a_main_program);
    tcase_add_test(tc, two_main_programs_are_too_many);
    tcase_add_test(tc, an_empty_folder_is_no_version);
    tcase_add_test(tc, a_listed_file_must_be_there);
    tcase_add_test(tc, an_unknown_element_is_named_with_its_line);
    tcase_add_test(tc, files_are_signed_for_clients);
    tcase_add_test(tc, a_signature_of_another_key_is_refused);
    tcase_add_test(tc, without_key_and_signature_there_is_no_version);
    tcase_add_test(tc, published_files_never_change);
    tcase_add_test(tc, the_document_is_what_clients_read);
}

int
main(void)
{
    return unit_main("version_dir", add_tests);
}

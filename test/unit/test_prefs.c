/* test_prefs.c - project preferences: documents of users, hostile ones too ->
 * what the server does for them (protocol §8.3). */
#include "proto_data.h"

#include "prefs.h"

static void
read_prefs(const char *inside, const char *venue, struct project_prefs *ret)
{
    struct buf text = BUF_INIT;

    buf_addf(&text, "<project_preferences>\n%s\n</project_preferences>\n",
             inside);
    ck_assert_int_eq(project_prefs_parse(buf_str(&text), venue, ret), 0);
    buf_free(&text);
}

START_TEST(nothing_said_means_everything)
{
    static const char *const nothing[] = {NULL, "", "<project_preferences/>"};
    struct project_prefs p;

    ck_assert_int_eq(project_prefs_parse(nothing[_i], "home", &p), 0);
    ck_assert(project_prefs_selects(&p, 1));
    ck_assert(!p.allow_beta_work);
    ck_assert(!p.allow_non_preferred_apps);
    ck_assert_int_eq(p.max_jobs, 0);
    ck_assert_int_eq(p.max_cpus, 0);
    for (int type = 0; type < N_PROC_TYPES; type++)
        ck_assert(!p.excluded[type]);
    project_prefs_free(&p);
}
END_TEST

/* What a page of long ago wrote is read, but no reply can hold it. */
START_TEST(what_is_not_xml_is_read_and_told)
{
    struct project_prefs p;

    ck_assert_int_eq(
        project_prefs_parse("<project_preferences><a></project_preferences>"
                            "</scheduler_reply>",
                            "", &p),
        1);
    project_prefs_free(&p);
    ck_assert_int_eq(
        project_prefs_parse("<project_preferences><max_jobs>3</max_jobs>"
                            "<team>a & b</team></project_preferences>",
                            "", &p),
        1);
    ck_assert_int_eq(p.max_jobs, 3);
    project_prefs_free(&p);
}
END_TEST

START_TEST(unreadable_is_no_preference)
{
    struct project_prefs p;

    ck_assert_int_eq(project_prefs_parse("<html>oops", "", &p), -1);
    ck_assert_uint_eq(p.n_prefs, 0);
    ck_assert(project_prefs_selects(&p, 1));
    project_prefs_free(&p);
}
END_TEST

START_TEST(selected_apps)
{
    struct project_prefs p;

    read_prefs("<resource_share>100</resource_share>\n"
               "<project_specific>\n<app_id>3</app_id>\n<app_id>7</app_id>\n"
               "<allow_non_preferred_apps>1</allow_non_preferred_apps>\n"
               "</project_specific>\n<allow_beta_work>1</allow_beta_work>",
               "", &p);
    ck_assert(project_prefs_selects(&p, 3));
    ck_assert(project_prefs_selects(&p, 7));
    ck_assert(!project_prefs_selects(&p, 1));
    ck_assert(p.allow_non_preferred_apps);
    ck_assert(p.allow_beta_work);
    project_prefs_free(&p);
}
END_TEST

/* A venue's block is complete: what it does not say is the default. */
START_TEST(venue_replaces_the_main_part)
{
    static const char document[] =
        "<no_cpu>1</no_cpu>\n<project_specific>\n<app_id>3</app_id>\n"
        "<max_jobs>2</max_jobs>\n</project_specific>\n"
        "<venue name=\"work\">\n<project_specific>\n<app_id>7</app_id>\n"
        "</project_specific>\n</venue>";
    static const struct {
        const char *venue;
        int64_t app;
        int max_jobs;
        bool no_cpu;
    } spec[] = {
        {"",     3, 2, true },
        {"home", 3, 2, true }, /* has no block */
        {"work", 7, 0, false},
    };
    struct project_prefs p;

    for (size_t i = 0; i < ARRAY_LEN(spec); i++) {
        read_prefs(document, spec[i].venue, &p);
        ck_assert_uint_eq(p.n_app_ids, 1);
        ck_assert_int_eq(p.app_id[0], spec[i].app);
        ck_assert_int_eq(p.max_jobs, spec[i].max_jobs);
        ck_assert(p.excluded[PROC_CPU] == spec[i].no_cpu);
        project_prefs_free(&p);
    }
}
END_TEST

static const struct {
    const char *text;
    bool excluded[N_PROC_TYPES]; /* CPU, NVIDIA, AMD, Intel, Apple */
} exclusions[] = {
    {"<no_cpu>1</no_cpu>",             {true}                            },
    {"<no_cuda>1</no_cuda>",           {false, true}                     },
    {"<no_ati>1</no_ati>",             {false, false, true}              },
    {"<no_intel_gpu>1</no_intel_gpu>", {false, false, false, true}       },
    {"<no_apple_gpu>1</no_apple_gpu>", {false, false, false, false, true}},
    {"<no_gpus>1</no_gpus>",           {false, true, true, true, true}   },
    {"<no_gpus/>",                     {false, true, true, true, true}   },
    {"<no_gpus>0</no_gpus>",           {false}                           },
    {"<no_rsc>NVIDIA</no_rsc>",        {false, true}                     },
    {"<no_rsc>ATI</no_rsc>",           {false, false, true}              },
    {"<no_cuda>maybe</no_cuda>",       {false}                           },
};

START_TEST(excludes)
{
    struct project_prefs p;

    read_prefs(exclusions[_i].text, "", &p);
    for (int type = 0; type < N_PROC_TYPES; type++)
        ck_assert_msg(p.excluded[type] == exclusions[_i].excluded[type],
                      "%s: type %d", exclusions[_i].text, type);
    project_prefs_free(&p);
}
END_TEST

static const struct {
    const char *text;
    int limit; /* 0: none */
} limits[] = {
    {"0",                    0         },
    {"1",                    1         },
    {"-3",                   0         },
    {"1000000000",           1000000000},
    {"1e9",                  1000000000},
    {"1e300",                2147483647},
    {"99999999999999999999", 2147483647},
    {"nan",                  0         },
    {"inf",                  0         },
    {"0.5",                  0         },
    {"2.9",                  2         },
    {"",                     0         },
    {"ten",                  0         },
};

START_TEST(reads_limits)
{
    struct buf text = BUF_INIT;
    struct project_prefs p;

    buf_addf(&text, "<max_jobs>%s</max_jobs><max_cpus>%s</max_cpus>",
             limits[_i].text, limits[_i].text);
    read_prefs(buf_str(&text), "", &p);
    ck_assert_msg(p.max_jobs == limits[_i].limit, "\"%s\" is %d",
                  limits[_i].text, p.max_jobs);
    ck_assert_int_eq(p.max_cpus, limits[_i].limit);
    project_prefs_free(&p);
    buf_free(&text);
}
END_TEST

static const char *const bad_ids[] = {"0", "-1", "x", "1.5", "1e30", "nan"};

START_TEST(an_id_that_is_none_selects_nothing)
{
    struct buf text = BUF_INIT;
    struct project_prefs p;

    buf_addf(&text, "<app_id>%s</app_id>", bad_ids[_i]);
    read_prefs(buf_str(&text), "", &p);
    ck_assert_uint_eq(p.n_app_ids, 0);
    ck_assert(project_prefs_selects(&p, 1));
    project_prefs_free(&p);
    buf_free(&text);
}
END_TEST

/* Plan classes may ask for any element. */
START_TEST(keeps_every_element)
{
    struct project_prefs p;

    read_prefs("<project_specific><speed>fast &amp; loud</speed>"
               "<max_gfx_fps>20</max_gfx_fps></project_specific>"
               "<venue name=\"work\"><speed>slow</speed></venue>",
               "", &p);
    ck_assert_uint_eq(p.n_prefs, 2);
    ck_assert_str_eq(p.pref[0].tag, "speed");
    ck_assert_str_eq(p.pref[0].value, "fast & loud");
    ck_assert_str_eq(p.pref[1].tag, "max_gfx_fps");
    ck_assert_str_eq(p.pref[1].value, "20");
    project_prefs_free(&p);
}
END_TEST

START_TEST(is_bounded)
{
    struct buf text = BUF_INIT;
    struct project_prefs p;

    for (int i = 0; i < 5000; i++)
        buf_addf(&text, "<app_id>%d</app_id>", i + 1);
    read_prefs(buf_str(&text), "", &p);
    ck_assert_uint_eq(p.n_app_ids, 1000);
    ck_assert_uint_eq(p.n_prefs, 1000);
    project_prefs_free(&p);
    buf_free(&text);
}
END_TEST

/* What may go into a reply as it is. */
#define GLOBAL(text) "<global_preferences>" text "</global_preferences>\n"

static const struct {
    const char *text;
    bool xml, readable;
} documents[] = {
    {GLOBAL(""),                                           true,  true },
    {GLOBAL("<mod_time>1</mod_time><run_on_batteries/>"),  true,  true },
    {GLOBAL("<venue name=\"work\"><a>1</a></venue>"),      true,  true },
    {GLOBAL("<a>R&amp;D &lt;b&gt; \303\251</a>"),          true,  true },
    {GLOBAL("<a>R&D</a>"),                                 false, true },
    {GLOBAL("<a>&nbsp;</a>"),                              false, true },
    {GLOBAL("<a>1 < 2</a>"),                               false, true },
    {GLOBAL("<a>1"),                                       false, true },
    {GLOBAL("<a>\377\376</a>"),                            false, true },
    {GLOBAL("<!DOCTYPE x [<!ENTITY a \"b\">]><a>&a;</a>"), false, true },
    {"<!DOCTYPE x>" GLOBAL(""),                            false, true },
    {GLOBAL("") "<authenticator>x</authenticator>",        false, true },
    {"<project_preferences></project_preferences>",        false, false},
    {"no preferences",                                     false, false},
    {"",                                                   false, false},
};

START_TEST(what_may_be_passed_on_is_xml)
{
    struct global_prefs p;
    const char *text = documents[_i].text;

    ck_assert_int_eq(prefs_is_xml(text), documents[_i].xml);
    ck_assert_int_eq(prefs_parse(text, "", &p),
                     documents[_i].readable ? 0 : -1);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_loop_test(tc, what_may_be_passed_on_is_xml, 0,
                        ARRAY_LEN(documents));
    tcase_add_loop_test(tc, nothing_said_means_everything, 0, 3);
    tcase_add_test(tc, unreadable_is_no_preference);
    tcase_add_test(tc, what_is_not_xml_is_read_and_told);
    tcase_add_test(tc, selected_apps);
    tcase_add_test(tc, venue_replaces_the_main_part);
    tcase_add_loop_test(tc, excludes, 0, ARRAY_LEN(exclusions));
    tcase_add_loop_test(tc, reads_limits, 0, ARRAY_LEN(limits));
    tcase_add_loop_test(tc, an_id_that_is_none_selects_nothing, 0,
                        ARRAY_LEN(bad_ids));
    tcase_add_test(tc, keeps_every_element);
    tcase_add_test(tc, is_bounded);
}

int
main(void)
{
    return unit_main("prefs", fill);
}

/* test_request.c - whatever a request says, numbers stay in their ranges, text
 * is kept as itself, lists keep their order, and nothing does harm. */
#include "request_data.h"

#include "prefs.h"
#include "utf8.h"

/* ---- elements that are absent -------------------------------------------- */

START_TEST(absent_elements_have_their_meaning)
{
    struct sched_request *q = parse("");

    ck_assert_str_eq(q->authenticator, "");
    ck_assert_int_eq(q->hostid, 0);
    ck_assert_int_eq(q->client_version, 0);
    ck_assert_double_eq(q->resource_share_fraction, 1);
    ck_assert_double_eq(q->rrs_fraction, 1);
    ck_assert_double_eq(q->prrs_fraction, 1);
    ck_assert_double_eq(q->host.duration_correction_factor, 0);
    ck_assert_int_eq(q->allow_multiple_clients, -1);
    ck_assert_int_eq(q->sandbox, -1);
    ck_assert(!q->has_cpu_req);
    ck_assert(!q->client_cap_plan_class);
    ck_assert(!q->has_other_results);
    ck_assert(!q->has_working_prefs);
    ck_assert_ptr_null(q->global_prefs_xml);
    ck_assert_int_eq(q->host.p_ncpus, 1);
    ck_assert(!request_wants_work(q));
    request_free(q);
}
END_TEST

/* ---- work requests ------------------------------------------------------- */

static const struct {
    const char *promise, *given;
    bool want;
} wants_work[] = {
    {"seconds of old clients", "<work_req_seconds>1</work_req_seconds>",   true },
    {"seconds of the CPU",     "<cpu_req_secs>1</cpu_req_secs>",           true },
    {"no seconds",             "<cpu_req_secs>0</cpu_req_secs>",           false},
    {"seconds of a GPU",
     "<coprocs><coproc_cuda><count>1</count><req_secs>5</req_secs>"
     "</coproc_cuda></coprocs>",                                           true },
    {"no seconds of a GPU",
     "<coprocs><coproc_ati><req_secs>0</req_secs></coproc_ati></coprocs>", false},
    {"no new tasks",
     "<cpu_req_secs>9</cpu_req_secs><dont_send_work>1</dont_send_work>",   false},
};

START_TEST(knows_who_wants_work)
{
    struct sched_request *q = parse(wants_work[_i].given);

    ck_assert_msg(request_wants_work(q) == wants_work[_i].want, "broken: %s",
                  wants_work[_i].promise);
    request_free(q);
}
END_TEST

/* ---- numbers that are none, or too large ----------------------------------
 */

#define FIELD(member) offsetof(struct sched_request, member)

/* Each double that reaches a column or a decision. */
static const struct {
    const char *before, *element, *after;
    size_t offset;
    double least, most;
} doubles[] = {
    {"",             "work_req_seconds",           "",              FIELD(work_req_seconds),        0,  2419200},
    {"",             "cpu_req_secs",               "",              FIELD(cpu_req_secs),            0,  1e30   },
    {"",             "cpu_req_instances",          "",              FIELD(cpu_req_instances),       0,  1e30   },
    {"",             "estimated_delay",            "",              FIELD(estimated_delay),         0,  1e30   },
    {"",             "duration_correction_factor", "",
     FIELD(host.duration_correction_factor),                                                        0,  1e30   },
    {"",             "resource_share_fraction",    "",              FIELD(resource_share_fraction), 0,  1      },
    {"<time_stats>", "on_frac",                    "</time_stats>", FIELD(host.on_frac),            0,  1      },
    {"<time_stats>", "connected_frac",             "</time_stats>",
     FIELD(host.connected_frac),                                                                    -1, 1      },
    {"<time_stats>", "active_frac",                "</time_stats>", FIELD(host.active_frac),        0,
     1                                                                                                         },
    {"<time_stats>", "gpu_active_frac",            "</time_stats>",
     FIELD(host.gpu_active_frac),                                                                   0,  1      },
    {"<net_stats>",  "bwup",                       "</net_stats>",  FIELD(host.n_bwup),             0,  1e30   },
    {"<net_stats>",  "bwdown",                     "</net_stats>",  FIELD(host.n_bwdown),           0,  1e30   },
    {"<host_info>",  "p_fpops",                    "</host_info>",  FIELD(host.p_fpops),            0,  1e30   },
    {"<host_info>",  "p_iops",                     "</host_info>",  FIELD(host.p_iops),             0,  1e30   },
    {"<host_info>",  "p_membw",                    "</host_info>",  FIELD(host.p_membw),            0,  1e30   },
    {"<host_info>",  "m_nbytes",                   "</host_info>",  FIELD(host.m_nbytes),           0,  1e30   },
    {"<host_info>",  "m_cache",                    "</host_info>",  FIELD(host.m_cache),            0,  1e30   },
    {"<host_info>",  "m_swap",                     "</host_info>",  FIELD(host.m_swap),             0,  1e30   },
    {"<host_info>",  "d_total",                    "</host_info>",  FIELD(host.d_total),            0,  1e30   },
    {"<host_info>",  "d_free",                     "</host_info>",  FIELD(host.d_free),             0,  1e30   },
    {"<disk_usage>", "d_boinc_used_total",         "</disk_usage>",
     FIELD(host.d_boinc_used_total),                                                                0,  1e30   },
    {"<disk_usage>", "d_boinc_used_project",       "</disk_usage>",
     FIELD(host.d_boinc_used_project),                                                              0,  1e30   },
    {"<disk_usage>", "d_project_share",            "</disk_usage>",
     FIELD(host.d_boinc_max),                                                                       0,  1e30   },
};

static double
double_of(int row, const char *value)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;
    double ret;

    buf_addf(&text, "%s<%s>%s</%s>%s", doubles[row].before,
             doubles[row].element, value, doubles[row].element,
             doubles[row].after);
    q = parse(buf_str(&text));
    memcpy(&ret, (const char *)q + doubles[row].offset, sizeof ret);
    request_free(q);
    buf_free(&text);
    return ret;
}

START_TEST(what_is_no_number_is_0)
{
    static const char *const none[] = {
        "nan",   "-nan(ind)",   "inf", "-inf", "infinity", "1.#QNAN", "1,5",
        "1e999", "-1e999",      "",    "x",    "1 2",      "0x",      "--1",
        "1e",    "' OR 1=1 --",
    };

    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        ck_assert_msg(double_of(_i, none[i]) == 0, "%s of %s",
                      doubles[_i].element, none[i]);
}
END_TEST

START_TEST(numbers_stay_in_their_range)
{
    ck_assert_double_eq(double_of(_i, "-1e308"), doubles[_i].least);
    ck_assert_double_eq(double_of(_i, "-1"), doubles[_i].least);
    ck_assert_double_le(double_of(_i, "1e308"), doubles[_i].most);
    ck_assert_double_gt(double_of(_i, "1e308"), 0);
    ck_assert_double_eq(double_of(_i, " 0.5 "), 0.5);
}
END_TEST

static const struct {
    const char *value;
    int64_t hostid;
    int ncpus, timezone;
} ints[] = {
    {"17",         17,         17,    17    },
    {"17.000000",  17,         17,    17    },
    {"-5",         0,          1,     -5    },
    {"1.5",        0,          1,     0     },
    {"nan",        0,          1,     0     },
    {"2147483647", 2147483647, 65536, 86400 },
    {"2147483648", 2147483647, 65536, 86400 },
    {"1e308",      2147483647, 65536, 86400 },
    {"-1e308",     0,          1,     -86400},
    {"9 or 1",     0,          1,     0     },
};

START_TEST(ints_stay_in_their_range)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;
    const char *v = ints[_i].value;

    buf_addf(&text,
             "<hostid>%s</hostid><rpc_seqno>%s</rpc_seqno><host_info>"
             "<p_ncpus>%s</p_ncpus><timezone>%s</timezone></host_info>",
             v, v, v, v);
    q = parse(buf_str(&text));
    ck_assert_int_eq(q->hostid, ints[_i].hostid);
    ck_assert_int_eq(q->rpc_seqno, ints[_i].hostid);
    ck_assert_int_eq(q->host.p_ncpus, ints[_i].ncpus);
    ck_assert_int_eq(q->host.timezone, ints[_i].timezone);
    request_free(q);
    buf_free(&text);
}
END_TEST

/* ---- exit status ----------------------------------------------------------
 */

static const struct {
    const char *promise, *given;
    bool has;
    int value;
} statuses[] = {
    {"0 is a status",         "<exit_status>0</exit_status>",           true,  0         },
    {"so is a negative one",  "<exit_status>-186</exit_status>",        true,  -186      },
    {"and one of Windows",    "<exit_status>-1073741819</exit_status>", true,
     -1073741819                                                                         },
    {"too large is cut",      "<exit_status>1e300</exit_status>",       true,  2147483647},
    {"absent is none",        "",                                       false, 0         },
    {"empty is none",         "<exit_status></exit_status>",            false, 0         },
    {"nan is none",           "<exit_status>nan</exit_status>",         false, 0         },
    {"half a number is none", "<exit_status>0x</exit_status>",          false, 0         },
    {"a fraction is none",    "<exit_status>0.5</exit_status>",         false, 0         },
    {"the last one counts",
     "<exit_status>0</exit_status><exit_status>x</exit_status>",        false, 0         },
};

START_TEST(knows_if_there_is_an_exit_status)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text, "<result><name>a</name>%s<state>5</state></result>",
             statuses[_i].given);
    q = parse(buf_str(&text));
    ck_assert_uint_eq(q->n_results, 1);
    ck_assert_msg(q->result[0].has_exit_status == statuses[_i].has &&
                      q->result[0].exit_status == statuses[_i].value,
                  "broken: %s", statuses[_i].promise);
    request_free(q);
    buf_free(&text);
}
END_TEST

/* ---- texts ----------------------------------------------------------------
 */

static const struct {
    const char *promise, *given, *want;
} texts[] = {
    {"quotes and SQL are themselves",   "'; DROP TABLE host; --\"",
     "'; DROP TABLE host; --\""                                                    },
    {"markup is text",                  "a & b < c > d",            "a & b < c > d"},
    {"references are bytes",            "caf&#195;&#169;",          "caf\xc3\xa9"  },
    {"Latin-1 becomes UTF-8",           "caf\xe9",                  "caf\xc3\xa9"  },
    {"blanks around are no part of it", " \n x y \n",               "x y"          },
};

START_TEST(text_is_kept_as_itself)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text,
             "<host_info><domain_name>%s</domain_name></host_info>"
             "<client_brand>%s</client_brand>",
             texts[_i].given, texts[_i].given);
    q = parse(buf_str(&text));
    ck_assert_msg(strcmp(q->host.domain_name, texts[_i].want) == 0,
                  "broken: %s: %s", texts[_i].promise, q->host.domain_name);
    ck_assert_str_eq(q->client_brand, texts[_i].want);
    request_free(q);
    buf_free(&text);
}
END_TEST

START_TEST(the_key_ends_at_a_quote)
{
    struct sched_request *q =
        parse("<authenticator>0123' OR '1</authenticator>");

    ck_assert_str_eq(q->authenticator, "0123");
    request_free(q);
}
END_TEST

/* 200 times two bytes: cut at 254 bytes, a varchar(254). */
START_TEST(wishes_and_work_of_the_client_are_read)
{
    struct sched_request *q = parse(
        "<user_keywords><yes>3</yes><no>7</no><maybe>8</maybe><yes>x</yes>"
        "</user_keywords>"
        "<in_progress_results>"
        "<ip_result><name>a</name><report_deadline>1700003600</report_deadline>"
        "<time_remaining>120</time_remaining></ip_result>"
        "<ip_result><name>old</name><report_deadline>1700007200"
        "</report_deadline><cpu_time_remaining>60</cpu_time_remaining>"
        "</ip_result>"
        "<ip_result><name>gpu</name><report_deadline>1700007200"
        "</report_deadline><time_remaining>60</time_remaining>"
        "<ncudas>1</ncudas></ip_result></in_progress_results>");

    ck_assert_uint_eq(q->n_keywords, 2);
    ck_assert_int_eq(q->keyword[0].id, 3);
    ck_assert(q->keyword[0].liked);
    ck_assert_int_eq(q->keyword[1].id, 7);
    ck_assert(!q->keyword[1].liked);
    ck_assert(q->has_queue);
    ck_assert_uint_eq(q->n_queue, 2); /* that on a GPU is left out */
    ck_assert_double_eq(q->queue[0].report_deadline, 1700003600);
    ck_assert_double_eq(q->queue[0].time_remaining, 120);
    ck_assert_double_eq(q->queue[1].time_remaining, 60);
    request_free(q);
}
END_TEST

START_TEST(long_text_is_cut_between_characters)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_add(&text, "<host_info><p_model>x");
    for (int i = 0; i < 200; i++)
        buf_add(&text, "\xc3\xa9");
    buf_add(&text, "</p_model></host_info>");
    q = parse(buf_str(&text));
    ck_assert_uint_eq(strlen(q->host.p_model), 253);
    ck_assert(utf8_valid(q->host.p_model, 253));
    request_free(q);
    buf_free(&text);
}
END_TEST

/* 63 KiB of stderr, each byte sent as "&#233;": é has two bytes in UTF-8, and
 * 65535 is odd, so the last one has no room. */
START_TEST(long_stderr_is_cut_between_characters)
{
    static const char head[] = "<![CDATA[\n<stderr_txt>\nx";
    struct buf text = BUF_INIT;
    struct sched_request *q;
    const char *out;

    buf_addf(&text, "<result><name>a</name><stderr_out>\n%s", head);
    for (int i = 0; i < 63 * 1024; i++)
        buf_add(&text, "&#233;");
    buf_add(&text, "\n</stderr_txt>\n]]>\n</stderr_out>\n</result>");
    q = parse(buf_str(&text));
    out = q->result[0].stderr_out;
    ck_assert_uint_eq(strlen(out), 65534);
    ck_assert(utf8_valid(out, 65534));
    ck_assert_int_eq(strncmp(out, head, strlen(head)), 0);
    request_free(q);
    buf_free(&text);
}
END_TEST

/* Only what the client makes of high bytes is decoded. */
START_TEST(stderr_keeps_what_the_application_wrote)
{
    struct sched_request *q =
        parse("<result><name>a</name><stderr_out><![CDATA[&lt; &#60; &#1234; "
              "&#255; &amp;]]></stderr_out></result>");

    ck_assert_str_eq(q->result[0].stderr_out,
                     "<![CDATA[&lt; &#60; &#1234; \xc3\xbf &amp;]]>");
    request_free(q);
}
END_TEST

/* ---- lists ----------------------------------------------------------------
 */

START_TEST(last_scalar_wins_first_report_wins)
{
    struct sched_request *q =
        parse("<hostid>1</hostid><hostid>2</hostid>"
              "<result><name>b</name><state>5</state></result>"
              "<result><name>a</name><state>1</state></result>"
              "<result><name>b</name><state>3</state></result>"
              "<result><name>a</name><state>6</state></result>"
              "<result><state>5</state></result>"
              "<alt_platform><name>p</name></alt_platform>"
              "<alt_platform><name>q</name></alt_platform>");

    ck_assert_int_eq(q->hostid, 2);
    ck_assert_uint_eq(q->n_results, 2);
    ck_assert_uint_eq(q->n_results_seen, 4);
    ck_assert_str_eq(q->result[0].name, "b");
    ck_assert_int_eq(q->result[0].state, 5);
    ck_assert_str_eq(q->result[1].name, "a");
    ck_assert_int_eq(q->result[1].state, 1);
    ck_assert_uint_eq(q->n_alt_platforms, 2);
    ck_assert_str_eq(q->alt_platform[1], "q");
    request_free(q);
}
END_TEST

START_TEST(unknown_elements_are_skipped_with_their_content)
{
    struct sched_request *q =
        parse("<project><hostid>9</hostid><result><name>a</name></result>"
              "</project><hostid>3</hostid>"
              "<in_progress_results><ip_result><name>x</name></ip_result>"
              "</in_progress_results>"
              "<result><name>b</name><x><name>c</name></x></result>");

    ck_assert_int_eq(q->hostid, 3);
    ck_assert_uint_eq(q->n_results, 1);
    ck_assert_str_eq(q->result[0].name, "b");
    request_free(q);
}
END_TEST

/* A version without a name keeps the place of those behind it. */
START_TEST(version_index_is_the_position)
{
    struct sched_request *q = parse(
        "<app_versions><app_version></app_version><app_version><app_name>a"
        "</app_name><plan_class>mt</plan_class><flops>-1</flops></app_version>"
        "</app_versions><other_results><other_result><name>r</name>"
        "<app_version>1</app_version></other_result><other_result><name>s"
        "</name></other_result></other_results>");

    ck_assert_uint_eq(q->n_app_versions, 2);
    ck_assert_str_eq(q->app_version[1].app_name, "a");
    ck_assert_str_eq(q->app_version[1].plan_class, "mt");
    ck_assert_double_eq(q->app_version[1].flops, 0);
    ck_assert_int_eq(q->other_result[0].app_version, 1);
    ck_assert_int_eq(q->other_result[1].app_version, -1);
    request_free(q);
}
END_TEST

START_TEST(three_thousand_results_are_read)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    for (int i = 0; i < 3000; i++)
        buf_addf(&text,
                 "<result>\n<name>wu_%d_0</name>\n<exit_status>0"
                 "</exit_status>\n<state>5</state>\n<stderr_out>\n<![CDATA[\n"
                 "x\n]]>\n</stderr_out>\n</result>\n",
                 i);
    q = parse(buf_str(&text));
    ck_assert_uint_eq(q->n_results, 3000);
    ck_assert_str_eq(q->result[2999].name, "wu_2999_0");
    ck_assert_str_eq(q->result[2999].stderr_out, "<![CDATA[\nx\n]]>\n");
    request_free(q);
    buf_free(&text);
}
END_TEST

/* As many outputs as fit, none of them in part. */
START_TEST(outputs_are_kept_whole)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;
    const char *out;
    size_t len;

    buf_add(&text, "<result><name>a</name>");
    for (int i = 0; i < 4000; i++)
        buf_addf(&text, "<file_info><name>out_%d</name></file_info>", i);
    buf_add(&text, "</result>");
    q = parse(buf_str(&text));
    out = q->result[0].xml_doc_out;
    len = strlen(out);
    ck_assert_uint_le(len, 65535);
    ck_assert_uint_gt(len, 65000);
    ck_assert_str_eq(out + len - strlen("</file_info>\n"), "</file_info>\n");
    request_free(q);
    buf_free(&text);
}
END_TEST

/* ---- trickles --------------------------------------------------------------
 */

static const struct {
    const char *promise, *given, *variety, *xml;
} trickles[] = {
    {"lines, without that of the variety",
     "\n<result_name>r</result_name>\n<variety>v</variety>\n<text>\nx\n</text>"
     "\n",                                                        "v", "<result_name>r</result_name>\n<text>\nx\n</text>\n"},
    {"a second variety is text",
     "\n<variety>v</variety>\n<variety>w</variety>\n",            "v",
     "<variety>w</variety>\n"                                                                                              },
    {"a variety without end tag",          "\n<variety> v \nx\n", "v", "x\n"                                               },
    {"no variety",                         "\nx",                 "",  "x"                                                 },
    {"nothing",                            "",                    "",  ""                                                  },
    {"markup of any kind",                 "\n<a><b>&</c>\n  ",   "",  "<a><b>&</c>\n"                                     },
};

START_TEST(trickles_are_read_by_lines)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text, "<msg_from_host>%s</msg_from_host>", trickles[_i].given);
    q = parse(buf_str(&text));
    ck_assert_uint_eq(q->n_trickles, 1);
    ck_assert_msg(strcmp(q->trickle[0].variety, trickles[_i].variety) == 0 &&
                      strcmp(q->trickle[0].xml, trickles[_i].xml) == 0,
                  "broken: %s: %s, %s", trickles[_i].promise,
                  q->trickle[0].variety, q->trickle[0].xml);
    request_free(q);
    buf_free(&text);
}
END_TEST

/* ---- preferences -----------------------------------------------------------
 */

#define PREFS(text) "<global_preferences>" text "</global_preferences>"

START_TEST(the_availability_log_is_kept_as_text)
{
    struct sched_request *q =
        parse("<time_stats_log>\n1700000000.5 power_on\n"
              "1700000001 <b>&amp;\xff\n</time_stats_log>");

    ck_assert_str_eq(q->time_stats_log, "\n1700000000.5 power_on\n"
                                        "1700000001 <b>&amp;\xc3\xbf\n");
    request_free(q);
    q = parse("");
    ck_assert_ptr_null(q->time_stats_log);
    request_free(q);
}
END_TEST

START_TEST(preferences_have_defaults)
{
    struct global_prefs p;

    ck_assert_int_eq(prefs_parse(PREFS(""), "", &p), 0);
    ck_assert_double_eq(p.mod_time, 0);
    ck_assert_double_eq(p.disk_max_used_gb, 0);
    ck_assert_double_eq(p.disk_max_used_pct, 90);
    ck_assert_double_eq(p.disk_min_free_gb, 0.1);
    ck_assert_double_eq(p.work_buf_min_days, 0.1);
    ck_assert_double_eq(p.ram_max_used_busy_pct, 50);
    ck_assert_double_eq(p.ram_max_used_idle_pct, 90);
    ck_assert_double_eq(p.max_ncpus_pct, 100);
    ck_assert_int_eq(prefs_parse(NULL, "", &p), -1);
    ck_assert_int_eq(prefs_parse("<global_preferences>", "", &p), -1);
    ck_assert_double_eq(p.disk_max_used_pct, 90);
}
END_TEST

START_TEST(a_venue_replaces_the_main_part)
{
    static const char document[] =
        PREFS("<mod_time>5</mod_time><max_ncpus_pct>40</max_ncpus_pct>"
              "<disk_max_used_gb>7</disk_max_used_gb><venue name=\"home\">"
              "<max_ncpus_pct>0</max_ncpus_pct></venue>");
    struct global_prefs p;

    ck_assert_int_eq(prefs_parse(document, "home", &p), 0);
    ck_assert_double_eq(p.mod_time, 5);
    ck_assert_double_eq(p.max_ncpus_pct, 100); /* 0 means no limit */
    ck_assert_double_eq(p.disk_max_used_gb, 0);
    ck_assert_int_eq(prefs_parse(document, "work", &p), 0);
    ck_assert_double_eq(p.max_ncpus_pct, 40);
    ck_assert_double_eq(p.disk_max_used_gb, 7);
    ck_assert_int_eq(prefs_parse(document, "", &p), 0);
    ck_assert_double_eq(p.max_ncpus_pct, 40);
}
END_TEST

START_TEST(preferences_stay_in_range)
{
    struct global_prefs p;

    ck_assert_int_eq(prefs_parse(PREFS("<disk_max_used_pct>1e9"
                                       "</disk_max_used_pct><mod_time>-3"
                                       "</mod_time><disk_min_free_gb>nan"
                                       "</disk_min_free_gb>"),
                                 "", &p),
                     0);
    ck_assert_double_eq(p.disk_max_used_pct, 100);
    ck_assert_double_eq(p.mod_time, 0);
    ck_assert_double_eq(p.disk_min_free_gb, 0);
}
END_TEST

/* ---- what is no request -----------------------------------------------------
 */

static const struct {
    const char *given, *why;
} refusals[] = {
    {"",                                                            "no <scheduler_request> tag" },
    {"GET / HTTP/1.1",                                              "no <scheduler_request> tag" },
    {"<scheduler_request><hostid>1</hostid>",                       "no </scheduler_request> tag"},
    {"<scheduler_request><global_preferences></scheduler_request>",
     "no </global_preferences> tag"                                                              },
};

START_TEST(says_why_it_cannot_be_read)
{
    struct buf err = BUF_INIT;
    struct sched_request *q = NULL;

    ck_assert_int_eq(
        request_parse(refusals[_i].given, strlen(refusals[_i].given), &q, &err),
        -1);
    ck_assert_msg(strstr(buf_str(&err), refusals[_i].why) != NULL, "%s",
                  buf_str(&err));
    buf_free(&err);
}
END_TEST

START_TEST(refuses_what_is_too_long)
{
    static const char head[] = "<scheduler_request>";
    struct buf err = BUF_INIT;
    char *bytes = xcalloc(REQUEST_MAX_BYTES + 1, 1);
    struct sched_request *q = NULL;

    memcpy(bytes, head, strlen(head));
    ck_assert_int_eq(request_parse(bytes, REQUEST_MAX_BYTES + 1, &q, &err), -1);
    ck_assert_ptr_nonnull(strstr(buf_str(&err), "too long"));
    free(bytes);
    buf_free(&err);
}
END_TEST

/* Either a struct or a reason, whatever the bytes. */
static void
try_bytes(const char *bytes, size_t n)
{
    struct buf err = BUF_INIT;
    struct sched_request *q = NULL;

    if (request_parse(bytes, n, &q, &err) == 0)
        request_free(q);
    else
        ck_assert_uint_gt(err.len, 0);
    buf_free(&err);
}

START_TEST(damage_does_no_harm)
{
    static const char bad[] = "<>/&\0\"]![ \n\xff;#1";
    unsigned state = 0xbad5eed;
    struct buf whole = data_file(captured_requests[_i]), part = BUF_INIT;

    for (size_t n = 0; n < whole.len; n += 64) { /* cut, its root closed */
        buf_reset(&part);
        buf_addn(&part, whole.data, n);
        buf_add(&part, "</scheduler_request>");
        try_bytes(buf_str(&part), part.len);
    }
    for (int round = 0; round < 100; round++) {
        buf_reset(&part);
        buf_addn(&part, whole.data, whole.len);
        for (int i = 0; i < 30; i++) {
            size_t at = (size_t)noise(&state) << 8 | noise(&state);

            part.data[at % part.len] = bad[noise(&state) % (sizeof bad - 1)];
        }
        try_bytes(buf_str(&part), part.len);
    }
    buf_free(&part);
    buf_free(&whole);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_set_timeout(tc, 120); /* under valgrind */
    tcase_add_test(tc, absent_elements_have_their_meaning);
    tcase_add_loop_test(tc, knows_who_wants_work, 0, ARRAY_LEN(wants_work));
    tcase_add_loop_test(tc, what_is_no_number_is_0, 0, ARRAY_LEN(doubles));
    tcase_add_loop_test(tc, numbers_stay_in_their_range, 0, ARRAY_LEN(doubles));
    tcase_add_loop_test(tc, ints_stay_in_their_range, 0, ARRAY_LEN(ints));
    tcase_add_loop_test(tc, knows_if_there_is_an_exit_status, 0,
                        ARRAY_LEN(statuses));
    tcase_add_loop_test(tc, text_is_kept_as_itself, 0, ARRAY_LEN(texts));
    tcase_add_test(tc, the_key_ends_at_a_quote);
    tcase_add_test(tc, wishes_and_work_of_the_client_are_read);
    tcase_add_test(tc, long_text_is_cut_between_characters);
    tcase_add_test(tc, long_stderr_is_cut_between_characters);
    tcase_add_test(tc, stderr_keeps_what_the_application_wrote);
    tcase_add_test(tc, last_scalar_wins_first_report_wins);
    tcase_add_test(tc, unknown_elements_are_skipped_with_their_content);
    tcase_add_test(tc, version_index_is_the_position);
    tcase_add_test(tc, three_thousand_results_are_read);
    tcase_add_test(tc, outputs_are_kept_whole);
    tcase_add_loop_test(tc, trickles_are_read_by_lines, 0, ARRAY_LEN(trickles));
    tcase_add_test(tc, the_availability_log_is_kept_as_text);
    tcase_add_test(tc, preferences_have_defaults);
    tcase_add_test(tc, a_venue_replaces_the_main_part);
    tcase_add_test(tc, preferences_stay_in_range);
    tcase_add_loop_test(tc, says_why_it_cannot_be_read, 0, ARRAY_LEN(refusals));
    tcase_add_test(tc, refuses_what_is_too_long);
    tcase_add_loop_test(tc, damage_does_no_harm, 0,
                        ARRAY_LEN(captured_requests));
}

int
main(void)
{
    return unit_main("request", fill);
}

/* test_facts.c - what is kept of a request describes the computer as the
 * request did, does not change from one to the next, and betrays nobody. */
#include "request_data.h"

#define CLIENT                                                                 \
    "<core_client_major_version>7</core_client_major_version>\n"               \
    "<core_client_minor_version>20</core_client_minor_version>\n"              \
    "<core_client_release>5</core_client_release>\n"

/* Everything kept, and in each part something that is not. */
static const char whole[] =
    "<authenticator>5eb63bbbe01eeed093cb22bb8f5acdc3</authenticator>\n"
    "<hostid>17</hostid><rpc_seqno>%d</rpc_seqno>\n" CLIENT
    "<client_brand>HTC</client_brand>\n"
    "<client_cap_plan_class>1</client_cap_plan_class>\n"
    "<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
    "<alt_platform><name>i686-pc-linux-gnu</name></alt_platform>\n"
    "<code_sign_key>1024 d8adf1</code_sign_key>\n"
    "<cpu_req_secs>%d</cpu_req_secs>\n"
    "<working_global_preferences>\n<global_preferences>\n"
    "<mod_time>%d</mod_time>\n<ram_max_used_busy_pct>33</ram_max_used_busy_pct>"
    "\n</global_preferences>\n</working_global_preferences>\n"
    "<time_stats><on_frac>0.%d</on_frac></time_stats>\n"
    "<host_info><domain_name>alices-laptop</domain_name>"
    "<ip_addr>192.0.2.10</ip_addr><host_cpid>00112233</host_cpid>"
    "<d_free>%d</d_free><p_features>fpu avx2</p_features>"
    "<virtualbox_version>7.0.8</virtualbox_version></host_info>\n"
    "<coprocs><coproc_cuda><count>2</count><name>A &amp; B</name>"
    "<req_secs>%d</req_secs><available_ram>%d</available_ram>"
    "<totalGlobalMem>8e9</totalGlobalMem></coproc_cuda></coprocs>\n"
    "<app_versions><app_version><app_name>demo</app_name></app_version>"
    "</app_versions>\n"
    "<other_results><other_result><name>wu_%d_0</name></other_result>"
    "</other_results>\n";

static struct sched_request *
parse_whole(int n)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    buf_addf(&text, whole, n, n, n, n, n, n, n, n);
#pragma GCC diagnostic pop
    q = parse(buf_str(&text));
    buf_free(&text);
    return q;
}

START_TEST(facts_are_what_no_column_holds)
{
    struct sched_request *q = parse_whole(5);

    ck_assert_str_eq(
        q->facts, CLIENT
        "<client_brand>HTC</client_brand>\n"
        "<client_cap_plan_class>1</client_cap_plan_class>\n"
        "<platform_name>x86_64-pc-linux-gnu</platform_name>\n"
        "<alt_platform>\n<name>i686-pc-linux-gnu</name>\n</alt_platform>\n"
        "<host_info>\n<p_features>fpu avx2</p_features>\n"
        "<virtualbox_version>7.0.8</virtualbox_version>\n</host_info>\n"
        "<coprocs>\n<coproc_cuda>\n<count>2</count>\n<name>A &amp; B</name>\n"
        "<totalGlobalMem>8e9</totalGlobalMem>\n</coproc_cuda>\n</coprocs>\n"
        "<working_global_preferences>\n<global_preferences>\n"
        "<disk_max_used_gb>0.000000</disk_max_used_gb>\n"
        "<disk_max_used_pct>90.000000</disk_max_used_pct>\n"
        "<disk_min_free_gb>0.100000</disk_min_free_gb>\n"
        "<work_buf_min_days>0.100000</work_buf_min_days>\n"
        "<ram_max_used_busy_pct>33.000000</ram_max_used_busy_pct>\n"
        "<ram_max_used_idle_pct>90.000000</ram_max_used_idle_pct>\n"
        "<max_ncpus_pct>100.000000</max_ncpus_pct>\n"
        "</global_preferences>\n</working_global_preferences>\n");
    request_free(q);
}
END_TEST

START_TEST(the_next_request_has_the_same)
{
    struct sched_request *a = parse_whole(5), *b = parse_whole(6);

    ck_assert_str_eq(a->facts, b->facts);
    ck_assert(a->facts_hash == b->facts_hash);
    ck_assert(a->facts_hash != 0);
    request_free(a);
    request_free(b);
}
END_TEST

START_TEST(another_client_has_others)
{
    struct sched_request *a = parse("<platform_name>a</platform_name>"),
                         *b = parse("<platform_name>b</platform_name>"),
                         *none = parse("");

    ck_assert(a->facts_hash != b->facts_hash);
    ck_assert_str_eq(none->facts, "");
    ck_assert(none->facts_hash != 0);
    request_free(a);
    request_free(b);
    request_free(none);
}
END_TEST

START_TEST(own_versions_are_kept_for_an_anonymous_platform)
{
    static const char versions[] =
        "<app_versions>\n<app_version>\n<app_name>demo</app_name>\n"
        "<flops>1e9</flops>\n</app_version>\n</app_versions>\n";
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text, "<platform_name>anonymous</platform_name>\n%s", versions);
    q = parse(buf_str(&text));
    ck_assert_str_eq(q->facts, buf_str(&text));
    request_free(q);
    buf_free(&text);
}
END_TEST

START_TEST(too_much_is_nothing)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_add(&text, "<coprocs>");
    for (int i = 0; i < 4000; i++)
        buf_add(&text, "<coproc_cuda><count>1</count></coproc_cuda>");
    buf_add(&text, "</coprocs>");
    q = parse(buf_str(&text));
    ck_assert_str_eq(q->facts, "");
    request_free(q);
    buf_free(&text);
}
END_TEST

/* ---- real clients -------------------------------------------------------- */

static struct sched_request *
parse_captured(int i)
{
    struct buf bytes = data_file(captured_requests[i]);
    struct sched_request *q = parse_bytes(buf_str(&bytes), bytes.len);

    buf_free(&bytes);
    return q;
}

START_TEST(facts_read_again_are_the_same_computer)
{
    struct sched_request *q = parse_captured(_i);
    struct sched_request *again = parse(q->facts);

    ck_assert_str_eq(again->facts, q->facts);
    ck_assert_int_eq(again->client_version, q->client_version);
    ck_assert_str_eq(again->platform_name, q->platform_name);
    ck_assert_uint_eq(again->n_alt_platforms, q->n_alt_platforms);
    ck_assert_int_eq(again->client_cap_plan_class, q->client_cap_plan_class);
    /* words of the model, which has a column, stand behind */
    ck_assert_uint_gt(strlen(again->ability.features), 100);
    ck_assert_int_eq(strncmp(again->ability.features, q->ability.features,
                             strlen(again->ability.features)),
                     0);
    ck_assert_str_eq(again->ability.virtualbox_version,
                     q->ability.virtualbox_version);
    ck_assert_double_eq(again->working_prefs.max_ncpus_pct,
                        q->working_prefs.max_ncpus_pct);
    ck_assert_double_eq(again->working_prefs.ram_max_used_idle_pct,
                        q->working_prefs.ram_max_used_idle_pct);
    request_free(again);
    request_free(q);
}
END_TEST

START_TEST(facts_of_real_clients_betray_nobody)
{
    struct sched_request *q = parse_captured(_i);

    ck_assert_ptr_null(strstr(q->facts, q->authenticator));
    ck_assert_ptr_null(strstr(q->facts, q->host.domain_name));
    ck_assert_ptr_null(strstr(q->facts, q->host.last_ip_addr));
    ck_assert_ptr_null(strstr(q->facts, q->host.host_cpid));
    ck_assert_ptr_null(strstr(q->facts, "_key"));
    request_free(q);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("facts");
    TCase *tc = tcase_create("facts");
    SRunner *runner;
    int failed;

    tcase_add_test(tc, facts_are_what_no_column_holds);
    tcase_add_test(tc, the_next_request_has_the_same);
    tcase_add_test(tc, another_client_has_others);
    tcase_add_test(tc, own_versions_are_kept_for_an_anonymous_platform);
    tcase_add_test(tc, too_much_is_nothing);
    tcase_add_loop_test(tc, facts_read_again_are_the_same_computer, 0,
                        (int)ARRAY_LEN(captured_requests));
    tcase_add_loop_test(tc, facts_of_real_clients_betray_nobody, 0,
                        (int)ARRAY_LEN(captured_requests));
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

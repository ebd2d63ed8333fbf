/* test_reply.c - replies are what clients of all ages can read: the golden
 * files were written by hand from the protocol. */
#include "proto_data.h"

#include <stdint.h>

#include "reply.h"
#include "workunit.h"
#include "xml.h"

static char global_prefs[] = "<global_preferences>\n"
                             "<mod_time>1700000000</mod_time>\n"
                             "</global_preferences>";
static char project_prefs[] = "<project_preferences>\n"
                              "<resource_share>100</resource_share>\n"
                              "<project_specific>\n"
                              "<max_cpus>0</max_cpus>\n"
                              "</project_specific>\n"
                              "</project_preferences>\n";
static char prefs_of_two_cpus[] = "<project_preferences>\n"
                                  "<resource_share>100</resource_share>\n"
                                  "<project_specific>\n"
                                  "<max_cpus>2</max_cpus>\n"
                                  "</project_specific>\n"
                                  "</project_preferences>\n";
static const char gui_urls[] =
    "<gui_urls>\n<gui_url>\n<name>Your account</name>\n"
    "<description>View your account information</description>\n"
    "<url>https://project.example/ex/home.php</url>\n</gui_url>\n</gui_urls>\n";

static const struct user alice = {
    .id = 7,
    .name = "Alice & co",
    .email_addr = "alice@example.org",
    .cross_project_id = "fedcba9876543210fedcba9876543210",
    .total_credit = 12.5,
    .expavg_credit = 1.25,
    .create_time = 1700000000,
    .global_prefs = global_prefs,
    .project_prefs = project_prefs,
};
static const struct host computer = {.id = 17, .create_time = 1700100000};
static const struct app demo = {
    .id = 1, .name = "demo", .user_friendly_name = "Demo application"};

static char version_doc[] =
    "<file_info>\n"
    "    <name>demo_1.00_x86_64-pc-linux-gnu</name>\n"
    "    <url>https://project.example/ex/download/"
    "demo_1.00_x86_64-pc-linux-gnu</url>\n"
    "    <executable/>\n"
    "    <nbytes>18</nbytes>\n"
    "</file_info>\n"
    "<app_version>\n"
    "    <app_name>demo</app_name>\n"
    "    <version_num>100</version_num>\n"
    "<file_ref>\n"
    "    <file_name>demo_1.00_x86_64-pc-linux-gnu</file_name>\n"
    "    <main_program/>\n"
    "</file_ref>\n"
    "</app_version>\n";
static const struct app_version version = {
    .id = 5, .appid = 1, .version_num = 100, .xml_doc = version_doc};

static const char wu_doc[] =
    "<file_info>\n"
    "    <name>wu_demo.in</name>\n"
    "    <url>https://project.example/ex/download/14c/wu_demo.in</url>\n"
    "    <md5_cksum>0cc175b9c0f1b6a831c399e269772661</md5_cksum>\n"
    "    <nbytes>1</nbytes>\n"
    "</file_info>\n"
    "<workunit>\n"
    "<command_line>\n"
    "--steps 100\n"
    "</command_line>\n"
    "<file_ref>\n"
    "    <file_name>wu_demo.in</file_name>\n"
    "    <open_name>in</open_name>\n"
    "</file_ref>\n"
    "</workunit>\n";
static const char result_doc[] =
    "<file_info>\n"
    "    <name>wu_demo_0_r123456789_0</name>\n"
    "    <generated_locally/>\n"
    "    <upload_when_present/>\n"
    "    <max_nbytes>1000000</max_nbytes>\n"
    "    <url>https://project.example/ex_cgi/file_upload_handler</url>\n"
    "</file_info>\n"
    "<result>\n"
    "    <file_ref>\n"
    "        <file_name>wu_demo_0_r123456789_0</file_name>\n"
    "        <open_name>out</open_name>\n"
    "    </file_ref>\n"
    "    <report_immediately/>\n"
    "</result>\n";

static void
add_job(struct sched_reply *r, int64_t wu_id, const char *wu_name,
        const char *result_name, const char *document)
{
    struct reply_job job = {
        .app = &demo,
        .version = &version,
        .platform = "x86_64-pc-linux-gnu",
        .usage = {.avg_ncpus = 1, .projected_flops = 4e9},
        .report_deadline = 1700700000
    };

    job.wu = xcalloc(1, sizeof *job.wu);
    job.wu->id = wu_id;
    str_copy(job.wu->name, sizeof job.wu->name, wu_name);
    job.wu->xml_doc = xstrdup(wu_doc);
    job.wu->rsc_fpops_est = 1e12;
    job.wu->rsc_fpops_bound = 1e14;
    job.wu->rsc_memory_bound = 1e8;
    job.wu->rsc_disk_bound = 1e8;
    job.result = xcalloc(1, sizeof *job.result);
    str_copy(job.result->name, sizeof job.result->name, result_name);
    job.result->xml_doc_in = xstrdup(document);
    reply_job(r, &job);
}

static void
begin(struct sched_reply *r, int client_version)
{
    reply_init(r);
    r->client_version = client_version;
    r->master_url = "https://project.example/ex/";
    r->project_name = "Example Project";
}

static struct buf
written(struct sched_reply *r)
{
    struct buf out = BUF_INIT;

    reply_write(r, &out);
    reply_free(r);
    return out;
}

static void
check_golden(struct sched_reply *r, const char *name)
{
    struct buf want = data_file(name), got = written(r);

    ck_assert_str_eq(buf_str(&got), buf_str(&want));
    buf_free(&want);
    buf_free(&got);
}

START_TEST(minimal_reply_ends_after_the_header)
{
    struct sched_reply r;

    begin(&r, 72005);
    r.minimal = true;
    r.project_is_down = true;
    r.user = &alice;
    r.host = &computer;
    reply_message(&r, MESSAGE_LOW, "Down for maintenance %s repair", "&");
    reply_delay(&r, 3600);
    check_golden(&r, "golden/reply_minimal.xml");
}
END_TEST

START_TEST(first_contact_with_one_job)
{
    struct sched_reply r;

    begin(&r, 72005);
    r.user = &alice;
    r.host = &computer;
    r.send_hostid = true;
    r.code_sign_key = "1024\n00ff\n.\n";
    r.gui_urls = gui_urls;
    reply_message(&r, MESSAGE_LOW, "Welcome");
    reply_delay(&r, 11);
    add_job(&r, 1, "wu_demo", "wu_demo_0", result_doc);
    check_golden(&r, "golden/reply_first_contact.xml");
}
END_TEST

/* All that is optional, in the reference's order. */
START_TEST(everything_in_order)
{
    static const struct team team = {.id = 4, .name = "Team <X>"};
    struct user user = alice;
    struct host host = computer;
    struct sched_reply r;

    begin(&r, 80300);
    user.project_prefs = NULL;
    str_copy(host.venue, sizeof host.venue, "home");
    r.user = &user;
    r.host = &host;
    r.team = &team;
    r.ended = true;
    r.next_rpc_delay = 86400;
    r.time_stats_log = 1700000001;
    r.send_full_workload = true;
    r.symstore = "https://symbols.example/?a&b";
    r.gui_urls = gui_urls;
    r.project_files = "<project_files>\n</project_files>";
    r.no_apps[PROC_AMD] = true;
    r.send_global_prefs = true;
    r.code_sign_key = "1024\n00ff\n.";
    r.code_sign_key_signature = "abcd\n.\n";
    r.message_ack = true;
    r.non_cpu_intensive = true;
    r.strict_memory_bound = true;
    r.verify_files_on_app_start = true;
    r.to_host = xcalloc(1, sizeof *r.to_host);
    r.to_host[0] = xstrdup("<trickle_down>\n<result_name>wu_a_0</result_name>\n"
                           "</trickle_down>");
    r.n_to_host = 1;
    reply_message(&r, MESSAGE_NOTICE, "Your <client> is old");
    reply_message(&r, MESSAGE_LOW, "No\nwork");
    reply_delay(&r, 11);
    reply_delay(&r, 5);
    reply_ack(&r, "wu_a_0");
    reply_ack(&r, "wu_b_0");
    reply_abort(&r, "wu_c_0", false);
    reply_abort(&r, "wu_d_0", true);
    reply_delete_file(&r, "old_data_1");
    reply_delete_file(&r, "old <data> 2");
    check_golden(&r, "golden/reply_everything.xml");
}
END_TEST

/* ---- what the project has nothing for -------------------------------------
 */

static const struct {
    const char *promise;
    int client_version;
    bool has_apps[N_PROC_TYPES], host[N_PROC_TYPES];
    const char *want;
} no_apps[] = {
    {"a GPU that no version uses is told",
     70040, {[PROC_CPU] = true, [PROC_NVIDIA] = true},
     {[PROC_CPU] = true, [PROC_AMD] = true},
     "<no_rsc_apps>ATI</no_rsc_apps>\n"
     "<no_rsc_apps>intel_gpu</no_rsc_apps>\n"
     "<no_rsc_apps>apple_gpu</no_rsc_apps>\n"},
    {"old clients know three types",
     70039, {[PROC_CPU] = true, [PROC_NVIDIA] = true},
     {[PROC_CPU] = true, [PROC_AMD] = true},
     "<no_cpu_apps>0</no_cpu_apps>\n"
     "<no_cuda_apps>0</no_cuda_apps>\n"
     "<no_ati_apps>1</no_ati_apps>\n"        },
    {"a GPU-only project does not want to be asked for CPU work",
     80300, {[PROC_NVIDIA] = true,
      [PROC_AMD] = true,
      [PROC_INTEL_GPU] = true,
      [PROC_APPLE_GPU] = true},
     {[PROC_CPU] = true, [PROC_NVIDIA] = true},
     "<no_rsc_apps>CPU</no_rsc_apps>\n"      },
    {"a client with nothing that is used goes on asking",
     80300, {[PROC_NVIDIA] = true},
     {[PROC_CPU] = true, [PROC_AMD] = true},
     NULL                                    },
    {"a project with versions for all types says nothing",
     80300, {true, true, true, true, true},
     {[PROC_CPU] = true},
     NULL                                    },
};

START_TEST(says_what_there_is_nothing_for)
{
    struct sched_reply r;
    struct buf out;

    begin(&r, no_apps[_i].client_version);
    reply_no_apps(&r, no_apps[_i].has_apps, no_apps[_i].host);
    out = written(&r);
    if (no_apps[_i].want != NULL)
        ck_assert_msg(strstr(buf_str(&out), no_apps[_i].want) != NULL,
                      "broken: %s", no_apps[_i].promise);
    else
        ck_assert_msg(strstr(buf_str(&out), "<no_") == NULL, "broken: %s",
                      no_apps[_i].promise);
    buf_free(&out);
}
END_TEST

/* ---- jobs ------------------------------------------------------------------
 */

static int
count(const struct buf *text, const char *what)
{
    int n = 0;

    for (const char *p = buf_str(text); (p = strstr(p, what)) != NULL; p++)
        n++;
    return n;
}

START_TEST(what_jobs_share_is_sent_once)
{
    struct sched_reply r;
    struct buf out;

    begin(&r, 72005);
    add_job(&r, 1, "wu_a", "wu_a_0", result_doc);
    add_job(&r, 2, "wu_b", "wu_b_0", result_doc);
    add_job(&r, 1, "wu_a", "wu_a_1", result_doc);
    out = written(&r);
    ck_assert_int_eq(count(&out, "<app>\n"), 1);
    ck_assert_int_eq(count(&out, "<app_version>\n"), 1);
    ck_assert_int_eq(count(&out, "<workunit>\n"), 2);
    ck_assert_int_eq(count(&out, "<result>\n"), 3);
    ck_assert_int_eq(count(&out, "<name>wu_a_1</name>"), 1);
    buf_free(&out);
}
END_TEST

/* A workunit never comes without its result, nor a result without it. */
START_TEST(a_broken_document_is_not_sent)
{
    struct sched_reply r;
    struct buf out;

    begin(&r, 72005);
    add_job(&r, 1, "wu_a", "wu_a_0", "<file_info>\n</file_info>\n");
    add_job(&r, 2, "wu_b", "wu_b_0", result_doc);
    out = written(&r);
    ck_assert_int_eq(count(&out, "wu_a"), 0);
    ck_assert_int_eq(count(&out, "<name>wu_b</name>"), 1);
    ck_assert_int_eq(count(&out, "<name>wu_b_0</name>"), 1);
    buf_free(&out);
}
END_TEST

START_TEST(an_empty_result_document_is_filled)
{
    struct sched_reply r;
    struct buf out;

    begin(&r, 72005);
    add_job(&r, 1, "wu_a", "wu_a_0", "<result>\n</result>\n");
    out = written(&r);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out), "<result>\n"
                              "<report_deadline>1700700000</report_deadline>\n"
                              "<wu_name>wu_a</wu_name>\n"
                              "<name>wu_a_0</name>\n"
                              "    <platform>x86_64-pc-linux-gnu</platform>\n"
                              "    <version_num>100</version_num>\n"
                              "    <plan_class></plan_class>\n"
                              "</result>\n"));
    buf_free(&out);
}
END_TEST

#define GPU_VERSION(type)                                                      \
    "    <platform>x86_64-pc-linux-gnu</platform>\n"                           \
    "    <plan_class>cuda</plan_class>\n"                                      \
    "    <avg_ncpus>0.250000</avg_ncpus>\n"                                    \
    "    <flops>80000000000.000000</flops>\n"                                  \
    "    <cmdline>--nthreads 2</cmdline>\n"                                    \
    "    <coproc>\n"                                                           \
    "        <type>" type "</type>\n"                                          \
    "        <count>0.500000</count>\n"                                        \
    "    </coproc>\n"                                                          \
    "    <gpu_ram>256000000.000000</gpu_ram>\n"                                \
    "</app_version>\n"

static const struct {
    int client;
    const char *written;
} versions_of_cuda[] = {
    {72005, GPU_VERSION("NVIDIA")},
    {70000, GPU_VERSION("NVIDIA")},
    {61234, GPU_VERSION("CUDA")  },
};

START_TEST(a_plan_class_is_told)
{
    struct app_version mt = version;
    struct sched_reply r;
    struct buf out;

    begin(&r, 72005);
    str_copy(mt.plan_class, sizeof mt.plan_class, "mt");
    add_job(&r, 1, "wu_a", "wu_a_0", result_doc);
    r.job[0].version = &mt;
    r.job[0].usage.avg_ncpus = 4;
    out = written(&r);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out), "    <platform>x86_64-pc-linux-gnu</platform>\n"
                              "    <plan_class>mt</plan_class>\n"
                              "    <avg_ncpus>4.000000</avg_ncpus>\n"));
    ck_assert_int_eq(count(&out, "<plan_class>mt</plan_class>"), 2);
    buf_free(&out);
}
END_TEST

START_TEST(the_use_of_a_gpu_is_told)
{
    struct app_version cuda = version;
    struct sched_reply r;
    struct buf out;

    begin(&r, versions_of_cuda[_i].client);
    str_copy(cuda.plan_class, sizeof cuda.plan_class, "cuda");
    add_job(&r, 1, "wu_a", "wu_a_0", result_doc);
    r.job[0].version = &cuda;
    r.job[0].usage = (struct host_usage){
        .type = PROC_NVIDIA,
        .avg_ncpus = 0.25,
        .gpu_usage = 0.5,
        .gpu_ram = 256e6,
        .mem_usage = 5e8,
        .projected_flops = 8e10,
        .cmdline = "--nthreads 2",
    };
    out = written(&r);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), versions_of_cuda[_i].written));
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out),
               "    <rsc_memory_bound>500000000.000000</rsc_memory_bound>\n"));
    buf_free(&out);
}
END_TEST

/* The client's own program is not sent; the result names it, and the workunit
 * is described in the client's measure. */
START_TEST(own_versions_are_named_only)
{
    struct app_version own = {.id = -2, .version_num = 300};
    struct sched_reply r;
    struct buf out;

    begin(&r, 72005);
    add_job(&r, 1, "wu_a", "wu_a_0", result_doc);
    r.job[0].version = &own;
    r.job[0].own_version = true;
    r.job[0].platform = "";
    r.job[0].fpops_scale = 0.5;
    out = written(&r);
    ck_assert_int_eq(count(&out, "<app_version>"), 0);
    ck_assert_int_eq(count(&out, "<app>"), 1);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&out),
               "    <rsc_fpops_est>500000000000.000000</rsc_fpops_est>\n"
               "    <rsc_fpops_bound>50000000000000.000000"
               "</rsc_fpops_bound>\n"));
    ck_assert_ptr_nonnull(strstr(buf_str(&out),
                                 "    <platform></platform>\n"
                                 "    <version_num>300</version_num>\n"
                                 "    <plan_class></plan_class>\n"));
    buf_free(&out);
}
END_TEST

/* ---- a reply that a real client accepted -----------------------------------
 */

/* The lines of the reply from the next <file_info> up to and with `last`, but
 * for those that begin as one of put_in: the document as it was stored. */
static char *
cut_document(const char **reply, const char *last, const char *const *put_in)
{
    const char *p = strstr(*reply, "<file_info>");
    const char *end = strstr(p, last) + strlen(last);
    struct buf doc = BUF_INIT;

    *reply = end;
    for (size_t len; p < end; p += len) {
        const char *text = p + strspn(p, " ");
        bool ours = false;

        len = strcspn(p, "\n") + 1;
        for (size_t i = 0; put_in[i] != NULL; i++)
            ours = ours || strncmp(text, put_in[i], strlen(put_in[i])) == 0;
        if (!ours)
            buf_addn(&doc, p, len);
    }
    return buf_take(&doc);
}

static void
drop_line(struct buf *text, const char *part)
{
    char *p = strstr(text->data, part), *end;

    if (p == NULL)
        return;
    end = strchr(p, '\n') + 1;
    while (p > text->data && p[-1] != '\n')
        p--;
    memmove(p, end, strlen(end) + 1);
    text->len = strlen(text->data);
}

/* What differs on purpose: our protocol level, decimals of credit, no empty
 * venue, and one flag more. */
static void
drop_differences(struct buf *text)
{
    static const char *const part[] = {
        "<scheduler_version>",  "<user_total_credit>",  "<user_expavg_credit>",
        "<host_total_credit>",  "<host_expavg_credit>", "<host_venue>",
        "<fraction_done_exact>"};

    for (size_t i = 0; i < ARRAY_LEN(part); i++)
        drop_line(text, part[i]);
}

static void
use_documents(struct sched_reply *r, const char *reply,
              struct app_version *fakeapp)
{
    static const char *const of_version[] = {"<platform>", "<avg_ncpus>",
                                             "<flops>", NULL};
    static const char *const of_wu[] = {"<rsc_", "<name>wu_ok_1</name>",
                                        "<app_name>", NULL};
    static const char *const of_result[] = {"<report_deadline>",
                                            "<wu_name>",
                                            "<name>wu_ok_1_0</name>",
                                            "<platform>",
                                            "<version_num>",
                                            "<plan_class>",
                                            NULL};
    struct reply_job *job = &r->job[0];

    fakeapp->xml_doc = cut_document(&reply, "</app_version>\n", of_version);
    free(job->wu->xml_doc);
    job->wu->xml_doc = cut_document(&reply, "</workunit>\n", of_wu);
    free(job->result->xml_doc_in);
    job->result->xml_doc_in = cut_document(&reply, "</result>\n", of_result);
}

START_TEST(an_accepted_reply_is_made_again)
{
    static const struct app app = {
        .id = 1, .name = "fakeapp", .user_friendly_name = "Fake app"};
    struct buf want = data_file("replies/first_contact_classic.xml"), out,
               key = data_file("keys/code_sign_public");
    struct app_version fakeapp = {.id = 5, .version_num = 100};
    struct host host = {.id = 17, .create_time = 1700000000};
    struct user user = alice;
    struct sched_reply r;

    begin(&r, 72005);
    user.id = 1;
    user.project_prefs = prefs_of_two_cpus;
    r.master_url = "http://project.example/proj/";
    r.project_name = "Fake project";
    r.user = &user;
    r.host = &host;
    r.send_hostid = true;
    r.code_sign_key = buf_str(&key);
    r.gui_urls = "<gui_urls>\n<gui_url>\n<name>Home</name>\n<description>Home "
                 "page</description>\n<url>http://project.example/proj/home.php"
                 "</url>\n</gui_url>\n</gui_urls>\n";
    reply_delay(&r, 3);
    add_job(&r, 1, "wu_ok_1", "wu_ok_1_0", result_doc);
    use_documents(&r, buf_str(&want), &fakeapp);
    r.job[0].app = &app;
    r.job[0].version = &fakeapp;
    r.job[0].usage.projected_flops = 1e9;
    r.job[0].report_deadline = 1796148578;
    r.job[0].wu->rsc_fpops_est = 2e10;
    r.job[0].wu->rsc_fpops_bound = 2e12;
    r.job[0].wu->rsc_memory_bound = 5e7;
    r.job[0].wu->rsc_disk_bound = 5e7;
    out = written(&r);
    drop_differences(&want);
    drop_differences(&out);
    ck_assert_str_eq(buf_str(&out), buf_str(&want));
    free(fakeapp.xml_doc);
    buf_free(&want);
    buf_free(&out);
    buf_free(&key);
}
END_TEST

/* ---- clients of all ages
 * ----------------------------------------------------- */

static const struct {
    int client_version;
    bool dcf_tag;
    const char *messages;
} ages[] = {
    {0,     false,
     "<message priority=\"low\">one</message>\n"
     "<message priority=\"notice\">two</message>\n"                },
    {80300, true,
     "<message priority=\"low\">one</message>\n"
     "<message priority=\"notice\">two</message>\n"                },
    {70028, true,
     "<message priority=\"low\">one</message>\n"
     "<message priority=\"notice\">two</message>\n"                },
    {70027, false,
     "<message priority=\"low\">one</message>\n"
     "<message priority=\"notice\">two</message>\n"                },
    {61100, false,
     "<message priority=\"low\">one</message>\n"
     "<message priority=\"notice\">two</message>\n"                },
    {61099, false,
     "<message priority=\"low\">one</message>\n"
     "<message priority=\"high\">two</message>\n"                  },
    {42000, false,
     "<message priority=\"low\">one</message>\n"
     "<message priority=\"high\">two</message>\n"                  },
    {41999, false, "<message priority=\"high\">one two</message>\n"},
};

START_TEST(speaks_to_its_age)
{
    struct sched_reply r;
    struct buf out;

    begin(&r, ages[_i].client_version);
    reply_message(&r, MESSAGE_LOW, "one");
    reply_message(&r, MESSAGE_NOTICE, "two");
    out = written(&r);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), ages[_i].messages));
    ck_assert((strstr(buf_str(&out), "<dont_use_dcf/>") != NULL) ==
              ages[_i].dcf_tag);
    buf_free(&out);
}
END_TEST

/* ---- limits
 * ------------------------------------------------------------------ */

static size_t
message_length(const struct buf *out)
{
    const char *begin = strstr(buf_str(out), "\"low\">") + 6;

    return (size_t)(strstr(begin, "</message>") - begin);
}

static const struct {
    const char *unit;
    size_t n;
    size_t want; /* bytes as written */
} lengths[] = {
    {"x",         1000, 1000},
    {"x",         1001, 1000},
    {"&",         200,  1000},
    {"&",         201,  1000},
    {"<",         251,  1000},
    {"\xc3\xa9",  501,  1000},
    {"x\xc3\xa9", 400,  1000},
};

START_TEST(a_message_has_at_most_1000_bytes)
{
    struct buf text = BUF_INIT, out;
    struct sched_reply r;

    for (size_t i = 0; i < lengths[_i].n; i++)
        buf_add(&text, lengths[_i].unit);
    begin(&r, 72005);
    reply_message(&r, MESSAGE_LOW, "%s", buf_str(&text));
    out = written(&r);
    ck_assert_uint_le(message_length(&out), lengths[_i].want);
    ck_assert_uint_ge(message_length(&out), lengths[_i].want - 2);
    buf_free(&text);
    buf_free(&out);
}
END_TEST

START_TEST(a_message_is_valid_text)
{
    struct sched_reply r;
    struct buf out;

    begin(&r, 72005);
    reply_message(&r, MESSAGE_LOW, "a\x01%s", "\xe9\r\nb");
    out = written(&r);
    ck_assert_ptr_nonnull(strstr(buf_str(&out), ">a\xc3\xa9  b<"));
    buf_free(&out);
}
END_TEST

START_TEST(a_delay_only_grows_up_to_two_days)
{
    struct sched_reply r;

    reply_init(&r);
    reply_delay(&r, -5);
    ck_assert_double_eq(r.request_delay, 0);
    reply_delay(&r, 60);
    reply_delay(&r, 10);
    ck_assert_double_eq(r.request_delay, 60);
    reply_delay(&r, 1e9);
    ck_assert_double_eq(r.request_delay, 172800);
    reply_free(&r);
}
END_TEST

START_TEST(three_thousand_acks)
{
    struct sched_reply r;
    struct buf out, name = BUF_INIT;

    begin(&r, 72005);
    for (int i = 0; i < 3000; i++) {
        buf_reset(&name);
        buf_addf(&name, "wu_%d_0", i);
        reply_ack(&r, buf_str(&name));
    }
    out = written(&r);
    ck_assert_int_eq(count(&out, "<result_ack>\n    <name>wu_"), 3000);
    ck_assert_int_eq(count(&out, "<name>wu_2999_0</name>"), 1);
    buf_free(&out);
    buf_free(&name);
}
END_TEST

/* Old clients read lines of at most 255 bytes; messages are the exception. */
START_TEST(lines_are_short)
{
    static const char *const files[] = {"golden/reply_minimal.xml",
                                        "golden/reply_first_contact.xml",
                                        "golden/reply_everything.xml"};
    struct buf golden = data_file(files[_i]), err = BUF_INIT;
    struct xml_doc *doc =
        xml_parse(buf_str(&golden), golden.len, "golden", &err);

    ck_assert_msg(doc != NULL, "%s", buf_str(&err));
    for (const char *p = buf_str(&golden); *p != '\0'; p = strchr(p, '\n') + 1)
        ck_assert_uint_lt(strcspn(p, "\n"), 256);
    xml_free(doc);
    buf_free(&golden);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_test(tc, minimal_reply_ends_after_the_header);
    tcase_add_test(tc, first_contact_with_one_job);
    tcase_add_test(tc, everything_in_order);
    tcase_add_loop_test(tc, says_what_there_is_nothing_for, 0,
                        ARRAY_LEN(no_apps));
    tcase_add_test(tc, what_jobs_share_is_sent_once);
    tcase_add_test(tc, a_broken_document_is_not_sent);
    tcase_add_test(tc, an_empty_result_document_is_filled);
    tcase_add_test(tc, a_plan_class_is_told);
    tcase_add_loop_test(tc, the_use_of_a_gpu_is_told, 0,
                        ARRAY_LEN(versions_of_cuda));
    tcase_add_test(tc, own_versions_are_named_only);
    tcase_add_test(tc, an_accepted_reply_is_made_again);
    tcase_add_loop_test(tc, speaks_to_its_age, 0, ARRAY_LEN(ages));
    tcase_add_loop_test(tc, a_message_has_at_most_1000_bytes, 0,
                        ARRAY_LEN(lengths));
    tcase_add_test(tc, a_message_is_valid_text);
    tcase_add_test(tc, a_delay_only_grows_up_to_two_days);
    tcase_add_test(tc, three_thousand_acks);
    tcase_add_loop_test(tc, lines_are_short, 0, 3);
}

int
main(void)
{
    return unit_main("reply", fill);
}

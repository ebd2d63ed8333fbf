/* say.c - what a client of version 7.20.5 sends to scheduler and upload
 * handler. */
#include "volunteer.h"

#include <inttypes.h>
#include <string.h>

#include "digest.h"
#include "rng.h"

#define VERSION                                                                \
    "    <core_client_major_version>7</core_client_major_version>\n"           \
    "    <core_client_minor_version>20</core_client_minor_version>\n"          \
    "    <core_client_release>5</core_client_release>\n"

static void
say_who(struct host *h, struct buf *b)
{
    int want = fleet.stopping ? 0 : 2 - h->now.n_tasks;

    if (want < 0)
        want = 0;
    buf_addf(b,
             "<scheduler_request>\n"
             "    <authenticator>%s</authenticator>\n"
             "    <hostid>%" PRId64 "</hostid>\n"
             "    <rpc_seqno>%" PRId64 "</rpc_seqno>\n" VERSION
             "    <resource_share_fraction>1.000000</resource_share_fraction>\n"
             "    <rrs_fraction>1.000000</rrs_fraction>\n"
             "    <prrs_fraction>1.000000</prrs_fraction>\n"
             "    <duration_correction_factor>1.000000"
             "</duration_correction_factor>\n"
             "    <allow_multiple_clients>0</allow_multiple_clients>\n"
             "    <sandbox>0</sandbox>\n"
             "    <work_req_seconds>%d.000000</work_req_seconds>\n"
             "    <cpu_req_secs>%d.000000</cpu_req_secs>\n"
             "    <cpu_req_instances>%d.000000</cpu_req_instances>\n"
             "    <estimated_delay>0.000000</estimated_delay>\n"
             "    <client_cap_plan_class>1</client_cap_plan_class>\n"
             "    <platform_name>x86_64-pc-linux-gnu</platform_name>\n",
             h->key, h->now.id, h->now.id != 0 ? h->now.seqno : 0, want, want,
             want);
}

/* What makes it this computer and no other: address, name, cpid. */
static void
say_computer(struct host *h, struct buf *b)
{
    buf_addf(b,
             "<time_stats>\n"
             "    <on_frac>0.9%04d</on_frac>\n"
             "    <connected_frac>1.000000</connected_frac>\n"
             "    <active_frac>0.9%04d</active_frac>\n"
             "</time_stats>\n",
             (int)(rng_next(&h->rng) % 10000),
             (int)(rng_next(&h->rng) % 10000));
    buf_addf(b,
             "<host_info>\n"
             "    <timezone>3600</timezone>\n"
             "    <domain_name>chaos-%d-%d</domain_name>\n"
             "    <ip_addr>10.%d.%d.%d</ip_addr>\n"
             "    <host_cpid>%s</host_cpid>\n"
             "    <p_ncpus>4</p_ncpus>\n"
             "    <p_vendor>GenuineExample</p_vendor>\n"
             "    <p_model>Example CPU %d</p_model>\n"
             "    <p_fpops>4000000000.000000</p_fpops>\n"
             "    <p_iops>8000000000.000000</p_iops>\n"
             "    <p_membw>1000000000.000000</p_membw>\n"
             "    <m_nbytes>16000000000.000000</m_nbytes>\n"
             "    <m_cache>8000000.000000</m_cache>\n"
             "    <m_swap>2000000000.000000</m_swap>\n"
             "    <d_total>500000000000.000000</d_total>\n"
             "    <d_free>%" PRIu64 ".000000</d_free>\n"
             "    <os_name>Linux Debian</os_name>\n"
             "    <os_version>12</os_version>\n"
             "</host_info>\n",
             h->number, h->lives, h->lives & 255, h->number >> 8,
             h->number & 255, h->now.cpid, h->number,
             UINT64_C(400000000000) - rng_next(&h->rng) % 1000000 * 4096);
}

static void
say_output(const struct task *t, struct buf *b)
{
    char md5[MD5_HEX];

    digest_md5(t->data.data, t->data.len, md5);
    buf_addf(b,
             "<file_info>\n"
             "    <name>%s</name>\n"
             "    <nbytes>%zu.000000</nbytes>\n"
             "    <max_nbytes>%s</max_nbytes>\n"
             "    <md5_cksum>%s</md5_cksum>\n"
             "    <upload_url>%s</upload_url>\n"
             "</file_info>\n",
             t->output, t->data.len, t->max_nbytes, md5, t->upload_url);
}

static void
say_result(const struct task *t, struct buf *b)
{
    double held = t->done_at - t->given_at;

    buf_addf(b,
             "<result>\n"
             "    <name>%s</name>\n"
             "    <final_cpu_time>%f</final_cpu_time>\n"
             "    <final_elapsed_time>%f</final_elapsed_time>\n"
             "    <exit_status>%d</exit_status>\n"
             "    <state>%d</state>\n"
             "    <platform>x86_64-pc-linux-gnu</platform>\n"
             "    <version_num>100</version_num>\n"
             "    <final_peak_working_set_size>52428800"
             "</final_peak_working_set_size>\n"
             "    <app_version_num>100</app_version_num>\n"
             "<stderr_out>\n"
             "<core_client_version>7.20.5</core_client_version>\n"
             "<![CDATA[\n%s<stderr_txt>\nchaos, held for %f s\n</stderr_txt>\n"
             "]]>\n</stderr_out>\n",
             t->name, held * 0.9, held, t->fails ? 1 : 0, t->fails ? 3 : 5,
             t->fails ? "<message>\nprocess exited with code 1\n</message>\n"
                      : "",
             held);
    if (!t->fails)
        say_output(t, b);
    buf_add(b, "</result>\n");
}

void
say_request(struct host *h, struct buf *b)
{
    say_who(h, b);
    say_computer(h, b);
    h->n_reported = 0;
    for (int i = 0; i < h->now.n_tasks; i++)
        if (h->now.task[i]->state == TASK_REPORT) {
            say_result(h->now.task[i], b);
            str_copy(h->reported[h->n_reported++], NAME_SIZE,
                     h->now.task[i]->name);
        }
    buf_add(b, "<other_results>\n");
    for (int i = 0; i < h->now.n_tasks; i++)
        if (h->now.task[i]->state != TASK_REPORT)
            buf_addf(b,
                     "    <other_result>\n        <name>%s</name>\n"
                     "    </other_result>\n",
                     h->now.task[i]->name);
    buf_add(b, "</other_results>\n</scheduler_request>\n");
}

/* ---- the upload handler ------------------------------------------------- */

void
say_size_query(const struct task *t, struct buf *b)
{
    buf_addf(b,
             "<data_server_request>\n" VERSION
             "    <get_file_size>%s</get_file_size>\n"
             "</data_server_request>\n",
             t->output);
}

void
say_upload(struct host *h, const struct task *t, struct buf *b,
           size_t *ret_body)
{
    size_t rest = t->data.len - t->offset;
    char md5[MD5_HEX];

    digest_md5(t->data.data, t->data.len, md5);
    buf_addf(b,
             "<data_server_request>\n" VERSION "<file_upload>\n<file_info>\n"
             "<name>%s</name>\n<xml_signature>\n%s</xml_signature>\n"
             "<max_nbytes>%s</max_nbytes>\n</file_info>\n<nbytes>%zu</nbytes>\n"
             "<md5_cksum>%s</md5_cksum>\n<offset>%zu</offset>\n<data>\n",
             t->output, t->signature, t->max_nbytes, t->data.len, md5,
             t->offset);
    *ret_body = b->len;
    buf_addn(b, t->data.data + t->offset, rest);
    if (rest > 0 && !fleet.perfect && rng_happens(&h->rng, h->traits.damaged)) {
        b->data[*ret_body + rng_next(&h->rng) % rest] ^= 1;
        fleet.n.damaged++;
    }
}

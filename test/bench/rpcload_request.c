/* rpcload_request.c - a request as a client of version 7.20 writes it. */
#include "rpcload.h"

#include <stdio.h>
#include <string.h>

static char *stderr_text;

void
make_stderr_text(void)
{
    struct buf b = {0};
    int line = 0;

    while ((int)b.n < o.stderr_bytes)
        buf_printf(
            &b,
            "%02d:%02d:%02d (%d): step %d of 1000 done, checkpoint written\n",
            line / 3600 % 24, line / 60 % 60, line % 60, 4321, line),
            line += 37;
    if (o.stderr_bytes <= 0)
        buf_puts(&b, "");
    else
        b.p[o.stderr_bytes] = 0;
    stderr_text = b.p ? b.p : strdup("");
}

static const char *features =
    "fpu vme de pse tsc msr pae mce cx8 apic sep mtrr pge mca cmov pat pse36 "
    "clflush dts acpi mmx fxsr sse sse2 ss ht tm pbe syscall nx pdpe1gb rdtscp "
    "lm constant_tsc art arch_perfmon pebs bts rep_good nopl xtopology "
    "nonstop_tsc cpuid aperfmperf pni pclmulqdq dtes64 monitor ds_cpl vmx smx "
    "est tm2 ssse3 sdbg fma cx16 xtpr pdcm pcid sse4_1 sse4_2 x2apic movbe "
    "popcnt tsc_deadline_timer aes xsave avx f16c rdrand lahf_lm abm "
    "3dnowprefetch cpuid_fault epb invpcid_single ssbd ibrs ibpb stibp "
    "ibrs_enhanced tpr_shadow vnmi flexpriority ept vpid ept_ad fsgsbase "
    "tsc_adjust bmi1 avx2 smep bmi2 erms invpcid mpx rdseed adx smap "
    "clflushopt intel_pt xsaveopt xsavec xgetbv1 xsaves dtherm ida arat pln "
    "pts hwp hwp_notify hwp_act_window hwp_epp md_clear flush_l1d "
    "arch_capabilities";

void
build_rpc(struct hostst *h, struct buf *b, int *nrep)
{
    double t = wall_s();
    int i, n = 0, ask = o.jobs;
    double req = ask * o.job_secs;
    uint32_t x = (uint32_t)(h->idx + 1) * 2654435761u;

    if (o.report) {
        n = h->nq - o.keep;
        if (n < 0)
            n = 0;
        if (n > o.max_report)
            n = o.max_report;
    }
    *nrep = n;

    buf_printf(
        b,
        "<scheduler_request>\n"
        "    <authenticator>%s</authenticator>\n"
        "    <hostid>%ld</hostid>\n"
        "    <rpc_seqno>%ld</rpc_seqno>\n"
        "    <core_client_major_version>%d</core_client_major_version>\n"
        "    <core_client_minor_version>%d</core_client_minor_version>\n"
        "    <core_client_release>%d</core_client_release>\n"
        "    <resource_share_fraction>1.000000</resource_share_fraction>\n"
        "    <rrs_fraction>1.000000</rrs_fraction>\n"
        "    <prrs_fraction>1.000000</prrs_fraction>\n"
        "    "
        "<duration_correction_factor>1.000000</duration_correction_factor>\n"
        "    <allow_multiple_clients>0</allow_multiple_clients>\n"
        "    <sandbox>0</sandbox>\n"
        "    <dont_send_work>0</dont_send_work>\n"
        "    <work_req_seconds>%f</work_req_seconds>\n"
        "    <cpu_req_secs>%f</cpu_req_secs>\n"
        "    <cpu_req_instances>%f</cpu_req_instances>\n"
        "    <estimated_delay>0.000000</estimated_delay>\n"
        "    <client_cap_plan_class>1</client_cap_plan_class>\n"
        "    <platform_name>%s</platform_name>\n",
        h->auth, h->id, h->id ? h->seq : 0L, o.vmajor, o.vminor, o.vrelease,
        req, req, (double)ask, o.platform);
    if (*o.alt_platform)
        buf_printf(b,
                   "    <alt_platform>\n        <name>%s</name>\n    "
                   "</alt_platform>\n",
                   o.alt_platform);
    if (*code_sign_key)
        buf_printf(b, "    <code_sign_key>\n%s\n</code_sign_key>\n",
                   code_sign_key);
    buf_puts(
        b,
        "<working_global_preferences>\n<global_preferences>\n"
        "   <source_project></source_project>\n"
        "   <mod_time>0.000000</mod_time>\n"
        "   <battery_charge_min_pct>90.000000</battery_charge_min_pct>\n"
        "   <battery_max_temperature>40.000000</battery_max_temperature>\n"
        "   <run_on_batteries>0</run_on_batteries>\n"
        "   <run_if_user_active>1</run_if_user_active>\n"
        "   <run_gpu_if_user_active>0</run_gpu_if_user_active>\n"
        "   <suspend_if_no_recent_input>0.000000</suspend_if_no_recent_input>\n"
        "   <suspend_cpu_usage>25.000000</suspend_cpu_usage>\n"
        "   <start_hour>0.000000</start_hour>\n"
        "   <end_hour>0.000000</end_hour>\n"
        "   <net_start_hour>0.000000</net_start_hour>\n"
        "   <net_end_hour>0.000000</net_end_hour>\n"
        "   <leave_apps_in_memory>0</leave_apps_in_memory>\n"
        "   <confirm_before_connecting>1</confirm_before_connecting>\n"
        "   <hangup_if_dialed>0</hangup_if_dialed>\n"
        "   <dont_verify_images>0</dont_verify_images>\n"
        "   <work_buf_min_days>0.100000</work_buf_min_days>\n"
        "   <work_buf_additional_days>0.500000</work_buf_additional_days>\n"
        "   <max_ncpus_pct>100.000000</max_ncpus_pct>\n"
        "   "
        "<cpu_scheduling_period_minutes>60.000000</"
        "cpu_scheduling_period_minutes>\n"
        "   <disk_interval>60.000000</disk_interval>\n"
        "   <disk_max_used_gb>0.000000</disk_max_used_gb>\n"
        "   <disk_max_used_pct>90.000000</disk_max_used_pct>\n"
        "   <disk_min_free_gb>0.100000</disk_min_free_gb>\n"
        "   <vm_max_used_pct>75.000000</vm_max_used_pct>\n"
        "   <ram_max_used_busy_pct>50.000000</ram_max_used_busy_pct>\n"
        "   <ram_max_used_idle_pct>90.000000</ram_max_used_idle_pct>\n"
        "   <idle_time_to_run>3.000000</idle_time_to_run>\n"
        "   <max_bytes_sec_up>0.000000</max_bytes_sec_up>\n"
        "   <max_bytes_sec_down>0.000000</max_bytes_sec_down>\n"
        "   <cpu_usage_limit>100.000000</cpu_usage_limit>\n"
        "   <daily_xfer_limit_mb>0.000000</daily_xfer_limit_mb>\n"
        "   <daily_xfer_period_days>0</daily_xfer_period_days>\n"
        "   <override_file_present>0</override_file_present>\n"
        "   <network_wifi_only>0</network_wifi_only>\n"
        "</global_preferences>\n</working_global_preferences>\n");
    buf_printf(b, "<cross_project_id>%s</cross_project_id>\n", h->cpid);
    /* these change from one RPC to the next, as they do on a real host */
    buf_printf(
        b,
        "<time_stats>\n"
        "    <on_frac>%f</on_frac>\n"
        "    <connected_frac>1.000000</connected_frac>\n"
        "    "
        "<cpu_and_network_available_frac>0.999%03u</"
        "cpu_and_network_available_frac>\n"
        "    <active_frac>0.99%04u</active_frac>\n"
        "    <gpu_active_frac>0.99%04u</gpu_active_frac>\n"
        "    <client_start_time>%f</client_start_time>\n"
        "    <total_start_time>%f</total_start_time>\n"
        "    <total_duration>%f</total_duration>\n"
        "    <total_active_duration>%f</total_active_duration>\n"
        "    <total_gpu_active_duration>%f</total_gpu_active_duration>\n"
        "    <now>%f</now>\n"
        "    <previous_uptime>86321.104512</previous_uptime>\n"
        "    <session_active_duration>%f</session_active_duration>\n"
        "    "
        "<session_gpu_active_duration>0.000000</session_gpu_active_duration>\n"
        "</time_stats>\n",
        0.9 + (double)(rng() % 90000) * 1e-6, (unsigned)(rng() % 1000),
        (unsigned)(rng() % 10000), (unsigned)(rng() % 10000),
        t - 7200 - (double)(x % 1000), t - 864000, 800000.0 + (double)h->seq,
        790000.0 + (double)h->seq, 790000.0 + (double)h->seq, t,
        7000.0 + (double)(x % 1000));
    buf_printf(b,
               "<net_stats>\n"
               "    <bwup>%f</bwup>\n"
               "    <avg_up>1048576.000000</avg_up>\n"
               "    <avg_time_up>%f</avg_time_up>\n"
               "    <bwdown>%f</bwdown>\n"
               "    <avg_down>4194304.000000</avg_down>\n"
               "    <avg_time_down>%f</avg_time_down>\n"
               "</net_stats>\n",
               500000.0 + (double)(rng() % 100000), t - 600,
               2000000.0 + (double)(rng() % 100000), t - 900);
    buf_printf(b,
               "<host_info>\n"
               "    <timezone>3600</timezone>\n"
               "    <domain_name>host%07d</domain_name>\n"
               "    <ip_addr>10.%u.%u.%u</ip_addr>\n"
               "    <host_cpid>%08x%08x%08x%08x</host_cpid>\n"
               "    <p_ncpus>%d</p_ncpus>\n"
               "    <p_vendor>GenuineIntel</p_vendor>\n"
               "    <p_model>Intel(R) Core(TM) i7-10700 CPU @ 2.90GHz [Family "
               "6 Model 165 Stepping 5]</p_model>\n"
               "    <p_features>%s</p_features>\n"
               "    <p_fpops>4683928731.%06u</p_fpops>\n"
               "    <p_iops>23184219340.%06u</p_iops>\n"
               "    <p_membw>1000000000.000000</p_membw>\n"
               "    <p_calculated>%f</p_calculated>\n"
               "    <p_vm_extensions_disabled>0</p_vm_extensions_disabled>\n"
               "    <m_nbytes>33567485952.000000</m_nbytes>\n"
               "    <m_cache>16777216.000000</m_cache>\n"
               "    <m_swap>2147479552.000000</m_swap>\n"
               "    <d_total>501809635328.000000</d_total>\n"
               "    <d_free>%f</d_free>\n"
               "    <os_name>Linux Debian</os_name>\n"
               "    <os_version>Debian GNU/Linux 12 (bookworm) "
               "[6.1.0-13-amd64|libc 2.36]</os_version>\n"
               "    <n_usable_coprocs>0</n_usable_coprocs>\n"
               "    <wsl_available>0</wsl_available>\n"
               "</host_info>\n",
               h->idx, (unsigned)(h->idx >> 16) & 255,
               (unsigned)(h->idx >> 8) & 255, (unsigned)h->idx & 255, x,
               x ^ 0x5bd1e995u, ~x, x * 31u, o.ncpus, features, x % 1000000,
               x % 999983, t - 86400,
               400e9 - (double)(rng() % 100000) * 4096.0);
    buf_printf(
        b,
        "    <disk_usage>\n"
        "        <d_boinc_used_total>%f</d_boinc_used_total>\n"
        "        <d_boinc_used_project>%f</d_boinc_used_project>\n"
        "        <d_project_share>360000000000.000000</d_project_share>\n"
        "    </disk_usage>\n",
        30e6 + (double)(rng() % 1000) * 4096.0,
        20e6 + (double)(rng() % 1000) * 4096.0);

    for (i = 0; i < n; i++) {
        struct job *j = h->q[i];
        /* servers check run time against the time the job was out */
        double held = t - j->t, run = held < o.elapsed ? held : o.elapsed;
        double cpu = run * (0.9 + (double)(rng() % 1000) * 5e-5);
        int bad =
            o.error_frac > 0 && (double)(rng() % 1000000) < o.error_frac * 1e6;

        if (bad && counting)
            st.errors_reported++;
        buf_printf(b,
                   "<result>\n"
                   "    <name>%s</name>\n"
                   "    <final_cpu_time>%f</final_cpu_time>\n"
                   "    <final_elapsed_time>%f</final_elapsed_time>\n"
                   "    <exit_status>%d</exit_status>\n"
                   "    <state>%d</state>\n"
                   "    <platform>%s</platform>\n"
                   "    <version_num>%s</version_num>\n",
                   j->name, cpu, run, bad ? 1 : 0, bad ? 3 : 5, j->plat,
                   j->ver);
        if (*j->plan)
            buf_printf(b, "    <plan_class>%s</plan_class>\n", j->plan);
        buf_printf(
            b,
            "    "
            "<final_peak_working_set_size>52428800</"
            "final_peak_working_set_size>\n"
            "    <final_peak_swap_size>104857600</final_peak_swap_size>\n"
            "    <final_peak_disk_usage>12288</final_peak_disk_usage>\n"
            "    <app_version_num>%s</app_version_num>\n"
            "<stderr_out>\n"
            "<core_client_version>%d.%d.%d</core_client_version>\n"
            "<![CDATA[\n"
            "<stderr_txt>\n%s\n</stderr_txt>\n"
            "]]>\n"
            "</stderr_out>\n",
            j->ver, o.vmajor, o.vminor, o.vrelease, stderr_text);
        if (o.file_info && !bad)
            for (char *f = j->files; *f; f += strlen(f) + 1)
                buf_printf(
                    b,
                    "<file_info>\n"
                    "    <name>%s</name>\n"
                    "    <nbytes>4096.000000</nbytes>\n"
                    "    <max_nbytes>1000000.000000</max_nbytes>\n"
                    "    "
                    "<md5_cksum>620f0b67a91f7f74151bc5be745b7110</md5_cksum>\n"
                    "    <upload_url>%s</upload_url>\n"
                    "</file_info>\n",
                    f, o.url);
        buf_puts(b, "</result>\n");
    }

    buf_puts(b, "<app_versions>\n");
    for (i = 0; i < navs; i++) {
        struct appver *v = &avs[i];

        buf_printf(b,
                   "<app_version>\n"
                   "    <app_name>%s</app_name>\n"
                   "    <version_num>%s</version_num>\n"
                   "    <platform>%s</platform>\n"
                   "    <avg_ncpus>1.000000</avg_ncpus>\n"
                   "    <flops>%s</flops>\n",
                   v->app, v->ver, v->plat,
                   *v->flops ? v->flops : "4683928731.0");
        if (*v->plan)
            buf_printf(b, "    <plan_class>%s</plan_class>\n", v->plan);
        if (*v->api)
            buf_printf(b, "    <api_version>%s</api_version>\n", v->api);
        buf_puts(b, "</app_version>\n");
    }
    buf_puts(b, "</app_versions>\n<other_results>\n");
    for (i = n; i < h->nq; i++) {
        struct job *j = h->q[i];

        buf_printf(b,
                   "    <other_result>\n"
                   "        <name>%s</name>\n"
                   "        <app_version>%d</app_version>\n",
                   j->name, j->avi);
        if (*j->plan)
            buf_printf(b, "        <plan_class>%s</plan_class>\n", j->plan);
        buf_puts(b, "    </other_result>\n");
    }
    buf_puts(b, "</other_results>\n</scheduler_request>\n");
}

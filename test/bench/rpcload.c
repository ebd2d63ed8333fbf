/*
 * rpcload.c - many volunteer hosts against a scheduler's URL, or many uploads
 * against an upload handler's; says what they got, how fast, and how late.
 *
 * One thread, epoll, HTTP/1.1, closed loop over C connections (or paced with
 * -R).  It knows only the public protocols; see README.md.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---------------------------------------------------------------- basics */

static void
die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("rpcload: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(2);
}

static void *
xrealloc(void *p, size_t n)
{
    p = realloc(p, n ? n : 1);
    if (!p)
        die("out of memory");
    return p;
}

static double
now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double
wall_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;
static uint64_t
rng(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return rng_state;
}

struct buf {
    char *p;
    size_t n, cap;
};

static void
buf_need(struct buf *b, size_t more)
{
    if (b->n + more + 1 > b->cap) {
        b->cap = (b->n + more + 1) * 2;
        b->p = xrealloc(b->p, b->cap);
    }
}

static void
buf_add(struct buf *b, const char *s, size_t n)
{
    buf_need(b, n);
    memcpy(b->p + b->n, s, n);
    b->n += n;
    b->p[b->n] = 0;
}

static void
buf_puts(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

__attribute__((format(printf, 2, 3))) static void
buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap;
    int n;

    buf_need(b, 512);
    va_start(ap, fmt);
    n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
    va_end(ap);
    if (n < 0)
        die("vsnprintf");
    if ((size_t)n >= b->cap - b->n) {
        buf_need(b, (size_t)n + 1);
        va_start(ap, fmt);
        vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
        va_end(ap);
    }
    b->n += (size_t)n;
}

/* --------------------------------------------------------------- options */

static struct {
    int upload; /* mode */
    char *url;
    char host[256], port[16], path[1024];
    char *hosts_in, *hosts_out, *auths, *certs;
    int nhosts, conc, register_n;
    double secs;
    long count;
    int jobs;        /* jobs asked per RPC; 0: none */
    double job_secs; /* seconds of work asked per job */
    int report, keep, max_report;
    int keepalive;
    int stderr_bytes, ncpus;
    double elapsed; /* reported run time per job */
    const char *platform, *alt_platform;
    int vmajor, vminor, vrelease;
    double rate, timeout;
    long bytes; /* upload size */
    int query_size;
    int verbose, file_info;
    double warmup;
    const char *label;
    double error_frac;
} o = {
    .nhosts = 1000,
    .conc = 4,
    .secs = 10,
    .jobs = 1,
    .job_secs = 1,
    .report = 1,
    .max_report = 256,
    .keepalive = 0,
    .stderr_bytes = 1024,
    .ncpus = 16,
    .elapsed = 3600,
    .platform = "x86_64-pc-linux-gnu",
    .alt_platform = "i686-pc-linux-gnu",
    .vmajor = 7,
    .vminor = 20,
    .vrelease = 5,
    .timeout = 60,
    .bytes = 4096,
    .file_info = 1,
    .label = "",
};

/* ------------------------------------------------------------ statistics */

static struct {
    unsigned long rpcs, http_fail, bad_reply, timeouts, retries;
    unsigned long jobs, acks, reported, unacked, aborts, errors_reported;
    unsigned long messages, down, delays, newhost, with_jobs, asked;
    unsigned long app_versions, wus;
    unsigned long long out, in;
    uint32_t *lat; /* microseconds */
    size_t nlat, caplat;
} st;

#define MAXMSG 24
static struct {
    char text[160];
    unsigned long n;
} msgs[MAXMSG];
static int nmsgs;
#define MAXFAIL 12
static struct {
    char text[96];
    unsigned long n;
} fails[MAXFAIL];
static int nfails;

static void
note_fail(const char *what)
{
    int i;

    st.http_fail++;
    for (i = 0; i < nfails; i++)
        if (!strcmp(fails[i].text, what)) {
            fails[i].n++;
            return;
        }
    if (nfails < MAXFAIL) {
        snprintf(fails[nfails].text, sizeof fails[0].text, "%s", what);
        fails[nfails++].n = 1;
    }
}

static void
note_msg(const char *s, size_t n)
{
    char t[160];
    size_t j = 0;
    int i;

    st.messages++;
    for (size_t k = 0; k < n && j < sizeof t - 1; k++) {
        char c = s[k];

        /* digits vary from host to host: fold them together */
        if (isdigit((unsigned char)c)) {
            if (j && t[j - 1] == '#')
                continue;
            c = '#';
        }
        t[j++] = c == '\n' ? ' ' : c;
    }
    t[j] = 0;
    for (i = 0; i < nmsgs; i++)
        if (!strcmp(msgs[i].text, t)) {
            msgs[i].n++;
            return;
        }
    if (nmsgs < MAXMSG) {
        memcpy(msgs[nmsgs].text, t, sizeof t);
        msgs[nmsgs++].n = 1;
    }
}

static int counting; /* past the warm-up */

static void
note_lat(double s)
{
    if (!counting)
        return;
    if (st.nlat == st.caplat) {
        st.caplat = st.caplat ? st.caplat * 2 : 65536;
        st.lat = xrealloc(st.lat, st.caplat * sizeof *st.lat);
    }
    st.lat[st.nlat++] = (uint32_t)(s * 1e6);
}

/* ----------------------------------------------------------------- hosts */

/* one job the host holds: the strings lie one after another in blob */
struct job {
    char *name, *wu, *plat, *plan, *ver;
    char *files; /* output files, each NUL terminated, "" ends */
    int avi;     /* index into the app version list */
    double t;    /* when it was received */
};

struct hostst {
    long id, seq;
    char auth[80], cpid[40];
    int idx;
    struct job **q;
    int nq, capq;
};

static struct hostst *hosts;
static int nhosts;
static int *ring, ring_head, ring_n; /* idle hosts, oldest first */

static void
ring_put(int h)
{
    ring[(ring_head + ring_n++) % nhosts] = h;
}

static int
ring_get(void)
{
    int h = ring[ring_head];

    ring_head = (ring_head + 1) % nhosts;
    ring_n--;
    return h;
}

/* app versions and signing key the project told us, shared by all hosts */
struct appver {
    char app[128], ver[16], plat[64], plan[64], api[32], flops[32];
};
static struct appver avs[32];
static int navs;
static char code_sign_key[4096];

static void
load_hosts(void)
{
    char line[512];
    FILE *f;
    int cap = 0;

    if (o.hosts_in) {
        f = fopen(o.hosts_in, "r");
        if (!f)
            die("%s: %s", o.hosts_in, strerror(errno));
        while (fgets(line, sizeof line, f) && nhosts < o.nhosts) {
            long id, seq = 0;
            char a[80];

            if (line[0] == '#')
                continue;
            if (sscanf(line, "%ld %79s %ld", &id, a, &seq) < 2)
                continue;
            if (nhosts == cap) {
                cap = cap ? cap * 2 : 1024;
                hosts = xrealloc(hosts, (size_t)cap * sizeof *hosts);
            }
            memset(&hosts[nhosts], 0, sizeof hosts[0]);
            hosts[nhosts].id = id;
            hosts[nhosts].seq = seq;
            hosts[nhosts].idx = nhosts;
            memcpy(hosts[nhosts].auth, a, sizeof a);
            nhosts++;
        }
        fclose(f);
    } else if (o.auths) {
        /* first-contact hosts: account keys round robin */
        char(*as)[80] = NULL;
        int na = 0, capa = 0, i;

        f = fopen(o.auths, "r");
        if (!f)
            die("%s: %s", o.auths, strerror(errno));
        while (fgets(line, sizeof line, f)) {
            if (na == capa) {
                capa = capa ? capa * 2 : 256;
                as = xrealloc(as, (size_t)capa * sizeof *as);
            }
            if (sscanf(line, "%79s", as[na]) == 1)
                na++;
        }
        fclose(f);
        if (!na)
            die("no account keys in %s", o.auths);
        hosts = calloc((size_t)o.nhosts, sizeof *hosts);
        if (!hosts)
            die("out of memory");
        for (i = 0; i < o.nhosts; i++) {
            memcpy(hosts[i].auth, as[i % na], sizeof as[0]);
            hosts[i].idx = i;
        }
        nhosts = o.nhosts;
        free(as);
    } else {
        die("give -f HOSTS or -a ACCOUNTKEYS");
    }
    if (!nhosts)
        die("no hosts");
    ring = xrealloc(NULL, (size_t)nhosts * sizeof *ring);
    for (int i = 0; i < nhosts; i++)
        ring_put(i);
    if (o.conc > nhosts)
        o.conc = nhosts;
}

static void
save_hosts(void)
{
    FILE *f;

    if (!o.hosts_out)
        return;
    f = fopen(o.hosts_out, "w");
    if (!f)
        die("%s: %s", o.hosts_out, strerror(errno));
    for (int i = 0; i < nhosts; i++)
        if (hosts[i].id)
            fprintf(f, "%ld %s %ld\n", hosts[i].id, hosts[i].auth,
                    hosts[i].seq);
    fclose(f);
}

/* --------------------------------------------------------------- request */

static char *stderr_text;

static void
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

static void
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

/* ----------------------------------------------------------------- reply */

/* Text of the element whose start tag ends at p: *len is set; entities are
 * left alone (names have none). */
static const char *
elem(const char *p, const char *end, size_t *len)
{
    const char *q = memchr(p, '<', (size_t)(end - p));

    if (!q)
        q = end;
    while (p < q && isspace((unsigned char)*p))
        p++;
    *len = (size_t)(q - p);
    while (*len && isspace((unsigned char)p[*len - 1]))
        --*len;
    return p;
}

static void
put(char *dst, size_t cap, const char *s, size_t n)
{
    if (n >= cap)
        n = cap - 1;
    memcpy(dst, s, n);
    dst[n] = 0;
}

#define TAG(s) (tl == sizeof(s) - 1 && !memcmp(t, s, sizeof(s) - 1))

static int
find_av(const char *plat, const char *ver, const char *plan)
{
    for (int i = 0; i < navs; i++)
        if (!strcmp(avs[i].plat, plat) && !strcmp(avs[i].ver, ver) &&
            !strcmp(avs[i].plan, plan))
            return i;
    return 0;
}

static void
drop_named(struct hostst *h, const char *s, size_t n, int *lim)
{
    for (int i = 0; i < h->nq; i++)
        if (!strncmp(h->q[i]->name, s, n) && !h->q[i]->name[n]) {
            free(h->q[i]);
            memmove(&h->q[i], &h->q[i + 1],
                    (size_t)(h->nq - i - 1) * sizeof *h->q);
            h->nq--;
            if (i < *lim)
                --*lim;
            return;
        }
}

static void
scan_reply(struct hostst *h, const char *p, size_t len, int nrep)
{
    const char *end = p + len, *v;
    int in_result = 0, in_ack = 0, in_abort = 0, in_av = 0, ok = 0;
    int left = nrep, got = 0;
    char name[256] = "", wu[256] = "", plat[64] = "", plan[64] = "",
         ver[16] = "";
    char files[1024];
    size_t nf = 0, n;
    struct appver av;
    long newid = 0;

    memset(&av, 0, sizeof av);
    while (p < end && (p = memchr(p, '<', (size_t)(end - p)))) {
        const char *t = ++p, *q = memchr(p, '>', (size_t)(end - p));
        size_t tl;

        if (!q)
            break;
        for (tl = 0; t + tl < q && !isspace((unsigned char)t[tl]); tl++)
            ;
        p = q + 1;
        if (in_result) {
            if (TAG("name")) {
                v = elem(p, end, &n), put(name, sizeof name, v, n);
            } else if (TAG("wu_name")) {
                v = elem(p, end, &n), put(wu, sizeof wu, v, n);
            } else if (TAG("platform")) {
                v = elem(p, end, &n), put(plat, sizeof plat, v, n);
            } else if (TAG("plan_class")) {
                v = elem(p, end, &n), put(plan, sizeof plan, v, n);
            } else if (TAG("version_num")) {
                v = elem(p, end, &n), put(ver, sizeof ver, v, n);
            } else if (TAG("file_name")) {
                v = elem(p, end, &n);
                if (nf + n + 2 < sizeof files) {
                    memcpy(files + nf, v, n);
                    files[nf + n] = 0;
                    nf += n + 1;
                }
            } else if (TAG("/result")) {
                size_t a = strlen(name) + 1, b = strlen(wu) + 1,
                       c = strlen(plat) + 1, d = strlen(plan) + 1,
                       e = strlen(ver) + 1;
                struct job *j =
                    xrealloc(NULL, sizeof *j + a + b + c + d + e + nf + 1);
                char *s = (char *)(j + 1);

                j->name = memcpy(s, name, a), s += a;
                j->wu = memcpy(s, wu, b), s += b;
                j->plat = memcpy(s, plat, c), s += c;
                j->plan = memcpy(s, plan, d), s += d;
                j->ver = memcpy(s, ver, e), s += e;
                memcpy(s, files, nf), s[nf] = 0;
                j->files = s;
                j->avi = find_av(plat, ver, plan);
                j->t = wall_s();
                if (h->nq == h->capq) {
                    h->capq = h->capq ? h->capq * 2 : 8;
                    h->q = xrealloc(h->q, (size_t)h->capq * sizeof *h->q);
                }
                h->q[h->nq++] = j;
                got++;
                in_result = 0;
            }
            continue;
        }
        if (in_av) {
            if (TAG("app_name"))
                v = elem(p, end, &n), put(av.app, sizeof av.app, v, n);
            else if (TAG("version_num"))
                v = elem(p, end, &n), put(av.ver, sizeof av.ver, v, n);
            else if (TAG("platform"))
                v = elem(p, end, &n), put(av.plat, sizeof av.plat, v, n);
            else if (TAG("plan_class"))
                v = elem(p, end, &n), put(av.plan, sizeof av.plan, v, n);
            else if (TAG("api_version"))
                v = elem(p, end, &n), put(av.api, sizeof av.api, v, n);
            else if (TAG("flops"))
                v = elem(p, end, &n), put(av.flops, sizeof av.flops, v, n);
            else if (TAG("/app_version")) {
                int i;

                for (i = 0; i < navs; i++)
                    if (!strcmp(avs[i].app, av.app) &&
                        !strcmp(avs[i].ver, av.ver) &&
                        !strcmp(avs[i].plat, av.plat) &&
                        !strcmp(avs[i].plan, av.plan))
                        break;
                if (i == navs && navs < 32)
                    avs[navs++] = av;
                in_av = 0;
                if (counting)
                    st.app_versions++;
            }
            continue;
        }
        if (in_ack || in_abort) {
            if (TAG("name")) {
                v = elem(p, end, &n);
                drop_named(h, v, n, &left);
                if (counting) {
                    if (in_ack)
                        st.acks++;
                    else
                        st.aborts++;
                }
            } else if (TAG("/result_ack") || TAG("/result_abort")) {
                in_ack = in_abort = 0;
            }
            continue;
        }
        if (TAG("result")) {
            in_result = 1;
            name[0] = wu[0] = plat[0] = plan[0] = ver[0] = 0;
            nf = 0;
        } else if (TAG("result_ack")) {
            in_ack = 1;
        } else if (TAG("result_abort")) {
            in_abort = 1;
        } else if (TAG("app_version")) {
            memset(&av, 0, sizeof av);
            in_av = 1;
        } else if (TAG("workunit")) {
            if (counting)
                st.wus++;
        } else if (TAG("message")) {
            v = elem(p, end, &n);
            if (counting)
                note_msg(v, n);
        } else if (TAG("hostid")) {
            v = elem(p, end, &n);
            newid = strtol(v, NULL, 10);
        } else if (TAG("cross_project_id")) {
            v = elem(p, end, &n), put(h->cpid, sizeof h->cpid, v, n);
        } else if (TAG("request_delay")) {
            if (counting)
                st.delays++;
        } else if (TAG("project_is_down/") || TAG("project_is_down")) {
            if (counting)
                st.down++;
        } else if (TAG("code_sign_key")) {
            v = elem(p, end, &n);
            if (!*code_sign_key)
                put(code_sign_key, sizeof code_sign_key, v, n);
        } else if (TAG("/scheduler_reply")) {
            ok = 1;
        }
    }
    if (newid && newid != h->id) {
        h->id = newid;
        h->seq = 0;
        if (counting)
            st.newhost++;
    }
    h->seq++;
    if (!counting)
        return;
    if (!ok)
        st.bad_reply++;
    st.jobs += (unsigned long)got;
    if (got)
        st.with_jobs++;
    st.reported += (unsigned long)nrep;
    st.unacked += (unsigned long)left;
    st.asked += (unsigned long)o.jobs;
}

/* ----------------------------------------------------------- connections */

enum { C_IDLE, C_CONNECTING, C_SEND, C_RECV };

struct conn {
    int fd, state, reused;
    struct hostst *h;
    int nrep;
    struct buf out; /* header and body (body head in upload mode) */
    size_t off;     /* bytes of out, then of payload, sent */
    size_t payload; /* upload: bytes of the shared payload to send */
    struct buf in;
    size_t hdr_end; /* 0 until the header is in */
    long clen;      /* -1 unknown, -2 chunked */
    int status, close_after;
    double t0;
    int phase; /* upload: 0 size query, 1 data */
    char fname[96];
    const char *cert; /* upload: signature of the name, "" for none */
    uint32_t ev;
};

static int ep;
static struct addrinfo *addr;
static struct conn *conns;
static char *payload;
static char payload_md5[33] = "";
static unsigned long started, finished;
static long upload_no;
static int stopping;

static void
set_ev(struct conn *c, uint32_t ev)
{
    struct epoll_event e = {.events = ev, .data.ptr = c};

    if (c->ev == ev)
        return;
    if (epoll_ctl(ep, c->ev ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, &e))
        die("epoll_ctl: %s", strerror(errno));
    c->ev = ev;
}

static void
conn_close(struct conn *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->ev = 0;
}

static int
conn_open(struct conn *c)
{
    int one = 1;

    c->fd =
        socket(addr->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket: %s", strerror(errno));
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->ev = 0;
    c->reused = 0;
    if (connect(c->fd, addr->ai_addr, addr->ai_addrlen) && errno != EINPROGRESS)
        return -1;
    c->state = C_CONNECTING;
    set_ev(c, EPOLLOUT);
    return 0;
}

static void conn_done(struct conn *c, int ok);
static void conn_start(struct conn *c);

static void
conn_send_request(struct conn *c)
{
    c->off = 0;
    c->in.n = 0;
    c->hdr_end = 0;
    c->clen = -1;
    c->status = 0;
    c->close_after = !o.keepalive;
    if (c->fd >= 0) {
        c->reused = 1;
        c->state = C_SEND;
        set_ev(c, EPOLLOUT);
    } else if (conn_open(c)) {
        note_fail("connect refused");
        conn_close(c);
        conn_done(c, 0);
    }
}

/* put an HTTP header before the body that lies in body */
static void
frame(struct conn *c, const struct buf *body, size_t extra, const char *ctype)
{
    c->out.n = 0;
    buf_printf(&c->out,
               "POST %s HTTP/1.1\r\n"
               "Host: %s:%s\r\n"
               "User-Agent: BOINC client (%s %d.%d.%d)\r\n"
               "Accept: */*\r\n"
               "Accept-Language: en_US\r\n"
               "Content-Type: %s\r\n"
               "Content-Length: %zu\r\n"
               "%s\r\n",
               o.path, o.host, o.port, o.platform, o.vmajor, o.vminor,
               o.vrelease, ctype, body->n + extra,
               o.keepalive ? "" : "Connection: close\r\n");
    buf_add(&c->out, body->p, body->n);
}

/* names and certificates, as the program "certificates" prints them */
static struct cert {
    char *name, *sig;
} * certs;
static long ncerts;

static void
load_certs(void)
{
    FILE *f = fopen(o.certs, "r");
    char line[512];
    struct buf sig = {0};
    long cap = 0;

    if (!f)
        die("%s: %s", o.certs, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        if (ncerts == cap) {
            cap = cap ? cap * 2 : 4096;
            certs = xrealloc(certs, (size_t)cap * sizeof *certs);
        }
        line[strcspn(line, "\n")] = 0;
        certs[ncerts].name = strdup(line);
        sig.n = 0;
        while (fgets(line, sizeof line, f)) {
            buf_puts(&sig, line);
            if (line[0] == '.')
                break;
        }
        certs[ncerts].sig = strdup(sig.p ? sig.p : "");
        if (!certs[ncerts].name || !certs[ncerts].sig)
            die("out of memory");
        ncerts++;
    }
    fclose(f);
    free(sig.p);
}

static void
upload_name(struct conn *c)
{
    if (certs) {
        snprintf(c->fname, sizeof c->fname, "%s", certs[upload_no].name);
        c->cert = certs[upload_no].sig;
    } else {
        snprintf(c->fname, sizeof c->fname, "upl_%d_%ld_0_0", (int)getpid(),
                 upload_no);
        c->cert = "";
    }
    upload_no++;
}

static void
upload_prepare(struct conn *c)
{
    static struct buf body;

    body.n = 0;
    c->payload = 0;
    buf_printf(&body,
               "<data_server_request>\n"
               "    <core_client_major_version>%d</core_client_major_version>\n"
               "    <core_client_minor_version>%d</core_client_minor_version>\n"
               "    <core_client_release>%d</core_client_release>\n",
               o.vmajor, o.vminor, o.vrelease);
    if (c->phase == 0) {
        buf_printf(&body,
                   "    <get_file_size>%s</get_file_size>\n"
                   "</data_server_request>\n",
                   c->fname);
    } else {
        buf_printf(&body,
                   "<file_upload>\n<file_info>\n<name>%s</name>\n"
                   "<xml_signature>\n%s</xml_signature>\n"
                   "<max_nbytes>%ld</max_nbytes>\n</file_info>\n"
                   "<nbytes>%ld</nbytes>\n<md5_cksum>%s</md5_cksum>\n"
                   "<offset>0</offset>\n<data>\n",
                   c->fname, c->cert, o.bytes * 2, o.bytes, payload_md5);
        c->payload = (size_t)o.bytes;
    }
    frame(c, &body, c->payload, "text/xml");
}

static double t_begin, next_slot;

static int
may_start(void)
{
    if (stopping)
        return 0;
    if (o.count && (long)started >= o.count)
        return 0;
    if (certs && upload_no >= ncerts)
        return 0;
    return 1;
}

static void
conn_start(struct conn *c)
{
    static struct buf body;

    c->state = C_IDLE;
    if (!may_start() || (!o.upload && !ring_n))
        return;
    if (o.rate > 0) {
        double t = now_s();

        if (next_slot > t)
            return; /* the main loop tries again */
        if (next_slot < t - 1)
            next_slot = t - 1;
        next_slot += 1 / o.rate;
    }
    started++;
    c->t0 = now_s();
    if (o.upload) {
        upload_name(c);
        c->phase = o.query_size ? 0 : 1;
        upload_prepare(c);
    } else {
        c->h = &hosts[ring_get()];
        body.n = 0;
        build_rpc(c->h, &body, &c->nrep);
        c->payload = 0;
        frame(c, &body, 0, "application/x-www-form-urlencoded");
    }
    conn_send_request(c);
}

static void
conn_done(struct conn *c, int ok)
{
    if (c->fd >= 0 && (!ok || c->close_after))
        conn_close(c);
    if (ok && o.upload && c->phase == 0) {
        c->phase = 1;
        upload_prepare(c);
        conn_send_request(c);
        return;
    }
    if (ok) {
        finished++;
        if (counting)
            st.rpcs++;
        note_lat(now_s() - c->t0);
    }
    if (!o.upload)
        ring_put(c->h->idx);
    conn_start(c);
}

/* a connection that failed: before the first byte on a reused connection it
 * may simply have been closed under us, so that is tried once more */
static void
conn_fail(struct conn *c, const char *why)
{
    conn_close(c);
    if (c->reused && !c->in.n) {
        c->reused = 0;
        if (counting)
            st.retries++;
        conn_send_request(c);
        return;
    }
    note_fail(why);
    conn_done(c, 0);
}

static const char *
find_hdr(const char *h, const char *end, const char *name)
{
    size_t n = strlen(name);

    while (h < end) {
        const char *e = memchr(h, '\n', (size_t)(end - h));

        if (!e)
            break;
        if ((size_t)(e - h) > n && !strncasecmp(h, name, n) && h[n] == ':') {
            h += n + 1;
            while (*h == ' ')
                h++;
            return h;
        }
        h = e + 1;
    }
    return NULL;
}

/* is the body complete?  Chunked bodies are joined in place. */
static int
body_complete(struct conn *c, int eof)
{
    char *b = c->in.p + c->hdr_end;
    size_t n = c->in.n - c->hdr_end;

    if (c->clen >= 0)
        return n >= (size_t)c->clen;
    if (c->clen == -1)
        return eof;
    char *p = b, *end = b + n;
    for (;;) {
        char *e = memchr(p, '\n', (size_t)(end - p));
        size_t len;

        if (!e)
            return 0;
        len = strtoul(p, NULL, 16);
        if ((size_t)(end - e - 1) < len + 2)
            return 0;
        p = e + 1 + len + 2;
        if (!len)
            break;
    }
    char *w = b;
    for (p = b;;) {
        char *e = memchr(p, '\n', (size_t)(end - p));
        size_t len = strtoul(p, NULL, 16);

        if (!len)
            break;
        memmove(w, e + 1, len);
        w += len;
        p = e + 1 + len + 2;
    }
    c->in.n = (size_t)(w - c->in.p);
    *w = 0;
    return 1;
}

static void
got_reply(struct conn *c)
{
    char why[48];
    const char *b = c->in.p + c->hdr_end;
    size_t n = c->in.n - c->hdr_end;

    if (c->status != 200) {
        snprintf(why, sizeof why, "HTTP status %d", c->status);
        note_fail(why);
        if (o.verbose)
            fprintf(stderr, "%.*s\n", (int)n, b);
        conn_close(c);
        conn_done(c, 0);
        return;
    }
    if (o.verbose > 1)
        fprintf(stderr, "---- reply\n%.*s\n", (int)n, b);
    if (o.upload) {
        if (!strstr(b, "<status>0</status>") && counting) {
            st.bad_reply++;
            note_msg(b, n);
        }
    } else {
        scan_reply(c->h, b, n, c->nrep);
    }
    conn_done(c, 1);
}

static void
conn_read(struct conn *c)
{
    for (;;) {
        ssize_t r;
        int eof = 0;

        buf_need(&c->in, 16384);
        r = recv(c->fd, c->in.p + c->in.n, c->in.cap - c->in.n - 1, 0);
        if (r < 0) {
            if (errno == EAGAIN)
                return;
            conn_fail(c, strerror(errno));
            return;
        }
        if (r == 0)
            eof = 1;
        c->in.n += (size_t)r;
        c->in.p[c->in.n] = 0;
        if (counting)
            st.in += (unsigned long long)r;
        if (!c->hdr_end && c->in.n) {
            char *e = strstr(c->in.p, "\r\n\r\n");

            if (e) {
                const char *v, *he = e + 2;

                c->hdr_end = (size_t)(e + 4 - c->in.p);
                c->status = atoi(c->in.p + 9);
                v = find_hdr(c->in.p, he, "Content-Length");
                if (v)
                    c->clen = atol(v);
                v = find_hdr(c->in.p, he, "Transfer-Encoding");
                if (v && !strncasecmp(v, "chunked", 7))
                    c->clen = -2;
                v = find_hdr(c->in.p, he, "Connection");
                if (v && !strncasecmp(v, "close", 5))
                    c->close_after = 1;
                if (c->clen == -1)
                    c->close_after = 1;
            }
        }
        if (c->hdr_end && body_complete(c, eof)) {
            got_reply(c);
            return;
        }
        if (eof) {
            conn_fail(c, c->in.n ? "connection closed in reply"
                                 : "connection closed before reply");
            return;
        }
    }
}

static void
conn_write(struct conn *c)
{
    size_t total = c->out.n + c->payload;

    while (c->off < total) {
        ssize_t r;

        if (c->off < c->out.n)
            r = send(c->fd, c->out.p + c->off, c->out.n - c->off,
                     MSG_NOSIGNAL | (c->payload ? MSG_MORE : 0));
        else
            r = send(c->fd, payload + (c->off - c->out.n), total - c->off,
                     MSG_NOSIGNAL);
        if (r < 0) {
            if (errno == EAGAIN) {
                set_ev(c, EPOLLOUT);
                return;
            }
            conn_fail(c, strerror(errno));
            return;
        }
        c->off += (size_t)r;
        if (counting)
            st.out += (unsigned long long)r;
    }
    c->state = C_RECV;
    set_ev(c, EPOLLIN);
}

static void
conn_event(struct conn *c)
{
    if (c->state == C_CONNECTING) {
        int err = 0;
        socklen_t l = sizeof err;

        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &err, &l);
        if (err) {
            conn_fail(c, strerror(err));
            return;
        }
        c->state = C_SEND;
    }
    if (c->state == C_SEND)
        conn_write(c);
    else if (c->state == C_RECV)
        conn_read(c);
    else if (c->state == C_IDLE && c->fd >= 0)
        conn_close(c); /* server closed an idle connection */
}

/* ------------------------------------------------------------------- main */

static int
cmp_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static double
pct(double p)
{
    size_t i;

    if (!st.nlat)
        return 0;
    i = (size_t)(p * (double)(st.nlat - 1) + 0.5);
    return st.lat[i] / 1000.0;
}

static void
parse_url(void)
{
    char *p = o.url, *s, *e;

    if (strncmp(p, "http://", 7))
        die("only http:// URLs are supported");
    p += 7;
    s = strchr(p, '/');
    e = s ? s : p + strlen(p);
    snprintf(o.host, sizeof o.host, "%.*s", (int)(e - p), p);
    snprintf(o.path, sizeof o.path, "%s", s ? s : "/");
    snprintf(o.port, sizeof o.port, "80");
    s = strrchr(o.host, ':');
    if (s) {
        snprintf(o.port, sizeof o.port, "%s", s + 1);
        *s = 0;
    }
}

static void
on_sig(int s)
{
    (void)s;
    stopping = 1;
}

static void
usage(void)
{
    fputs(
        "usage: rpcload -u URL (-f HOSTS | -a KEYS) [options]      scheduler "
        "RPCs\n"
        "       rpcload -U -u URL -b BYTES -m MD5 [options]         file "
        "uploads\n"
        "  -u URL       scheduler (or upload handler) URL, http only\n"
        "  -f FILE      hosts: lines 'hostid authenticator [rpc_seqno]'\n"
        "  -a FILE      account keys, one a line: hosts make first contact\n"
        "  -o FILE      write the hosts and their sequence numbers at the end\n"
        "  -H N         use at most N hosts                          (1000)\n"
        "  -c N         concurrent requests                          (4)\n"
        "  -s SECS      run time                                     (10)\n"
        "  -n N         stop after N requests\n"
        "  -w SECS      warm-up left out of the figures              (0)\n"
        "  -j N         jobs asked per RPC, 0 asks for none          (1)\n"
        "  -J SECS      seconds of work asked per job                (1)\n"
        "  -r 0|1       report the jobs got earlier                  (1)\n"
        "  -K N         jobs a host keeps in progress before it reports (0)\n"
        "  -M N         results reported at most per RPC             (256)\n"
        "  -x FRAC      fraction of results reported as errors       (0)\n"
        "  -k 0|1       HTTP keep-alive                              (0)\n"
        "  -e BYTES     stderr text per result                       (1024)\n"
        "  -E SECS      run time reported per result, at most the time the\n"
        "               host held the job                            (3600)\n"
        "  -N N         CPUs per host                                (16)\n"
        "  -p NAME      platform                 (x86_64-pc-linux-gnu)\n"
        "  -A NAME      alternate platform, may be empty (i686-pc-linux-gnu)\n"
        "  -R N         at most N requests/s (paced)\n"
        "  -t SECS      request timeout                              (60)\n"
        "  -S SEED      random seed\n"
        "  -C FILE      upload: names and certificates, each once\n"
        "  -q           upload: ask for the file size first\n"
        "  -l LABEL     label in the one-line summary\n"
        "  -v           show failed replies; -vv all replies\n",
        stderr);
    exit(2);
}

int
main(int argc, char **argv)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct epoll_event evs[256];
    struct rusage ru0, ru1;
    double t, t1, t_count = 0, last_scan = 0, el, cpu;
    int ch, i, live;

    while (
        (ch = getopt(
             argc, argv,
             "u:f:a:o:H:c:s:n:w:j:J:r:K:M:x:k:e:E:N:p:A:R:t:S:Ub:m:ql:vC:")) !=
        -1)
        switch (ch) {
        case 'u':
            o.url = optarg;
            break;
        case 'f':
            o.hosts_in = optarg;
            break;
        case 'a':
            o.auths = optarg;
            break;
        case 'o':
            o.hosts_out = optarg;
            break;
        case 'H':
            o.nhosts = atoi(optarg);
            break;
        case 'c':
            o.conc = atoi(optarg);
            break;
        case 's':
            o.secs = atof(optarg);
            break;
        case 'n':
            o.count = atol(optarg);
            break;
        case 'w':
            o.warmup = atof(optarg);
            break;
        case 'j':
            o.jobs = atoi(optarg);
            break;
        case 'J':
            o.job_secs = atof(optarg);
            break;
        case 'r':
            o.report = atoi(optarg);
            break;
        case 'K':
            o.keep = atoi(optarg);
            break;
        case 'M':
            o.max_report = atoi(optarg);
            break;
        case 'x':
            o.error_frac = atof(optarg);
            break;
        case 'k':
            o.keepalive = atoi(optarg);
            break;
        case 'e':
            o.stderr_bytes = atoi(optarg);
            break;
        case 'E':
            o.elapsed = atof(optarg);
            break;
        case 'N':
            o.ncpus = atoi(optarg);
            break;
        case 'p':
            o.platform = optarg;
            break;
        case 'A':
            o.alt_platform = optarg;
            break;
        case 'R':
            o.rate = atof(optarg);
            break;
        case 't':
            o.timeout = atof(optarg);
            break;
        case 'S':
            rng_state ^= strtoull(optarg, NULL, 10) * 0x2545f4914f6cdd1dull;
            break;
        case 'U':
            o.upload = 1;
            break;
        case 'b':
            o.bytes = atol(optarg);
            break;
        case 'm':
            snprintf(payload_md5, sizeof payload_md5, "%s", optarg);
            break;
        case 'C':
            o.certs = optarg;
            break;
        case 'q':
            o.query_size = 1;
            break;
        case 'l':
            o.label = optarg;
            break;
        case 'v':
            o.verbose++;
            break;
        default:
            usage();
        }
    if (!o.url || optind != argc || o.conc < 1)
        usage();
    parse_url();
    if ((i = getaddrinfo(o.host, o.port, &hints, &addr)))
        die("%s: %s", o.host, gai_strerror(i));
    signal(SIGINT, on_sig);
    signal(SIGTERM, on_sig);
    if (o.upload) {
        /* a payload of 'x': `head -c BYTES /dev/zero | tr '\0' x | md5sum` */
        payload = xrealloc(NULL, (size_t)o.bytes);
        memset(payload, 'x', (size_t)o.bytes);
        if (o.certs)
            load_certs();
    } else {
        load_hosts();
        make_stderr_text();
    }
    ep = epoll_create1(EPOLL_CLOEXEC);
    conns = calloc((size_t)o.conc, sizeof *conns);
    if (ep < 0 || !conns)
        die("set-up failed");
    getrusage(RUSAGE_SELF, &ru0);
    t_begin = next_slot = now_s();
    if (o.warmup <= 0)
        counting = 1, t_count = t_begin;
    for (i = 0; i < o.conc; i++) {
        conns[i].fd = -1;
        conn_start(&conns[i]);
    }
    for (;;) {
        int n = epoll_wait(ep, evs, 256, o.rate > 0 ? 1 : 100);

        for (i = 0; i < n; i++)
            conn_event(evs[i].data.ptr);
        t = now_s();
        if (!counting && t - t_begin >= o.warmup) {
            counting = 1, t_count = t;
            getrusage(RUSAGE_SELF, &ru0);
        }
        if (t - t_begin >= o.secs + o.warmup && (!o.count || o.secs != 10))
            stopping = 1;
        if (o.rate > 0)
            for (i = 0; i < o.conc && next_slot <= t; i++)
                if (conns[i].state == C_IDLE)
                    conn_start(&conns[i]);
        if (t - last_scan > 0.5) {
            last_scan = t;
            for (i = 0; i < o.conc; i++)
                if (conns[i].state != C_IDLE && t - conns[i].t0 > o.timeout) {
                    if (counting)
                        st.timeouts++;
                    conns[i].reused = 0;
                    conn_fail(&conns[i], "timeout");
                } else if (conns[i].state == C_IDLE && o.rate <= 0) {
                    conn_start(&conns[i]);
                }
        }
        for (live = i = 0; i < o.conc; i++)
            live += conns[i].state != C_IDLE;
        if (!live && !may_start())
            break;
    }
    t1 = now_s();
    getrusage(RUSAGE_SELF, &ru1);
    el = t1 - t_count;
    if (el <= 0)
        el = 1e-9;
    cpu = (double)(ru1.ru_utime.tv_sec - ru0.ru_utime.tv_sec) +
          (double)(ru1.ru_utime.tv_usec - ru0.ru_utime.tv_usec) * 1e-6 +
          (double)(ru1.ru_stime.tv_sec - ru0.ru_stime.tv_sec) +
          (double)(ru1.ru_stime.tv_usec - ru0.ru_stime.tv_usec) * 1e-6;
    qsort(st.lat, st.nlat, sizeof *st.lat, cmp_u32);
    save_hosts();

    printf("%s%srpcs=%lu secs=%.2f rpc_s=%.1f", o.label, *o.label ? " " : "",
           st.rpcs, el, (double)st.rpcs / el);
    if (o.upload)
        printf(" mb_s=%.1f", (double)st.rpcs * (double)o.bytes / el / 1e6);
    else
        printf(" jobs=%lu job_s=%.1f asked=%lu reported=%lu acks=%lu "
               "unacked=%lu aborts=%lu",
               st.jobs, (double)st.jobs / el, st.asked, st.reported, st.acks,
               st.unacked, st.aborts);
    printf(" p50=%.2f p95=%.2f p99=%.2f max=%.2f ms", pct(.5), pct(.95),
           pct(.99), pct(1));
    printf(" out_kb=%.2f in_kb=%.2f (per request)",
           st.rpcs ? (double)st.out / (double)st.rpcs / 1000 : 0,
           st.rpcs ? (double)st.in / (double)st.rpcs / 1000 : 0);
    printf(" total=%lu", finished);
    printf(" http_fail=%lu bad=%lu timeouts=%lu retries=%lu", st.http_fail,
           st.bad_reply, st.timeouts, st.retries);
    if (!o.upload)
        printf(" newhost=%lu down=%lu messages=%lu delays=%lu", st.newhost,
               st.down, st.messages, st.delays);
    printf(" gen_cpu=%.1f%%\n", 100 * cpu / el);
    for (i = 0; i < nmsgs; i++)
        printf("  message x%lu: %s\n", msgs[i].n, msgs[i].text);
    for (i = 0; i < nfails; i++)
        printf("  failure x%lu: %s\n", fails[i].n, fails[i].text);
    return st.rpcs ? 0 : 1;
}

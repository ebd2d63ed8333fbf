/*
 * rpcload.c - many volunteer hosts against a scheduler's URL, or many uploads
 * against an upload handler's; says what they got, how fast, and how late.
 *
 * One thread, epoll, HTTP/1.1, closed loop over C connections (or paced with
 * -R).  It knows only the public protocols; see README.md.
 */
#include "rpcload.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

struct options o = {
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

static struct conn *conns;
static double t_begin;

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
            rng_seed(strtoull(optarg, NULL, 10));
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

/* rpcload.h - what the parts of rpcload share. */
#ifndef RPCLOAD_H
#define RPCLOAD_H

#include <netdb.h>
#include <stddef.h>
#include <stdint.h>

/* ---- rpcload_base.c: memory, clocks, chance, text ---- */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *xrealloc(void *p, size_t n);
double now_s(void);  /* monotonic */
double wall_s(void); /* since 1970 */
uint64_t rng(void);
void rng_seed(uint64_t seed);

struct buf {
    char *p;
    size_t n, cap;
};

void buf_need(struct buf *b, size_t more);
void buf_add(struct buf *b, const char *s, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- rpcload.c: options ---- */
extern struct options {
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
} o;

/* ---- rpcload_stats.c: what happened since the warm-up ---- */
extern int counting; /* past the warm-up */
extern struct stats {
    unsigned long rpcs, http_fail, bad_reply, timeouts, retries;
    unsigned long jobs, acks, reported, unacked, aborts, errors_reported;
    unsigned long messages, down, delays, newhost, with_jobs, asked;
    unsigned long app_versions, wus;
    unsigned long long out, in;
    uint32_t *lat; /* microseconds */
    size_t nlat, caplat;
} st;

#define MAXMSG 24
extern struct message {
    char text[160];
    unsigned long n;
} msgs[MAXMSG];
#define MAXFAIL 12
extern struct failure {
    char text[96];
    unsigned long n;
} fails[MAXFAIL];
extern int nmsgs, nfails;
void note_fail(const char *what);
void note_msg(const char *s, size_t n);
void note_lat(double s);

/* ---- rpcload_hosts.c ---- */
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

extern struct hostst *hosts;
extern int nhosts, ring_n; /* all; how many are idle */
void ring_put(int h);
int ring_get(void); /* the one that is idle for the longest time */
void load_hosts(void);
void save_hosts(void);

/* ---- rpcload_request.c, rpcload_reply.c ---- */
/* app versions and signing key the project told us, shared by all hosts */
struct appver {
    char app[128], ver[16], plat[64], plan[64], api[32], flops[32];
};
extern struct appver avs[32];
extern int navs;
extern char code_sign_key[4096];
void make_stderr_text(void);
void build_rpc(struct hostst *h, struct buf *b, int *nrep);
void scan_reply(struct hostst *h, const char *p, size_t len, int nrep);

/* ---- rpcload_conn.c: connections ---- */
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

extern int ep;
extern struct addrinfo *addr;
extern char *payload;
extern char payload_md5[33];
extern unsigned long started, finished;
extern int stopping;
extern double next_slot; /* with -R: when the next request may begin */
int may_start(void);
void conn_start(struct conn *c);
void conn_event(struct conn *c);
void conn_fail(struct conn *c, const char *why);
void load_certs(void);

#endif

/* rpcload_reply.c - what a scheduler's reply brings. */
#include "rpcload.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct appver avs[32];
int navs;
char code_sign_key[4096];

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

void
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

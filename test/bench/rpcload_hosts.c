/* rpcload_hosts.c - the computers that rpcload plays. */
#include "rpcload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hostst *hosts;
int nhosts, ring_n;
static int *ring, ring_head; /* idle hosts, oldest first */

void
ring_put(int h)
{
    ring[(ring_head + ring_n++) % nhosts] = h;
}

int
ring_get(void)
{
    int h = ring[ring_head];

    ring_head = (ring_head + 1) % nhosts;
    ring_n--;
    return h;
}

void
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

void
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

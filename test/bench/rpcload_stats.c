/* rpcload_stats.c - what happened to the requests of rpcload. */
#include "rpcload.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

int counting;
struct stats st;
struct message msgs[MAXMSG];
struct failure fails[MAXFAIL];
int nmsgs, nfails;

void
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

void
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

void
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

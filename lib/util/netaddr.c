/* netaddr.c - network addresses: who sent this request? */
#include "netaddr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

enum { V4_AT = 12, V4_BITS = 96 }; /* where IPv4 lies in IPv6 */

static const unsigned char v4_prefix[V4_AT] = {[10] = 0xff, [11] = 0xff};

static bool
is_v4(const struct netaddr *a)
{
    return memcmp(a->bytes, v4_prefix, V4_AT) == 0;
}

static bool
parse_plain(const char *text, struct netaddr *ret)
{
    memcpy(ret->bytes, v4_prefix, V4_AT);
    return inet_pton(AF_INET, text, ret->bytes + V4_AT) == 1 ||
           inet_pton(AF_INET6, text, ret->bytes) == 1;
}

bool
netaddr_parse(const char *text, struct netaddr *ret)
{
    char copy[NETADDR_TEXT + 8];
    char *end, *colon;

    if (!str_copy(copy, sizeof(copy), text))
        return false;
    if (parse_plain(copy, ret))
        return true;
    if (copy[0] == '[') { /* "[address]" or "[address]:port" */
        end = strchr(copy, ']');
        if (end == NULL || (end[1] != '\0' && end[1] != ':'))
            return false;
        *end = '\0';
        return parse_plain(copy + 1, ret);
    }
    colon = strchr(copy, ':'); /* "address:port" */
    if (colon == NULL || strchr(colon + 1, ':') != NULL)
        return false;
    *colon = '\0';
    return parse_plain(copy, ret);
}

/* "address" or "address/bits" -> the address and how many bits count. */
static bool
parse_network(const char *text, struct netaddr *ret, int *ret_bits)
{
    const char *slash = strchr(text, '/');
    char address[NETADDR_TEXT];
    size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
    char *end;
    long bits;

    if (n >= sizeof(address))
        return false;
    memcpy(address, text, n);
    address[n] = '\0';
    if (!parse_plain(address, ret))
        return false;
    *ret_bits = 128;
    if (slash == NULL)
        return true;
    bits = strtol(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '\0' || bits < 0 ||
        bits > (is_v4(ret) ? 32 : 128))
        return false;
    *ret_bits = (int)bits + (is_v4(ret) ? V4_BITS : 0);
    return true;
}

bool
netaddr_is_network(const char *text)
{
    struct netaddr a;
    int bits;

    return parse_network(text, &a, &bits);
}

bool
netaddr_in(const struct netaddr *a, const char *network)
{
    struct netaddr net;
    int bits, whole;

    if (!parse_network(network, &net, &bits))
        return false;
    whole = bits / 8;
    if (memcmp(a->bytes, net.bytes, (size_t)whole) != 0)
        return false;
    return bits % 8 == 0 ||
           (a->bytes[whole] ^ net.bytes[whole]) >> (8 - bits % 8) == 0;
}

static void
put_text(const struct netaddr *a, char ret[NETADDR_TEXT])
{
    if (is_v4(a))
        inet_ntop(AF_INET, a->bytes + V4_AT, ret, NETADDR_TEXT);
    else
        inet_ntop(AF_INET6, a->bytes, ret, NETADDR_TEXT);
}

static bool
is_trusted(const struct netaddr *a, char *const *trusted, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (netaddr_in(a, trusted[i]))
            return true;
    return false;
}

/* The last item of the list that ends at *end, without blanks; *end moves in
 * front of it.  False: there is none, or it is no address. */
static bool
last_address(const char *list, size_t *end, struct netaddr *ret)
{
    char item[NETADDR_TEXT + 8];
    size_t from = *end, to = *end;

    while (from > 0 && list[from - 1] != ',')
        from--;
    *end = from > 0 ? from - 1 : 0;
    while (from < to && (list[from] == ' ' || list[from] == '\t'))
        from++;
    while (to > from && (list[to - 1] == ' ' || list[to - 1] == '\t'))
        to--;
    if (to == from || to - from >= sizeof(item))
        return false;
    memcpy(item, list + from, to - from);
    item[to - from] = '\0';
    return netaddr_parse(item, ret);
}

void
netaddr_client(const char *remote, const char *forwarded, char *const *trusted,
               size_t n_trusted, char ret[NETADDR_TEXT])
{
    struct netaddr a, before;
    size_t end = strlen(forwarded);

    if (!netaddr_parse(remote, &a)) {
        (void)str_copy(ret, NETADDR_TEXT, remote);
        return;
    }
    while (end > 0 && is_trusted(&a, trusted, n_trusted) &&
           last_address(forwarded, &end, &before))
        a = before;
    put_text(&a, ret);
}

void
netaddr_group(const char *address, char ret[NETADDR_TEXT])
{
    struct netaddr a;

    if (!netaddr_parse(address, &a)) {
        (void)str_copy(ret, NETADDR_TEXT, address);
        return;
    }
    if (!is_v4(&a))
        memset(a.bytes + 8, 0, 8);
    put_text(&a, ret);
}

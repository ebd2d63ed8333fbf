/* netaddr.h - network addresses: who sent this request? */
#ifndef QUORATE_NETADDR_H
#define QUORATE_NETADDR_H

#include <stdbool.h>
#include <stddef.h>

#define NETADDR_TEXT 46 /* of the longest address, with NUL */

struct netaddr {
    unsigned char bytes[16]; /* IPv4 as IPv6 sees it: ::ffff:a.b.c.d */
};

/* "192.0.2.7", "2001:db8::1"; with a port ("192.0.2.7:80", "[2001:db8::1]:80")
 * as some proxies write.  False: no address. */
bool netaddr_parse(const char *text, struct netaddr *ret);

/* Is the address this one, or inside this network ("10.0.0.0/8",
 * "2001:db8::/32")?  False also if the network cannot be read. */
bool netaddr_in(const struct netaddr *, const char *network);

/* Can it be read as an address or a network? */
bool netaddr_is_network(const char *text);

/* The address of the client: `remote`, the peer of the connection; or, if that
 * is one of the trusted proxies, the last address of `forwarded`
 * (X-Forwarded-For: client, proxy, proxy) that is none of them.  What stands
 * left of an untrusted address can be anybody's invention.  "" if unknown. */
void netaddr_client(const char *remote, const char *forwarded,
                    char *const *trusted, size_t n_trusted,
                    char ret[NETADDR_TEXT]);

/* What attempts are counted by: an IPv4 address, the first half of an IPv6
 * address (one customer has all of the second).  The text itself, cut, if it is
 * no address. */
void netaddr_group(const char *address, char ret[NETADDR_TEXT]);

#endif

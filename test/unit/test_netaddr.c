/* test_netaddr.c - who sent this request: only proxies of ours are believed. */
#include <check.h>
#include <string.h>

#include "buf.h"
#include "netaddr.h"
#include "unit_test.h"

static const struct {
    const char *address, *network;
    bool inside;
} networks[] = {
    {"10.1.2.3",         "10.0.0.0/8",    true },
    {"11.0.0.0",         "10.0.0.0/8",    false},
    {"10.255.255.255",   "10.0.0.0/8",    true },
    {"192.0.2.7",        "192.0.2.7",     true },
    {"192.0.2.8",        "192.0.2.7",     false},
    {"192.0.2.8",        "192.0.2.8/31",  true },
    {"192.0.2.10",       "192.0.2.8/31",  false},
    {"192.0.2.7",        "0.0.0.0/0",     true },
    {"::1",              "0.0.0.0/0",     false}, /* of IPv4 only */
    {"192.0.2.7",        "192.0.2.7/32",  true },
    {"::ffff:192.0.2.7", "192.0.2.7",     true },
    {"2001:db8::1",      "2001:db8::/32", true },
    {"2001:db9::1",      "2001:db8::/32", false},
    {"2001:db8:8000::1", "2001:db8::/33", false},
    {"::1",              "::1",           true },
    {"192.0.2.7",        "",              false},
    {"192.0.2.7",        "192.0.2.7/33",  false},
    {"192.0.2.7",        "192.0.2.7/",    false},
    {"192.0.2.7",        "192.0.2.7/8x",  false},
    {"192.0.2.7",        "proxy.example", false},
};

START_TEST(inside_a_network)
{
    struct netaddr a;

    ck_assert(netaddr_parse(networks[_i].address, &a));
    ck_assert_msg(netaddr_in(&a, networks[_i].network) == networks[_i].inside,
                  "%s in %s", networks[_i].address, networks[_i].network);
}
END_TEST

static char net[] = "10.0.0.0/8", loop[] = "::1";
static char *const proxies[] = {net, loop};

static const struct {
    const char *promise, *remote, *forwarded, *want;
} clients[] = {
    {"the peer itself",                         "192.0.2.7",        "",                      "192.0.2.7"   },
    {"who is no proxy of ours is not believed", "192.0.2.7",        "198.51.100.1",
     "192.0.2.7"                                                                                           },
    {"a proxy of ours tells the client",        "10.0.0.1",         "198.51.100.1",
     "198.51.100.1"                                                                                        },
    {"only what our proxies added counts",      "10.0.0.1",
     "203.0.113.9, 198.51.100.1",                                                            "198.51.100.1"},
    {"two proxies of ours in a row",            "10.0.0.1",
     "203.0.113.9, 198.51.100.1 ,10.9.9.9",                                                  "198.51.100.1"},
    {"nobody but proxies",                      "10.0.0.1",         "10.9.9.9,10.8.8.8",     "10.9.9.9"    },
    {"an IPv6 proxy, a client with a port",     "::1",              "[2001:DB8::1]:4711",
     "2001:db8::1"                                                                                         },
    {"IPv4 with a port",                        "::1",              "198.51.100.1:80",       "198.51.100.1"},
    {"rubbish is not followed",                 "10.0.0.1",         "198.51.100.1, unknown",
     "10.0.0.1"                                                                                            },
    {"nor an empty item",                       "10.0.0.1",         "198.51.100.1,",         "10.0.0.1"    },
    {"nor a long one",                          "10.0.0.1",
     "1111111111111111111111111111111111111111111111111111111111111111",                     "10.0.0.1"    },
    {"no peer at all",                          "",                 "198.51.100.1",          ""            },
    {"a mapped address is that of IPv4",        "::ffff:192.0.2.7", "",                      "192.0.2.7"   },
};

START_TEST(the_client)
{
    char got[NETADDR_TEXT];

    netaddr_client(clients[_i].remote, clients[_i].forwarded, proxies,
                   ARRAY_LEN(proxies), got);
    ck_assert_msg(strcmp(got, clients[_i].want) == 0, "broken: %s: '%s'",
                  clients[_i].promise, got);
}
END_TEST

static const struct {
    const char *address, *group;
} groups[] = {
    {"192.0.2.7",                       "192.0.2.7"     },
    {"2001:db8:1:2:3:4:5:6",            "2001:db8:1:2::"},
    {"2001:db8:1:2:ffff:ffff:ffff:fff", "2001:db8:1:2::"},
    {"",                                ""              },
    {"no address",                      "no address"    },
};

START_TEST(who_shares_a_count)
{
    char got[NETADDR_TEXT];

    netaddr_group(groups[_i].address, got);
    ck_assert_str_eq(got, groups[_i].group);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_loop_test(tc, inside_a_network, 0, ARRAY_LEN(networks));
    tcase_add_loop_test(tc, the_client, 0, ARRAY_LEN(clients));
    tcase_add_loop_test(tc, who_shares_a_count, 0, ARRAY_LEN(groups));
}

int
main(void)
{
    return unit_main("netaddr", fill);
}

/* fuzz_query.c - what comes with a web request: arguments, addresses. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cgi.h"
#include "fuzz.h"
#include "netaddr.h"
#include "utf8.h"

static void
check_arguments(const char *query)
{
    static const char *const names[] = {
        "email_addr", "passwd_hash", "user_name", "format", "a", ""};
    struct buf value = BUF_INIT;

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        buf_reset(&value);
        if (cgi_arg(query, names[i], &value)) {
            FUZZ_MUST(utf8_valid(buf_str(&value), value.len));
            FUZZ_MUST(strlen(buf_str(&value)) == value.len);
            FUZZ_MUST(value.len <= 3 * strlen(query));
        }
    }
    buf_free(&value);
}

/* A value that was encoded comes back as clean text, whatever it was. */
static void
check_encoded(const uint8_t *bytes, size_t n)
{
    struct buf query = BUF_INIT, given = BUF_INIT, want = BUF_INIT,
               got = BUF_INIT;

    buf_add(&query, "x=1&a=");
    for (size_t i = 0; i < n; i++) {
        buf_addf(&query, "%%%02x", (unsigned)bytes[i]);
        if (bytes[i] != 0)
            buf_addc(&given, (char)bytes[i]);
    }
    buf_add(&query, "&a=2");
    utf8_repair(buf_str(&given), given.len, &want);
    FUZZ_MUST(cgi_arg(buf_str(&query), "a", &got));
    FUZZ_MUST(strcmp(buf_str(&got), buf_str(&want)) == 0);
    buf_free(&query);
    buf_free(&given);
    buf_free(&want);
    buf_free(&got);
}

static void
check_addresses(const char *text)
{
    char four[] = "10.0.0.0/8", six[] = "2001:db8::/32";
    char *trusted[] = {four, six};
    char client[NETADDR_TEXT], group[NETADDR_TEXT], again[NETADDR_TEXT];
    struct netaddr address;

    netaddr_client(text, text, trusted, 2, client);
    netaddr_client("10.1.2.3", text, trusted, 2, client);
    FUZZ_MUST(memchr(client, '\0', sizeof(client)) != NULL);
    FUZZ_MUST(client[0] == '\0' || netaddr_parse(client, &address));
    netaddr_group(client, group);
    netaddr_group(group, again);
    FUZZ_MUST(strcmp(group, again) == 0);
    netaddr_group(text, group);
    FUZZ_MUST(memchr(group, '\0', sizeof(group)) != NULL);
    if (netaddr_parse(text, &address)) {
        netaddr_in(&address, text);
        FUZZ_MUST(!netaddr_in(&address, "255.255.255.255/99"));
    }
    netaddr_is_network(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);

    check_arguments(text);
    check_encoded(bytes, n);
    check_addresses(text);
    free(text);
    return 0;
}

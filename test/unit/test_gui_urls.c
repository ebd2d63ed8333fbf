/* test_gui_urls.c - the links that a client shows are those of its volunteer.
 */
#include <check.h>
#include <string.h>

#include "account.h"
#include "buf.h"
#include "gui_urls.h"
#include "host.h"
#include "unit_test.h"

static const struct user alice = {
    .id = 7,
    .name = "Alice & <co>",
    .authenticator = "0123456789abcdef0123456789abcdef",
    .passwd_hash = "b4af804009cb036a4ccdc33431ef9ac9",
};
static const struct host computer = {.id = 17};
static const struct team team = {.id = 4, .name = "A&B"};

/* The keys by md5sum(1): printf %s AUTHENTICATOR HASH [notify_rss] | md5sum */
static const struct {
    const char *promise, *text;
    bool in_team;
    const char *want;
} spec[] = {
    {"nothing to fill in",                    "<gui_urls>\n</gui_urls>\n",                             true,
     "<gui_urls>\n</gui_urls>\n"                                                                                                                                              },
    {"an empty file",                         "",                                                      true,  ""                                                              },
    {"ids",                                   "<url><master_url/>x?u=<userid/>&amp;h=<hostid/></url>", true,
     "<url>https://a.example/?&amp;/x?u=7&amp;h=17</url>"                                                                                                                     },
    {"names are escaped",
     "<name><user_name/> of <team_name/> in "
     "<project_name/></name>",                                                                         true,  "<name>Alice &amp; &lt;co&gt; of A&amp;B in Ex &lt;1&gt;</name>"},
    {"the account key",                       "a=<authenticator/>",                                    true,
     "a=0123456789abcdef0123456789abcdef"                                                                                                                                     },
    {"the weak key",                          "<weak_auth/>",                                          true,
     "7_dc60c0dc835d0cc2985d7458a87a4b4f"                                                                                                                                     },
    {"the key of the feed",                   "<rss_auth/>",                                           true,
     "7_7d60269864e35a0adb2e9d7c2c7a2350"                                                                                                                                     },
    {"a team's part",                         "a<ifteam>b <teamid/> c</ifteam>d",                      true,  "ab 4 cd"                                                       },
    {"is left out without a team",            "a<ifteam>b <teamid/> c</ifteam>d",                      false,
     "ad"                                                                                                                                                                     },
    {"two such parts",                        "<ifteam>1</ifteam>2<ifteam>3</ifteam>",                 false, "2"                                                             },
    {"no team has the number 0",              "<teamid/> <team_name/>.",                               false, "0 ."                                                           },
    {"a part that does not end is no part",   "a<ifteam>b",                                            false, "ab"                                                            },
    {"what looks like a placeholder is none", "<userid><hostid /><",                                   true,
     "<userid><hostid /><"                                                                                                                                                    },
};

START_TEST(fills_in)
{
    const struct gui_url_values v = {
        .master_url = "https://a.example/?&/",
        .project_name = "Ex <1>",
        .user = &alice,
        .host = &computer,
        .team = spec[_i].in_team ? &team : NULL,
    };
    struct buf out = BUF_INIT;

    gui_urls_expand(spec[_i].text, &v, &out);
    ck_assert_msg(strcmp(buf_str(&out), spec[_i].want) == 0, "broken: %s: '%s'",
                  spec[_i].promise, buf_str(&out));
    buf_free(&out);
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_loop_test(tc, fills_in, 0, ARRAY_LEN(spec));
}

int
main(void)
{
    return unit_main("gui_urls", fill);
}

/* fuzz_config.c - an operator's files: config.xml, config_aux.xml,
 * hr_classes.xml, mirrors, gui_urls.xml.  A fault is told with file and line.
 */
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "buf.h"
#include "config.h"
#include "fuzz.h"
#include "gui_urls.h"
#include "host.h"
#include "hr_table.h"
#include "job_limits.h"
#include "mirror.h"

/* Each line names the file. */
static void
check_faults(const struct buf *err, const char *file)
{
    const char *line = buf_str(err), *end;

    while (*line != '\0') {
        end = strchr(line, '\n');
        FUZZ_MUST(strstr(line, file) != NULL);
        line = end != NULL ? end + 1 : "";
    }
}

static void
check_config(const uint8_t *bytes, size_t n)
{
    struct buf err = BUF_INIT, out = BUF_INIT;
    struct config *cfg;

    unsetenv("QUORATE_DB_PASSWD");
    cfg = config_load(fuzz_file("config.xml", bytes, n), &err);

    if (cfg != NULL) {
        config_print(cfg, &out);
        FUZZ_MUST(cfg->db_passwd[0] == '\0' ||
                  strstr(buf_str(&out), "db_passwd = ******") != NULL);
        FUZZ_MUST(cfg->rpc_key[0] == '\0' ||
                  strstr(buf_str(&out), "rpc_key = ******") != NULL);
        config_free(cfg);
    } else {
        FUZZ_MUST(err.len > 0);
    }
    check_faults(&err, "config.xml");
    buf_free(&err);
    buf_free(&out);
}

static void
check_limits(const uint8_t *bytes, size_t n)
{
    struct buf err = BUF_INIT;
    struct job_limits limits;

    if (job_limits_load(fuzz_file("config_aux.xml", bytes, n), &limits, &err) !=
        0)
        FUZZ_MUST(err.len > 0);
    check_faults(&err, "config_aux.xml");
    job_limits_free(&limits);
    buf_free(&err);
}

static void
check_classes(const uint8_t *bytes, size_t n)
{
    struct buf err = BUF_INIT;
    struct hr_table table;

    if (hr_table_load(fuzz_file("hr_classes.xml", bytes, n), &table, &err) != 0)
        FUZZ_MUST(err.len > 0);
    for (size_t i = 0; i < table.n; i++)
        FUZZ_MUST(table.rule[i].id >= HR_TABLE_LEAST_ID &&
                  table.rule[i].id <= HR_TABLE_MOST_ID);
    check_faults(&err, "hr_classes.xml");
    hr_table_free(&table);
    buf_free(&err);
}

static void
check_texts(const char *text)
{
    struct user user = {.id = 7, .name = "A & B"};
    struct host host = {.id = 17};
    const struct gui_url_values values = {"http://example.org/", "Example",
                                          &user, &host, NULL};
    struct buf err = BUF_INIT, out = BUF_INIT;
    struct mirrors *m =
        mirrors_parse(text, "mirrors", "http://example.org/", 3, &err);

    if (m != NULL) {
        mirrors_replace(m, "<url>http://example.org/a</url>\n", 3600, 17, &out);
        mirrors_free(m);
    }
    buf_reset(&out);
    gui_urls_expand(text, &values, &out);
    check_faults(&err, "mirrors");
    buf_free(&err);
    buf_free(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);

    check_config(bytes, n);
    check_limits(bytes, n);
    check_classes(bytes, n);
    check_texts(text);
    free(text);
    return 0;
}

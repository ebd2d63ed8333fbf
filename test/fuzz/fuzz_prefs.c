/* fuzz_prefs.c - preferences, as pages and clients have stored them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "fuzz.h"
#include "prefs.h"
#include "xml.h"

static void
check_global(const char *text, const char *venue)
{
    struct global_prefs p;

    prefs_parse(text, venue, &p);
    FUZZ_MUST(isfinite(p.mod_time));
    FUZZ_MUST(isfinite(p.disk_max_used_gb) && isfinite(p.disk_min_free_gb));
    FUZZ_MUST(isfinite(p.work_buf_min_days) && isfinite(p.max_ncpus_pct));
}

static void
check_project(const char *text, const char *venue)
{
    struct buf err = BUF_INIT;
    struct project_prefs p;
    int rc = project_prefs_parse(text, venue, &p);

    FUZZ_MUST(p.max_jobs >= 0 && p.max_cpus >= 0);
    project_prefs_selects(&p, 1);
    if (rc == 0 && text[0] != '\0') { /* a reply may hold it */
        struct xml_doc *doc = xml_parse(text, strlen(text), "prefs", &err);

        FUZZ_MUST(doc != NULL);
        xml_free(doc);
    }
    project_prefs_free(&p);
    buf_free(&err);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);

    check_global(text, "");
    check_global(text, "home");
    check_project(text, "");
    check_project(text, "work");
    free(text);
    return 0;
}

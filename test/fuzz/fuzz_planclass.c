/* fuzz_planclass.c - plan_class_spec.xml, and what its classes say of a
 * computer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ability.h"
#include "account.h"
#include "buf.h"
#include "fuzz.h"
#include "host.h"
#include "plan_class.h"
#include "plan_class_file.h"

static void
ask(const struct plan_class_set *set)
{
    static const struct host host = {.p_ncpus = 8,
                                     .p_fpops = 4e9,
                                     .p_model = "Example CPU",
                                     .m_nbytes = 16e9,
                                     .os_name = "Linux"};
    static struct ability ability;
    static const struct project_prefs prefs;
    struct plan_class_host about = {
        .host = &host, .ability = &ability, .prefs = &prefs};
    struct plan_class_verdict verdict;

    about.primary_platform = "x86_64-pc-linux-gnu";
    about.client_version = 72005;
    about.ncpus = 8;
    about.usable_ram = 8e9;
    about.flops_per_cpu = 4e9;
    for (int type = 0; type < N_PROC_TYPES; type++)
        if (type != PROC_CPU)
            ability.gpu[type] = (struct gpu){.count = 2,
                                             .peak_flops = 1e12,
                                             .ram = 8e9,
                                             .driver_version = 53512,
                                             .has_cuda = true,
                                             .cuda_version = 12020};
    for (size_t i = 0; i < set->n; i++) {
        plan_class_check(&set->spec[i], &about, &verdict);
        if (verdict.refusal == PLAN_CLASS_OK) {
            FUZZ_MUST(isfinite(verdict.usage.avg_ncpus));
            FUZZ_MUST(isfinite(verdict.usage.projected_flops));
            FUZZ_MUST(verdict.usage.avg_ncpus >= 0);
        } else {
            FUZZ_MUST(memchr(verdict.why, '\0', sizeof(verdict.why)) != NULL);
        }
        plan_class_takes_job(&set->spec[i], 4711, 0);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);
    struct plan_class_set set;
    struct buf err = BUF_INIT;
    int rc = plan_class_file_parse(text, n, PLAN_CLASS_FILE, &set, &err);

    FUZZ_MUST((rc == 0) == (err.len == 0));
    if (err.len > 0)
        FUZZ_MUST(strncmp(buf_str(&err), PLAN_CLASS_FILE,
                          strlen(PLAN_CLASS_FILE)) == 0);
    ask(&set);
    plan_class_set_free(&set);
    buf_free(&err);
    free(text);
    return 0;
}

/* compare.c - the scientist's hooks, called for the results of one workunit:
 * read each once, compare pairs. */
#include "compare.h"

#include <stdlib.h>

#include "buf.h"
#include "log.h"
#include "outputs.h"
#include "validator.h"

static bool
is_readable(enum read_verdict v)
{
    return v == OUTPUT_OK || v == OUTPUT_SUSPICIOUS;
}

static enum read_verdict
verdict_of(enum read_status status)
{
    switch (status) {
    case READ_OK:
        return OUTPUT_OK;
    case READ_BAD:
    case READ_LONG_TERM_FAIL:
        return OUTPUT_BAD;
    case READ_LATER:
        return OUTPUT_LATER;
    case READ_SUSPICIOUS:
        return OUTPUT_SUSPICIOUS;
    }
    return OUTPUT_LATER; /* a hook that answers nonsense decides nothing */
}

static enum read_verdict
call_read(const struct validator_hooks *hooks, const struct workunit *wu,
          const struct result *r, const struct outputs *o, void *value,
          struct said *said)
{
    const struct output out = {
        .n_files = o->n,
        .file = o->file,
        .path = (const char *const *)o->path,
        .logical = (const char *const *)o->logical,
        .wu_id = wu->id,
        .wu_name = wu->name,
        .result_id = r->id,
        .result_name = r->name,
        .exit_status = r->exit_status,
        .cpu_time = r->cpu_time,
        .elapsed_time = r->elapsed_time,
        .stderr_out = r->stderr_out != NULL ? r->stderr_out : "",
        .failed = r->outcome == OUTCOME_CLIENT_ERROR,
    };
    enum read_status status = hooks->read(&out, value);
    enum read_verdict verdict = verdict_of(status);

    said->long_term_fail = status == READ_LONG_TERM_FAIL;
    if (out.failed || !is_readable(verdict))
        return verdict;
    if (hooks->credit != NULL)
        said->credit = hooks->credit(&out, value);
    if (hooks->runtime != NULL)
        said->runtime = hooks->runtime(&out, value);
    return verdict;
}

static enum read_verdict
read_one(const struct validator_hooks *hooks, const struct config *cfg,
         const struct workunit *wu, const struct result *r, int64_t now,
         void *value, struct said *said)
{
    const struct outputs_wanted want = {
        .xml_doc_in = r->xml_doc_in != NULL ? r->xml_doc_in : "",
        .received_time = r->received_time,
        .now = now,
        .for_validation = true,
        .list_all = r->outcome == OUTCOME_CLIENT_ERROR,
    };
    struct outputs o;
    char why[512];
    enum read_verdict verdict = OUTPUT_LATER;
    enum outputs_status found = outputs_find(cfg, &want, &o, why, sizeof(why));

    if (r->outcome == OUTCOME_CLIENT_ERROR)
        found = OUTPUTS_OK; /* it need not have made any */
    switch (found) {
    case OUTPUTS_OK:
        verdict = call_read(hooks, wu, r, &o, value, said);
        break;
    case OUTPUTS_LATER:
        log_warning(TAG_WU TAG_RESULT "output not readable now: %s", wu->id,
                    wu->name, r->id, r->name, why);
        break;
    case OUTPUTS_BAD:
        log_normal(TAG_WU TAG_RESULT "output missing: %s", wu->id, wu->name,
                   r->id, r->name, why);
        verdict = OUTPUT_BAD;
        break;
    }
    outputs_free(&o);
    return verdict;
}

void
compare_read(const struct validator_hooks *hooks, const struct config *cfg,
             const struct workunit *wu, const struct result *const *results,
             size_t n, int64_t now, struct compare *ret)
{
    const size_t align = _Alignof(max_align_t);

    ret->hooks = hooks;
    ret->wu = wu;
    ret->n = n;
    ret->stride = (hooks->value_size + align) / align * align;
    ret->value = xcalloc(n + 1, ret->stride);
    ret->read = xcalloc(n + 1, sizeof(*ret->read));
    ret->said = xcalloc(n + 1, sizeof(*ret->said));
    for (size_t i = 0; i < n; i++)
        ret->read[i] = read_one(hooks, cfg, wu, results[i], now,
                                ret->value + i * ret->stride, &ret->said[i]);
}

enum match
compare_pair(const struct compare *c, size_t i, size_t j)
{
    const void *a = c->value + i * c->stride, *b = c->value + j * c->stride;

    if (c->hooks->compare == NULL)
        return c->hooks->same(a, b) ? MATCH_YES : MATCH_NO;
    switch (c->hooks->compare(a, b)) {
    case COMPARE_DIFFERENT:
        return MATCH_NO;
    case COMPARE_SAME:
        return MATCH_YES;
    case COMPARE_LATER:
        break;
    }
    return MATCH_UNKNOWN;
}

enum match *
compare_all(const struct compare *c)
{
    enum match *match = xcalloc(c->n * c->n + 1, sizeof(*match));

    for (size_t i = 0; i < c->n; i++)
        for (size_t j = 0; j < c->n; j++)
            if (i != j && is_readable(c->read[i]) && is_readable(c->read[j]))
                match[i * c->n + j] = compare_pair(c, i, j);
    return match;
}

void
compare_free(struct compare *c)
{
    for (size_t i = 0; c->hooks->free != NULL && i < c->n; i++)
        c->hooks->free(c->value + i * c->stride);
    free(c->value);
    free(c->read);
    free(c->said);
}

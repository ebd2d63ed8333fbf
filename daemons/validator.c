/* validator.c - the program around a scientist's validator: find workunits
 * whose results are to be compared, call the hooks, decide with the policy,
 * store verdicts and credit.
 *
 * It sweeps over the application's workunits by id.  A batch is read, compared
 * without any lock, and stored in one transaction; a workunit that changed
 * meanwhile comes again in the next sweep. */
#include "validator.h"

#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "daemon.h"
#include "db.h"
#include "db_validate.h"
#include "digest.h"
#include "log.h"
#include "setaside.h"
#include "trial.h"
#include "verdict.h"

/* A user, team or host gets its credit once in each batch, however many of the
 * results are theirs, so large ones are cheaper; but a batch holds its locks
 * for about 0.1 s.  The documents, which may be large, are there for a part of
 * it at a time. */
enum { BATCH = 256, DOCUMENTS = 64 };

struct validator_options {
    bool credit_from_wu;
    bool credit_from_runtime;
    bool post_assigned_credit;
    bool no_credit;
    bool update_credited_job;
    bool check_punitive;
    double max_granted_credit;
    int64_t min_wu_id, max_wu_id, wu_id;
    bool dry_run;
};

/* The scientist's functions: of the one validator that this process is. */
static const struct validator_hooks *hooks;

struct validator {
    struct app app; /* as it was when the sweep began */
    struct validate_batch batch;
    struct setaside bad;
    int64_t last_id; /* of the sweep; 0: it begins */
    bool progress;   /* something was stored in this sweep */
    int limit;       /* workunits in the next batch */
};

/* ---- a batch --------------------------------------------------------------
 */

/* Several given: the first of these counts.  None: adaptive. */
static enum credit_mode
credit_mode(const struct validator_options *o)
{
    if (o->credit_from_wu)
        return CREDIT_FROM_WU;
    if (o->credit_from_runtime)
        return CREDIT_FROM_RUNTIME;
    if (o->post_assigned_credit)
        return CREDIT_POST_ASSIGNED;
    return o->no_credit ? CREDIT_NONE : CREDIT_ADAPTIVE;
}

static void
decide(struct daemon *d, size_t i)
{
    const struct validator_options *o = d->options;
    struct validator *s = d->state;
    const struct validate_wu *w = &s->batch.wu[i];
    const struct verdict_rules rules = {
        .hooks = hooks,
        .cfg = d->cfg,
        .now = d->now,
        .claim = {.mode = credit_mode(o),
                  .max_granted_credit = o->max_granted_credit,
                  .app = &s->app},
    };

    s->batch.verdict[i] = (struct validate_verdict){
        .undecided =
            daemon_stopping() || setaside_waits(&s->bad, w->wu.id, d->now),
        .canonical_resultid = w->wu.canonical_resultid,
        .canonical_credit = w->wu.canonical_credit,
        .min_quorum = w->wu.min_quorum,
        .target_nresults = w->wu.target_nresults,
    };
    if (!s->batch.verdict[i].undecided)
        verdict_decide(&rules, &s->batch, i);
}

static void
log_verdict(const struct validate_batch *b, size_t i)
{
    const struct validate_wu *w = &b->wu[i];
    const struct validate_verdict *v = &b->verdict[i];
    char mask[160];

    for (size_t k = w->first; k < w->first + w->n; k++)
        if (b->change[k].write)
            log_normal(
                TAG_WU TAG_RESULT "%s, credit %g", w->wu.id, w->wu.name,
                b->result[k].id, b->result[k].name,
                b->change[k].outcome == OUTCOME_VALIDATE_ERROR
                    ? "VALIDATE_ERROR"
                    : validate_state_name((int)b->change[k].validate_state),
                b->change[k].credit);
    if (v->canonical_resultid != w->wu.canonical_resultid)
        log_normal(TAG_WU "canonical result is %" PRId64, w->wu.id, w->wu.name,
                   v->canonical_resultid);
    if (v->new_errors != 0)
        log_normal(TAG_WU "error %s", w->wu.id, w->wu.name,
                   wu_error_names(v->new_errors, mask, sizeof(mask)));
    if (v->target_nresults != w->wu.target_nresults)
        log_normal(TAG_WU "no agreement: target_nresults %d=>%d", w->wu.id,
                   w->wu.name, w->wu.target_nresults, v->target_nresults);
    if (v->retry)
        log_normal(TAG_WU "again in 6 hours", w->wu.id, w->wu.name);
}

/* Log what was stored; how many workunits is that? */
static int
count_stored(struct validator *s)
{
    int n = 0;

    for (size_t i = 0; i < s->batch.n; i++)
        if (!s->batch.verdict[i].undecided) {
            log_verdict(&s->batch, i);
            n++;
        }
    return n;
}

/* The batch cannot be written though the database is there: find the bad one
 * by going one by one, and pass over it for a while. */
static int
isolate(struct daemon *d)
{
    struct validator *s = d->state;
    const struct workunit *wu = &s->batch.wu[0].wu;

    if (s->batch.n > 1) {
        log_warning("a batch of %zu workunits failed: one at a time now",
                    s->batch.n);
        s->limit = 1;
        return 1;
    }
    log_critical(TAG_WU "set aside for %" PRId64 " s: its verdict cannot be "
                        "written",
                 wu->id, wu->name,
                 setaside_add(&s->bad, wu->id, d->now) - d->now);
    s->last_id = wu->id;
    return 1;
}

static int
validate_batch(struct daemon *d)
{
    const struct validator_options *o = d->options;
    struct validator *s = d->state;
    const struct validate_terms terms = {
        .now = d->now,
        .daily_result_quota = (int)d->cfg->daily_result_quota,
        .app_target_nresults = s->app.target_nresults,
        .credit_by_app = d->cfg->credit_by_app,
        .credited_job = o->update_credited_job,
    };
    int stored;

    for (size_t i = 0; i < s->batch.n; i++) {
        if (i % DOCUMENTS == 0 &&
            db_validate_documents(d->db, &s->batch, i, DOCUMENTS) != 0)
            return -1;
        decide(d, i);
    }
    if (!o->dry_run && db_validate_store(d->db, &s->batch, &terms) != 0)
        return db_is_lost(d->db) ? -1 : isolate(d);
    stored = count_stored(s);
    s->progress = s->progress || (stored > 0 && !o->dry_run);
    s->last_id = s->batch.wu[s->batch.n - 1].wu.id;
    s->limit = s->limit * 2 < BATCH ? s->limit * 2 : BATCH;
    return stored > 0 ? stored : 1;
}

/* --dry_run --wu_id: what would be said if nobody had judged it yet? */
static int
try_one(struct daemon *d)
{
    struct validator *s = d->state;
    struct trial *t;

    if (db_validate_documents(d->db, &s->batch, 0, 1) != 0)
        return -1;
    t = trial_begin(&s->batch, 0);
    decide(d, 0);
    trial_print(t, &s->batch, 0);
    return fflush(stdout) == 0 ? 0 : -1;
}

static int
one_pass(struct daemon *d)
{
    const struct validator_options *o = d->options;
    struct validator *s = d->state;
    struct validate_query want = {
        .appid = d->appid,
        .max_id = o->max_wu_id,
        .wu_id = o->wu_id,
        .mod_n = d->mod_n,
        .mod_i = d->mod_i,
        .limit = s->limit,
        .failed_too = o->check_punitive,
        .judged_too = o->dry_run && o->wu_id != 0,
    };
    bool again;

    if (s->last_id == 0) {
        s->progress = false;
        if (db_validate_app(d->db, d->appid, &s->app) != 0)
            return -1;
    }
    want.after_id = s->last_id >= o->min_wu_id ? s->last_id : o->min_wu_id - 1;
    if (db_validate_due(d->db, &want, &s->batch) != 0)
        return -1;
    if (s->batch.n > 0 && o->wu_id == 0)
        return validate_batch(d);
    if (s->batch.n > 0 && o->dry_run)
        return try_one(d);
    if (s->batch.n > 0)
        return validate_batch(d) < 0 ? -1 : 0;
    if (o->wu_id != 0 && o->dry_run) {
        log_critical("application %s has no workunit %" PRId64, d->app,
                     o->wu_id);
        return -1;
    }
    again = s->progress;
    s->last_id = 0;
    s->progress = false;
    return again ? 1 : 0;
}

/* ---- the program ----------------------------------------------------------
 */

static int
start(struct daemon *d)
{
    const struct validator_options *o = d->options;
    struct validator *s;

    if (hooks->read == NULL ||
        (hooks->same == NULL && hooks->compare == NULL)) {
        log_critical("validator_hooks needs read, and same or compare");
        return EXIT_USAGE;
    }
    if (o->credit_from_runtime && o->max_granted_credit <= 0) {
        log_critical("--credit_from_runtime needs --max_granted_credit > 0");
        return EXIT_USAGE;
    }
    s = xcalloc(1, sizeof(*s));
    s->limit = BATCH;
    d->state = s;
    if (o->wu_id != 0)
        d->one_pass = true;
    return 0;
}

static void
stop(struct daemon *d)
{
    struct validator *s = d->state;

    validate_batch_free(&s->batch);
    setaside_free(&s->bad);
    free(s);
}

int
output_find(const struct output *out, const char *logical)
{
    for (size_t i = 0; i < out->n_files; i++)
        if (strcmp(out->logical[i], logical) == 0)
            return (int)i;
    return -1;
}

bool
output_md5(const struct output *out, size_t i, long skip, char ret[33])
{
    struct digest *md5 = digest_new_md5();
    FILE *f = out->file[i];
    char part[16384];
    size_t n;
    bool good = true;

    if (f != NULL && fseek(f, skip, SEEK_SET) == 0)
        while ((n = fread(part, 1, sizeof(part), f)) > 0)
            digest_add(md5, part, n);
    if (f != NULL) {
        good = ferror(f) == 0;
        rewind(f);
    }
    digest_hex(md5, ret);
    return good;
}

#define CONF_STRUCT struct validator_options
static const struct conf_option options[] = {
    OPTION(credit_from_wu, CONF_BOOL, NULL, 0, 0, 0, "",
           "credit preset by create_work, else the estimate of the workunit"),
    OPTION(credit_from_runtime, CONF_BOOL, NULL, 0, 0, 0, "",
           "credit for run time times speed, averaged over the valid results"),
    OPTION(post_assigned_credit, CONF_BOOL, NULL, 0, 0, 0, "",
           "credit that the validator's credit() gives the canonical result"),
    OPTION(no_credit, CONF_BOOL, NULL, 0, 0, 0, "", "grant nothing"),
    OPTION(max_granted_credit, CONF_DOUBLE, "73000000", 0, 1e15, 0, "credits",
           "grant at most this to one result"),
    OPTION(update_credited_job, CONF_BOOL, NULL, 0, 0, 0, "",
           "note in table credited_job whose result of which workunit.opaque "
           "was valid"),
    OPTION(check_punitive, CONF_BOOL, NULL, 0, 0, 0, "",
           "show failed results to read(); the host of one that answers "
           "READ_LONG_TERM_FAIL gets one result a day"),
    OPTION(min_wu_id, CONF_INT, "0", 0, 9e18, 0, "", "smallest workunit id"),
    OPTION(max_wu_id, CONF_INT, "0", 0, 9e18, 0, "",
           "largest workunit id, 0 for no limit"),
    OPTION(wu_id, CONF_INT, "0", 0, 9e18, 0, "",
           "look at this workunit alone, once, whether it asks or not"),
    OPTION(
        dry_run, CONF_BOOL, NULL, 0, 0, 0, "",
        "log the verdicts, change nothing; with --wu_id: print what would be "
        "said of the stored results if nobody had judged them"),
};

int
validator_main(int argc, char **argv, const struct validator_hooks *given)
{
    struct buf text = BUF_INIT;
    struct daemon_spec spec = {
        .name = "validator",
        .summary = "compare the results of workunits and grant credit",
        .account = DB_ACCOUNT_VALIDATOR,
        .pass = one_pass,
        .start = start,
        .stop = stop,
        .idle_seconds = 5,
        .needs_app = true,
        .options = options,
        .n_options = ARRAY_LEN(options),
        .options_size = sizeof(struct validator_options),
        .extra_args = given->init,
    };
    int rc;

    hooks = given;
    buf_add(&text,
            "Reads the outputs of each workunit that has enough results, "
            "compares them, chooses the canonical one and grants credit for "
            "all that agree with it.  Results that come later are compared "
            "with the canonical one.\n\n"
            "A file that is missing while its folder cannot be seen is looked "
            "for again in six hours.\n\n"
            "Credit is adaptive unless one of the options below says "
            "otherwise: computed from run times and speeds, scaled by what "
            "the program version and the host usually claim.  Of several such "
            "options the first of credit_from_wu, credit_from_runtime, "
            "post_assigned_credit, no_credit counts.");
    if (given->usage != NULL)
        buf_addf(&text, "\n\n%s", given->usage);
    spec.description = buf_str(&text);
    rc = daemon_main(argc, argv, &spec);
    buf_free(&text);
    return rc;
}

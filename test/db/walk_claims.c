/* walk_claims.c - what must be true of the rows after each event of the walk.
 */
#include "walk_claims.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "buf.h"
#include "file.h"
#include "project.h"

/* ---- when a claim is broken -----------------------------------------------
 */

static struct story *
story_of(int64_t wu)
{
    struct story *free_one = NULL;

    for (size_t i = 0; i < CROWD_MAX; i++) {
        if (w.story[i].wu == wu)
            return &w.story[i];
        if (w.story[i].wu == 0 && free_one == NULL)
            free_one = &w.story[i];
    }
    memset(free_one, 0, sizeof(*free_one));
    free_one->wu = wu;
    return free_one;
}

void
break_off(const struct life *before, const struct life *after, const char *why)
{
    fprintf(stderr, "seed %" PRIu64 ", event %ld: %s\n", w.seed, w.number, why);
    walk_print(&story_of(after->wu.id)->history);
    if (before != NULL)
        invariant_print(before, w.now);
    invariant_print(after, w.now);
    ck_abort_msg("seed %" PRIu64 ", event %ld: %s", w.seed, w.number, why);
}

static void
ck_life(const struct life *before, const struct life *l)
{
    const char *broken =
        before != NULL ? invariant_step_broken(before, l) : NULL;
    const char *why;

    if (broken == NULL)
        broken = invariant_broken(l, true);
    if (broken == NULL &&
        invariant_waits_for(l, &w.steps.cfg, w.now) == WAITS_STUCK)
        broken = "stuck";
    if (broken == NULL && w.number % DRAIN_EVERY == 0 &&
        invariant_drain(*l, &w.steps.cfg, APP_TARGET, w.now, &why) < 0)
        broken = why;
    if (broken != NULL)
        break_off(before, l, broken);
}

/* It was there before, and is no more. */
static void
ck_purged(const struct life *before)
{
    if (!life_may_be_purged(before))
        break_off(NULL, before, "purged before its time");
    for (size_t i = 0; i < before->n; i++)
        w.purged_credit += before->r[i].credit;
    story_of(before->wu.id)->wu = 0;
    w.purged++;
}

static void
ck_credit(const char *table, double want)
{
    struct buf sql = BUF_INIT;
    double got;

    buf_addf(&sql, "SELECT COALESCE(SUM(total_credit), 0) FROM %s", table);
    got = dbtest_double(w.db, buf_str(&sql));
    buf_free(&sql);
    ck_assert_msg(fabs(got - want) < 1e-6 * (1 + want),
                  "seed %" PRIu64 ", event %ld: %s have credit %.9g, their "
                  "results %.9g",
                  w.seed, w.number, table, got, want);
}

void
ck_all_credit(void)
{
    double want = w.purged_credit;

    for (size_t i = 0; i < w.after.n; i++)
        for (size_t k = 0; k < w.after.life[i].n; k++)
            want += w.after.life[i].r[k].credit;
    ck_credit("host", want);
    ck_credit("user", want);
    ck_credit("team", want);
}

static void
note(int64_t wu, enum walk_event event, const char *remark)
{
    walk_note(&story_of(wu)->history,
              (struct walk_entry){w.number, w.now, event, -1, remark});
}

static bool
look_at(const struct life *before, const struct life *after,
        enum walk_event event, const char *remark)
{
    if (before != NULL && memcmp(before, after, sizeof(*after)) == 0)
        return false;
    note(after->wu.id, event, remark);
    ck_life(before, after);
    return true;
}

bool
look_at_all(enum walk_event event, const char *remark)
{
    const struct crowd *b = &w.before, *a = &w.after;
    bool changed = false;
    size_t k = 0;

    w.before = w.after;
    ck_assert_int_eq(rows_read(w.db, &w.after), 0);
    for (size_t i = 0; i < a->n; i++, k++) {
        for (; k < b->n && b->life[k].wu.id < a->life[i].wu.id; k++) {
            ck_purged(&b->life[k]);
            changed = true;
        }
        if (look_at(k < b->n ? &b->life[k] : NULL, &a->life[i], event, remark))
            changed = true;
    }
    for (; k < b->n; k++) {
        ck_purged(&b->life[k]);
        changed = true;
    }
    return changed;
}

bool
look_at_one(int64_t wu, enum walk_event event, const char *remark)
{
    struct life before;

    for (size_t i = 0; i < w.after.n; i++)
        if (w.after.life[i].wu.id == wu) {
            before = w.after.life[i];
            ck_assert_int_eq(rows_read_one(w.db, &w.after.life[i]), 0);
            return look_at(&before, &w.after.life[i], event, remark);
        }
    return false;
}

void
ck_audit(bool drained)
{
    char words[][20] = {"../../tools/audit", "--age",          "1000000000",
                        "--except",          "output-present", "--except",
                        "output-deleted",    "--except",       "upload-owner",
                        "--drained"};
    char *argv[ARRAY_LEN(words) + 1] = {NULL};

    for (size_t i = 0; i < ARRAY_LEN(words) - !drained; i++)
        argv[i] = words[i];
    project_clock(w.now - time(NULL));
    ck_assert_msg(file_run(argv, NULL, NULL, 0) == 0,
                  "seed %" PRIu64 ", event %ld: audit has found something",
                  w.seed, w.number);
}

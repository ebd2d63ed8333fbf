/* test_plan_class_builtin.c - the plan classes of a project without a file. */
#include "plan_class_data.h"

static const struct plan_class_set no_file = {.from_file = false};

static struct plan_class_verdict
ask(struct computer *c, const char *name)
{
    struct plan_class_verdict ret;
    struct plan_class_spec scratch;

    plan_class_check(plan_class_find(&no_file, name, &scratch), asking(c),
                     &ret);
    return ret;
}

/* 8 CPUs at 4 GFLOPS: peak 32, projected 0.99 of it. */
START_TEST(mt_takes_all_cpus)
{
    struct computer c;
    struct plan_class_verdict v;

    build_computer(&c);
    v = ask(&c, "mt");
    ck_assert_int_eq(v.refusal, PLAN_CLASS_OK);
    ck_assert_double_eq(v.usage.avg_ncpus, 8);
    ck_assert_double_eq(v.usage.peak_flops, 32 * GIGA);
    ck_assert_double_eq_tol(v.usage.projected_flops, 31.68 * GIGA, 1);
    ck_assert_str_eq(v.usage.cmdline, "--nthreads 8");
    c.asks.ncpus = 2;
    ck_assert_int_eq(ask(&c, "mt").refusal, PLAN_CLASS_OK);
    c.asks.ncpus = 1;
    v = ask(&c, "mt");
    ck_assert_int_eq(v.refusal, PLAN_CLASS_HOST);
    ck_assert_str_eq(v.element, "min_ncpus");
    ck_assert_str_eq(v.why, "needs 2 processors, 1 may be used");
}
END_TEST

static void
fill(TCase *tc)
{
    tcase_add_test(tc, mt_takes_all_cpus);
}

int
main(void)
{
    return run_tests("plan_class_builtin", fill);
}

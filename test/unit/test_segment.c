/* test_segment.c - the two kinds of segment, as feeder and scheduler see them.
 *
 * The tests use real segments under a name of their own and look at them as
 * files of /dev/shm. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "catalog.h"
#include "clock.h"
#include "file.h"
#include "jobarray.h"
#include "segment.h"

static char dir[64];
static char name[32];
static struct buf lock_path, shm_path;

static void
setup(void)
{
    str_copy(dir, sizeof(dir), "/tmp/test_segment.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    segment_name(0, dir, name); /* the folder's name is unique, so is this */
    buf_addf(&lock_path, "%s/feeder.lock", dir);
    buf_addf(&shm_path, "/dev/shm%s", name);
}

static void
teardown(void)
{
    segment_unlink(name);
    file_remove_tree(dir);
    buf_free(&lock_path);
    buf_free(&shm_path);
}

static struct segment *
feeder(void)
{
    struct segment *s = segment_create(name, buf_str(&lock_path));

    ck_assert_ptr_nonnull(s);
    return s;
}

/* A generation with one app of this id and `slots` slots. */
static void
publish(struct segment *s, int64_t appid, size_t slots)
{
    struct app app = {.id = appid, .name = "uppercase"};
    struct catalog_source src = {.app = &app, .n_apps = 1};

    ck_assert_int_eq(segment_build(s, &src, slots, 100), 0);
    ck_assert_int_eq(segment_publish(s), 0);
}

static struct segment *
scheduler(void)
{
    enum segment_state state;
    struct segment *s = segment_attach(name, &state);

    ck_assert_str_eq(segment_state_text(state), segment_state_text(SEGMENT_OK));
    ck_assert_ptr_nonnull(s);
    return s;
}

static enum segment_state
attach_fails(void)
{
    enum segment_state state;
    struct segment *s = segment_attach(name, &state);

    ck_assert_ptr_null(s);
    return state;
}

/* The anchor as its owner may write it. */
static struct segment_anchor *
anchor_of(struct segment *s)
{
    return (struct segment_anchor *)(uintptr_t)segment_anchor(s);
}

static bool
generation_exists(unsigned g)
{
    struct buf b = BUF_INIT;
    bool there;

    buf_addf(&b, "%s.%u", buf_str(&shm_path), g);
    there = file_exists(buf_str(&b));
    buf_free(&b);
    return there;
}

static int64_t
first_app(struct segment *s)
{
    struct app app;

    catalog_app(segment_catalog(s), 0, &app);
    return app.id;
}

/* Let go as SIGKILL would: nothing is unlinked, the lock is free. */
static void
kill_feeder(struct segment *s)
{
    segment_detach(s);
}

START_TEST(the_name_is_made_of_the_key)
{
    char ret[32];

    segment_name(0x1234abcd, "/", ret);
    ck_assert_str_eq(ret, "/quorate-1234abcd");
    segment_name(15, "/", ret);
    ck_assert_str_eq(ret, "/quorate-0000000f");
    /* printf / | sha256sum: 8a5edab2… */
    segment_name(0, "/", ret);
    ck_assert_str_eq(ret, "/quorate-8a5edab2");
    /* the real path counts */
    segment_name(0, "/usr/..", ret);
    ck_assert_str_eq(ret, "/quorate-8a5edab2");
}
END_TEST

START_TEST(without_a_feeder_there_is_nothing)
{
    ck_assert_int_eq(attach_fails(), SEGMENT_ABSENT);
}
END_TEST

START_TEST(before_the_first_generation_there_are_no_jobs)
{
    struct segment *f = feeder();

    ck_assert_int_eq(attach_fails(), SEGMENT_DOWN);
    segment_destroy(f);
}
END_TEST

START_TEST(what_is_published_can_be_read)
{
    struct segment *f = feeder(), *s;

    publish(f, 42, 100);
    s = scheduler();
    ck_assert_uint_eq(segment_generation(s), 1);
    ck_assert_int_eq(first_app(s), 42);
    ck_assert_uint_eq(jobarray_n_slots(segment_jobarray(s)), 100);
    ck_assert_int_eq(segment_anchor(s)->feeder_pid, getpid());
    ck_assert(segment_shares_pids(s));
    segment_detach(s);
    segment_destroy(f);
}
END_TEST

START_TEST(mode_is_0660_whatever_the_umask)
{
    mode_t old = umask(0777);
    struct segment *f = feeder();
    struct stat st, folder;
    struct buf b = BUF_INIT;

    publish(f, 1, 1);
    umask(old);
    ck_assert_int_eq(stat(dir, &folder), 0);
    ck_assert_int_eq(stat(buf_str(&shm_path), &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0660);
    ck_assert_int_eq(st.st_gid, folder.st_gid);
    buf_addf(&b, "%s.1", buf_str(&shm_path));
    ck_assert_int_eq(stat(buf_str(&b), &st), 0);
    ck_assert_int_eq(st.st_mode & 07777, 0660);
    ck_assert_int_eq(st.st_gid, folder.st_gid);
    buf_free(&b);
    segment_destroy(f);
}
END_TEST

START_TEST(there_is_one_feeder)
{
    struct segment *f = feeder();

    ck_assert_ptr_null(segment_create(name, buf_str(&lock_path)));
    publish(f, 1, 1); /* the first is not disturbed */
    segment_detach(scheduler());
    segment_destroy(f);
    segment_destroy(feeder());
}
END_TEST

START_TEST(a_reload_waits_for_nobody)
{
    struct segment *f = feeder(), *s;
    struct job_slot *slot;
    struct sendable job = {.result_id = 7}, copy;
    uint64_t word;

    publish(f, 1, 10);
    s = scheduler();
    slot = jobarray_slot(segment_jobarray(f), 0);
    ck_assert(jobarray_fill(segment_jobarray(f), slot, &job, 1));
    slot = jobarray_slot(segment_jobarray(s), 0);
    ck_assert(
        jobarray_claim(segment_jobarray(s), slot, getpid(), 1, &word, &copy));

    publish(f, 2, 20);
    ck_assert(!generation_exists(1));
    ck_assert(generation_exists(2));
    /* The request that runs goes on with what it has. */
    ck_assert_int_eq(first_app(s), 1);
    ck_assert(jobarray_done(slot, word));
    /* The next one sees the new generation. */
    ck_assert_int_eq(segment_refresh(s), SEGMENT_OK);
    ck_assert_uint_eq(segment_generation(s), 2);
    ck_assert_int_eq(first_app(s), 2);
    ck_assert_uint_eq(jobarray_n_slots(segment_jobarray(s)), 20);
    segment_detach(s);
    segment_destroy(f);
}
END_TEST

START_TEST(a_clean_stop_leaves_nothing_and_says_so)
{
    struct segment *f = feeder(), *s;

    publish(f, 1, 10);
    s = scheduler();
    segment_destroy(f);
    ck_assert(!file_exists(buf_str(&shm_path)));
    ck_assert(!generation_exists(1));
    ck_assert_int_eq(segment_refresh(s), SEGMENT_DOWN);
    ck_assert_ptr_null(segment_jobarray(s));
    ck_assert_ptr_null(segment_catalog(s));
    ck_assert_int_eq(attach_fails(), SEGMENT_ABSENT);
    segment_detach(s);
}
END_TEST

/* The new NAME starts at generation 1 again, which the scheduler has had. */
START_TEST(a_scheduler_that_stays_finds_the_next_feeder)
{
    struct segment *f = feeder(), *s;

    publish(f, 1, 10);
    s = scheduler();
    segment_destroy(f);
    f = feeder();
    publish(f, 2, 10);
    ck_assert_int_eq(segment_refresh(s), SEGMENT_OK);
    ck_assert_int_eq(first_app(s), 2);
    segment_detach(s);
    segment_destroy(f);
}
END_TEST

START_TEST(a_killed_feeder_is_followed_by_one_that_goes_on)
{
    struct segment *f = feeder(), *s;

    publish(f, 1, 10);
    publish(f, 2, 10);
    s = scheduler();
    kill_feeder(f);
    ck_assert_int_eq(segment_refresh(s), SEGMENT_OK); /* not old enough */
    f = feeder();
    /* Until it has something new, the old jobs are as good as before. */
    ck_assert_int_eq(segment_refresh(s), SEGMENT_OK);
    ck_assert_int_eq(first_app(s), 2);
    publish(f, 3, 10);
    ck_assert(!generation_exists(2));
    ck_assert_int_eq(segment_refresh(s), SEGMENT_OK);
    ck_assert_uint_eq(segment_generation(s), 3);
    ck_assert_int_eq(first_app(s), 3);
    segment_detach(s);
    segment_destroy(f);
}
END_TEST

START_TEST(a_feeder_killed_while_it_built_is_no_hindrance)
{
    struct segment *f = feeder();

    publish(f, 1, 10);
    ck_assert_ptr_nonnull(segment_begin(f, 1000));
    ck_assert(generation_exists(2));
    kill_feeder(f);
    f = feeder();
    publish(f, 2, 10);
    ck_assert(generation_exists(2));
    segment_detach(scheduler());
    segment_destroy(f);
    ck_assert(!generation_exists(2));
}
END_TEST

static const struct {
    const char *promise;
    int age; /* s */
    enum segment_state state;
} ages[] = {
    {"a heartbeat of now",                    0,  SEGMENT_OK   },
    {"60 s are still alive",                  60, SEGMENT_OK   },
    {"62 s are dead",                         62, SEGMENT_STALE},
    {"a beat after the clock was read is ok", -1, SEGMENT_OK   },
};

START_TEST(an_old_heartbeat_means_a_dead_feeder)
{
    struct segment *f = feeder(), *s;

    publish(f, 1, 10);
    s = scheduler();
    atomic_store(&anchor_of(f)->heartbeat,
                 clock_monotonic() - (uint32_t)ages[_i].age);
    ck_assert_msg(segment_refresh(s) == ages[_i].state, "broken: %s",
                  ages[_i].promise);
    segment_heartbeat(f);
    ck_assert_int_eq(segment_refresh(s), SEGMENT_OK);
    ck_assert_int_eq(first_app(s), 1);
    segment_detach(s);
    segment_destroy(f);
}
END_TEST

/* Mappings of our segments with these rights, by the kernel's word. */
static int
mappings(const char *rights)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    int n = 0;

    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f) != NULL)
        n += strstr(line, rights) != NULL && strstr(line, name) != NULL;
    fclose(f);
    return n;
}

START_TEST(who_looks_cannot_write)
{
    struct segment *f = feeder(), *tool;
    enum segment_state state;
    int writable;

    publish(f, 1, 10);
    writable = mappings(" rw-s ");
    tool = segment_look(name, &state);
    ck_assert_ptr_nonnull(tool);
    ck_assert_int_eq(mappings(" r--s "), 2); /* NAME, NAME.1 */
    publish(f, 2, 10);
    ck_assert_int_eq(segment_refresh(tool), SEGMENT_OK);
    ck_assert_int_eq(mappings(" r--s "), 2);
    ck_assert_int_eq(mappings(" rw-s "), writable);
    segment_detach(tool);
    segment_destroy(f);
}
END_TEST

START_TEST(a_tool_may_look_at_what_a_dead_feeder_left)
{
    struct segment *f = feeder(), *tool;
    enum segment_state state;

    publish(f, 1, 10);
    atomic_store(&anchor_of(f)->heartbeat, clock_monotonic() - 100);
    ck_assert_int_eq(attach_fails(), SEGMENT_STALE);
    tool = segment_look(name, &state);
    ck_assert_ptr_nonnull(tool);
    ck_assert_int_eq(state, SEGMENT_STALE);
    ck_assert_int_eq(first_app(tool), 1);
    segment_detach(tool);
    segment_destroy(f);
}
END_TEST

START_TEST(what_a_killed_feeder_left_is_cleaned_up)
{
    struct segment *f = feeder(), *s;

    publish(f, 1, 10);
    s = scheduler();
    ck_assert_ptr_nonnull(segment_begin(f, 1000));
    kill_feeder(f);
    segment_unlink(name);
    ck_assert(!file_exists(buf_str(&shm_path)));
    ck_assert(!generation_exists(1));
    ck_assert(!generation_exists(2));
    ck_assert_int_eq(segment_refresh(s), SEGMENT_DOWN);
    segment_unlink(name); /* harmless */
    segment_detach(s);
}
END_TEST

/* A clean-up took the feeder for dead, or somebody emptied /dev/shm. */
START_TEST(a_feeder_notices_that_its_segment_was_removed)
{
    struct segment *f = feeder(), *s;

    publish(f, 1, 10);
    publish(f, 2, 10);
    s = scheduler();
    ck_assert(!segment_was_removed(f));
    segment_unlink(name);
    ck_assert(segment_was_removed(f));
    ck_assert(!segment_was_removed(f));
    publish(f, 3, 10);
    ck_assert_int_eq(segment_refresh(s), SEGMENT_OK);
    ck_assert_int_eq(first_app(s), 3);
    ck_assert_int_eq(segment_anchor(s)->feeder_pid, getpid());
    ck_assert(generation_exists(1));
    segment_detach(s);
    segment_destroy(f);
    ck_assert(!generation_exists(1));
}
END_TEST

/* ---- what is not ours -----------------------------------------------------
 */

static void
put_file(const char *suffix, const void *bytes, size_t n)
{
    struct buf b = BUF_INIT;
    int fd;

    buf_addf(&b, "%s%s", buf_str(&shm_path), suffix);
    fd = open(buf_str(&b), O_WRONLY | O_CREAT | O_TRUNC, 0660);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(file_write_all(fd, bytes, n), 0);
    close(fd);
    buf_free(&b);
}

static const struct {
    const char *promise;
    struct segment_anchor anchor;
    size_t size;
    enum segment_state state;
} strangers[] = {
    {"an empty file is one that is being made",  {0},          0, SEGMENT_ABSENT},
    {"so is one whose magic is not yet written",
     {0},
     sizeof(struct segment_anchor),
     SEGMENT_ABSENT                                                             },
    {"a short file is refused",
     {.magic = SEGMENT_MAGIC, .version = SEGMENT_VERSION},
     sizeof(struct segment_anchor) - 1,
     SEGMENT_FOREIGN                                                            },
    {"another magic is refused",
     {.magic = 0x12345678, .version = SEGMENT_VERSION},
     sizeof(struct segment_anchor),
     SEGMENT_FOREIGN                                                            },
    {"the next layout version is refused",
     {.magic = SEGMENT_MAGIC, .version = SEGMENT_VERSION + 1},
     sizeof(struct segment_anchor),
     SEGMENT_FOREIGN                                                            },
};

START_TEST(a_stranger_is_refused)
{
    struct segment *f;

    put_file("", &strangers[_i].anchor, strangers[_i].size);
    ck_assert_msg(attach_fails() == strangers[_i].state, "broken: %s",
                  strangers[_i].promise);
    /* A feeder puts its own in its place. */
    f = feeder();
    publish(f, 1, 10);
    segment_detach(scheduler());
    segment_destroy(f);
}
END_TEST

/* NAME.1 is cut to `size` bytes behind the feeder's back. */
static enum segment_state
attach_to_cut(off_t size)
{
    struct buf b = BUF_INIT;

    buf_addf(&b, "%s.1", buf_str(&shm_path));
    ck_assert_int_eq(truncate(buf_str(&b), size), 0);
    buf_free(&b);
    return attach_fails();
}

START_TEST(a_cut_generation_is_refused)
{
    struct segment *f = feeder();

    publish(f, 1, 1000);
    ck_assert_int_eq(attach_to_cut(100000), SEGMENT_FOREIGN);
    ck_assert_int_eq(attach_to_cut(4096), SEGMENT_FOREIGN);
    ck_assert_int_eq(attach_to_cut(63), SEGMENT_FOREIGN);
    ck_assert_int_eq(attach_to_cut(1), SEGMENT_FOREIGN);
    segment_destroy(f);
}
END_TEST

START_TEST(a_generation_of_something_else_is_refused)
{
    struct segment *f = feeder();
    static const char noise[200000] = "no generation";

    publish(f, 1, 1000);
    put_file(".1", noise, sizeof(noise));
    ck_assert_int_eq(attach_fails(), SEGMENT_FOREIGN);
    segment_destroy(f);
}
END_TEST

START_TEST(a_lost_generation_is_no_endless_loop)
{
    struct segment *f = feeder();
    struct buf b = BUF_INIT;

    publish(f, 1, 1);
    buf_addf(&b, "%s.1", buf_str(&shm_path));
    ck_assert_int_eq(unlink(buf_str(&b)), 0);
    buf_free(&b);
    ck_assert_int_eq(attach_fails(), SEGMENT_ABSENT);
    segment_destroy(f);
}
END_TEST

/* ---- wake-up --------------------------------------------------------------
 */

START_TEST(a_call_before_the_wait_is_not_lost)
{
    struct segment *f = feeder(), *s;

    publish(f, 1, 1);
    s = scheduler();
    ck_assert(!segment_wait(f, 0));
    segment_wake_feeder(s);
    ck_assert(segment_wait(f, 10));
    ck_assert(!segment_wait(f, 0.01)); /* once */
    segment_detach(s);
    segment_destroy(f);
}
END_TEST

START_TEST(another_process_ends_the_wait)
{
    struct segment *f = feeder();
    uint32_t before;
    pid_t pid;

    publish(f, 1, 1);
    before = clock_monotonic();
    pid = fork();
    if (pid == 0) {
        struct segment *s = scheduler();

        clock_sleep(0.2);
        segment_wake_feeder(s);
        _exit(0);
    }
    ck_assert(segment_wait(f, 20));
    ck_assert_uint_le(clock_monotonic() - before, 10);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    segment_destroy(f);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("segment");
    TCase *tc = tcase_create("segment");
    SRunner *runner;
    int failed;

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, the_name_is_made_of_the_key);
    tcase_add_test(tc, without_a_feeder_there_is_nothing);
    tcase_add_test(tc, before_the_first_generation_there_are_no_jobs);
    tcase_add_test(tc, what_is_published_can_be_read);
    tcase_add_test(tc, mode_is_0660_whatever_the_umask);
    tcase_add_test(tc, there_is_one_feeder);
    tcase_add_test(tc, a_reload_waits_for_nobody);
    tcase_add_test(tc, a_clean_stop_leaves_nothing_and_says_so);
    tcase_add_test(tc, a_scheduler_that_stays_finds_the_next_feeder);
    tcase_add_test(tc, a_killed_feeder_is_followed_by_one_that_goes_on);
    tcase_add_test(tc, a_feeder_killed_while_it_built_is_no_hindrance);
    tcase_add_loop_test(tc, an_old_heartbeat_means_a_dead_feeder, 0,
                        ARRAY_LEN(ages));
    tcase_add_test(tc, who_looks_cannot_write);
    tcase_add_test(tc, a_tool_may_look_at_what_a_dead_feeder_left);
    tcase_add_test(tc, what_a_killed_feeder_left_is_cleaned_up);
    tcase_add_test(tc, a_feeder_notices_that_its_segment_was_removed);
    tcase_add_loop_test(tc, a_stranger_is_refused, 0, ARRAY_LEN(strangers));
    tcase_add_test(tc, a_cut_generation_is_refused);
    tcase_add_test(tc, a_generation_of_something_else_is_refused);
    tcase_add_test(tc, a_lost_generation_is_no_endless_loop);
    tcase_add_test(tc, a_call_before_the_wait_is_not_lost);
    tcase_add_test(tc, another_process_ends_the_wait);
    suite_add_tcase(suite, tc);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

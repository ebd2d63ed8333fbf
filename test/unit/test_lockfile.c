/* test_lockfile.c - one process at a time, and signals for its owner alone. */
#include "unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfile.h"

/* A child that holds the lock until it is killed. */
static pid_t
holder(const char *path)
{
    int ready[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_DFL); /* Check's handler would end the test */
        if (lockfile_take(path, false) >= 0)
            (void)!write(ready[1], "x", 1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static int
end_of(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

START_TEST(a_file_that_is_not_there_has_no_owner)
{
    ck_assert_int_eq(lockfile_owner(scratch("none")), 0);
    ck_assert_int_eq(lockfile_signal(scratch("none"), SIGTERM), 1);
}
END_TEST

START_TEST(the_owner_is_the_process_that_took_it)
{
    pid_t pid = holder(scratch("owned"));

    ck_assert_int_eq(lockfile_owner(scratch("owned")), pid);
    kill(pid, SIGKILL);
    end_of(pid);
}
END_TEST

START_TEST(two_processes_cannot_have_it)
{
    pid_t pid = holder(scratch("once"));

    ck_assert_int_eq(lockfile_take(scratch("once"), false), -1);
    ck_assert_int_eq(errno, EAGAIN);
    kill(pid, SIGKILL);
    end_of(pid);
}
END_TEST

START_TEST(a_killed_owner_leaves_it_free)
{
    pid_t pid = holder(scratch("left"));
    int fd;

    kill(pid, SIGKILL);
    end_of(pid);
    ck_assert_int_eq(lockfile_owner(scratch("left")), 0);
    fd = lockfile_take(scratch("left"), false);
    ck_assert_int_ge(fd, 0);
    close(fd);
}
END_TEST

START_TEST(a_signal_reaches_the_owner)
{
    pid_t pid = holder(scratch("signal"));

    ck_assert_int_eq(lockfile_signal(scratch("signal"), SIGTERM), 0);
    ck_assert_int_eq(end_of(pid), SIGTERM);
}
END_TEST

/* The file may well hold a number: it is never believed. */
START_TEST(a_pid_in_a_file_is_no_owner)
{
    pid_t bystander = fork();

    if (bystander == 0)
        for (;;)
            pause();
    ck_assert_int_eq(file_write(scratch("stale"), "1\n", 2, 0600), 0);
    ck_assert_int_eq(lockfile_signal(scratch("stale"), SIGTERM), 1);
    ck_assert_int_eq(kill(bystander, 0), 0);
    kill(bystander, SIGKILL);
    end_of(bystander);
}
END_TEST

START_TEST(a_place_that_cannot_be_written_is_told_apart)
{
    ck_assert_int_eq(lockfile_take(scratch("no/such/folder"), false), -1);
    ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(it_goes_through_exec_when_wanted)
{
    int keep = lockfile_take(scratch("keep"), true);
    int drop = lockfile_take(scratch("drop"), false);

    ck_assert_int_eq(fcntl(keep, F_GETFD) & FD_CLOEXEC, 0);
    ck_assert_int_ne(fcntl(drop, F_GETFD) & FD_CLOEXEC, 0);
    close(keep);
    close(drop);
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_test(tc, a_file_that_is_not_there_has_no_owner);
    tcase_add_test(tc, the_owner_is_the_process_that_took_it);
    tcase_add_test(tc, two_processes_cannot_have_it);
    tcase_add_test(tc, a_killed_owner_leaves_it_free);
    tcase_add_test(tc, a_signal_reaches_the_owner);
    tcase_add_test(tc, a_pid_in_a_file_is_no_owner);
    tcase_add_test(tc, a_place_that_cannot_be_written_is_told_apart);
    tcase_add_test(tc, it_goes_through_exec_when_wanted);
}

int
main(void)
{
    return unit_main("lockfile", add_tests);
}

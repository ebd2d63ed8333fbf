/* test_cgi.c - requests and replies as a CGI program and as a FastCGI worker.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "build-config.h"
#include "cgi.h"
#include "clock.h"
#include "unit_test.h"

static struct buf got = BUF_INIT;

static void
teardown(void)
{
    buf_free(&got);
}

/* Does the program let in all that wait? */
static bool lets_in;

/* A program that answers with method, argument "a", and the body; a body that
 * failed is answered with 400, a body "bye" ends the program after the reply,
 * "slow" takes 0.3 s, and who has waited for more than half of that is told. */
static int
echo_program(void)
{
    struct cgi *cgi = cgi_open();
    struct buf body = BUF_INIT;
    int rc;

    if (lets_in)
        cgi_let_in(cgi);
    while ((rc = cgi_next(cgi)) > 0) {
        char block[1000];
        ssize_t n;

        buf_reset(&body);
        buf_addf(&body, "%s ", cgi_var(cgi, "REQUEST_METHOD"));
        (void)cgi_arg(cgi_var(cgi, "QUERY_STRING"), "a", &body);
        buf_addc(&body, '|');
        while ((n = cgi_read(cgi, block, sizeof(block))) > 0)
            buf_addn(&body, block, (size_t)n);
        if (strstr(buf_str(&body), "|bye") != NULL)
            cgi_stop(cgi);
        if (strstr(buf_str(&body), "|slow") != NULL)
            clock_sleep(0.3);
        if (cgi_waited(cgi) > 0.15)
            buf_add(&body, ", waited");
        (void)cgi_reply(cgi, n < 0 ? 400 : 200, "text/plain", buf_str(&body),
                        body.len);
    }
    buf_free(&body);
    cgi_close(cgi);
    return rc;
}

/* ---- CGI ----------------------------------------------------------------- */

static void
set_or_clear(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Run `program` as a web server would; its exit status, its output in `got`. */
static int
run_cgi(int (*program)(void), const char *method, const char *length,
        const char *body)
{
    int status;
    pid_t child;

    ck_assert_int_eq(
        file_write_nosync(scratch("body"), body, strlen(body), 0600), 0);
    if ((child = fork()) == 0) {
        int in = open(scratch("body"), O_RDONLY);
        int out = open(scratch("out"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

        set_or_clear("REQUEST_METHOD", method);
        set_or_clear("CONTENT_LENGTH", length);
        setenv("QUERY_STRING", "b=2&a=x%40y", 1);
        (void)dup2(in, STDIN_FILENO);
        (void)dup2(out, STDOUT_FILENO);
        _exit(program() == 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    buf_reset(&got);
    ck_assert_int_eq(file_read(scratch("out"), 1 << 20, &got), 0);
    return status;
}

#define OK(length)                                                             \
    "Content-Type: text/plain\r\nContent-Length: " length "\r\n\r\n"

static const struct {
    const char *promise, *method, *length, *body, *reply;
} requests[] = {
    {"the body is read",                            "POST", "5",  "hello", OK("14") "POST x@y|hello"},
    {"not a byte more than its length",             "POST", "4",  "hello",
     OK("13") "POST x@y|hell"                                                                       },
    {"an empty body",                               "POST", "0",  "",      OK("9") "POST x@y|"      },
    {"without a length it is all there is",         "POST", NULL, "hello",
     OK("14") "POST x@y|hello"                                                                      },
    {"a length that is no number is none",          "POST", "x5", "hello",
     OK("14") "POST x@y|hello"                                                                      },
    {"GET has no body",                             "GET",  NULL, "hello", OK("8") "GET x@y|"       },
    {"a body shorter than its length is a failure", "POST", "9",  "hello",
     "Status: 400 Bad Request\r\n" OK("14") "POST x@y|hello"                                        },
};

START_TEST(a_cgi_program_answers_one_request)
{
    ck_assert_int_eq(run_cgi(echo_program, requests[_i].method,
                             requests[_i].length, requests[_i].body),
                     0);
    ck_assert_msg(strcmp(buf_str(&got), requests[_i].reply) == 0,
                  "broken: %s: %s", requests[_i].promise, buf_str(&got));
}
END_TEST

static int
redirecting_program(void)
{
    struct cgi *cgi = cgi_open();
    int rc = cgi_next(cgi) == 1 && !cgi_is_fastcgi(cgi) ? 0 : -1;

    cgi_drain(cgi);
    if (rc == 0)
        rc = cgi_reply_with(cgi, 302, "text/html", "Location: /x\r\n", "", 0);
    cgi_close(cgi);
    return rc;
}

START_TEST(a_reply_may_have_headers_of_its_own)
{
    ck_assert_int_eq(run_cgi(redirecting_program, "POST", "3", "abc"), 0);
    ck_assert_str_eq(buf_str(&got),
                     "Status: 302 Found\r\nContent-Type: text/html\r\n"
                     "Content-Length: 0\r\nLocation: /x\r\n\r\n");
}
END_TEST

/* Its output is a pipe that nobody reads. */
START_TEST(a_client_that_goes_early_does_no_harm)
{
    int ends[2], status;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    (void)close(ends[0]);
    if ((child = fork()) == 0) {
        struct cgi *cgi = cgi_open();
        int rc;

        (void)dup2(ends[1], STDOUT_FILENO);
        (void)cgi_next(cgi);
        rc = cgi_reply(cgi, 200, "text/plain", "x", 1);
        _exit(rc == -1 ? 7 : 8);
    }
    (void)close(ends[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

static const struct {
    const char *text;
    int64_t length;
} lengths[] = {
    {"0",                   0                          },
    {"5000000000",          INT64_C(5000000000)        },
    {"999999999999999999",  INT64_C(999999999999999999)},
    {"9999999999999999999", -1                         },
    {"",                    -1                         },
    {"-1",                  -1                         },
    {"+1",                  -1                         },
    {" 1",                  -1                         },
    {"0x10",                -1                         },
    {"1e3",                 -1                         },
};

START_TEST(a_content_length_is_digits)
{
    struct cgi *cgi = cgi_open();

    setenv("CONTENT_LENGTH", lengths[_i].text, 1);
    ck_assert_int_eq(cgi_content_length(cgi), lengths[_i].length);
    cgi_close(cgi);
}
END_TEST

/* ---- query strings ------------------------------------------------------- */

static const struct {
    const char *query, *name, *value; /* NULL: absent */
} args[] = {
    {"a=1&b=2",         "a", "1"          },
    {"a=1&b=2",         "b", "2"          },
    {"a=1&b=2",         "c", NULL         },
    {"",                "a", NULL         },
    {"ab=1",            "a", NULL         },
    {"ab=1",            "b", NULL         },
    {"a",               "a", ""           },
    {"a=",              "a", ""           },
    {"&&a=1",           "a", "1"          },
    {"a=1&a=2",         "a", "1"          },
    {"a=x=y",           "a", "x=y"        },
    {"a=bob%40x.org+b", "a", "bob@x.org b"},
    {"a=%c3%A9",        "a", "\xc3\xa9"   },
    {"a=%e9",           "a", "\xc3\xa9"   },
    {"a=x%00y",         "a", "xy"         },
    {"a=100%",          "a", "100%"       },
    {"a=%4",            "a", "%4"         },
    {"a=%zz",           "a", "%zz"        },
    {"a=%4&b=1",        "a", "%4"         },
    {"%61=1",           "a", "1"          },
};

START_TEST(an_argument_is_decoded)
{
    bool there = cgi_arg(args[_i].query, args[_i].name, &got);

    ck_assert(there == (args[_i].value != NULL));
    ck_assert_str_eq(buf_str(&got), there ? args[_i].value : "");
}
END_TEST

/* ---- FastCGI ------------------------------------------------------------- */

#ifdef HAVE_FCGI

enum { BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6 };

static pid_t worker;

static void
socket_address(struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    ck_assert(str_copy(address->sun_path, sizeof(address->sun_path),
                       scratch("socket")));
}

/* The echo program with a listening socket on fd 0.  A signal that comes before
 * it can catch it waits. */
static pid_t
fork_worker(int fd)
{
    sigset_t later, before;
    pid_t pid;

    sigemptyset(&later);
    sigaddset(&later, SIGTERM);
    sigaddset(&later, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &later, &before);
    pid = fork();

    if (pid == 0) {
        (void)dup2(fd, 0);
        (void)close(fd);
        _exit(echo_program() == 0 ? 0 : 1);
    }
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}

static int
listening_socket(void)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    socket_address(&address);
    (void)unlink(address.sun_path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    ck_assert_int_eq(listen(fd, 5), 0);
    return fd;
}

static void
start_worker(void)
{
    int fd = listening_socket();

    worker = fork_worker(fd);
    (void)close(fd);
}

static void
worker_ends_well(void)
{
    int status;

    ck_assert_int_eq(waitpid(worker, &status, 0), worker);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

static int
connect_worker(void)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    socket_address(&address);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)),
                     0);
    return fd;
}

/* One record: version 1, type, request 1, length, no padding. */
static void
send_record(int fd, int type, const void *bytes, size_t n)
{
    const unsigned char head[8] = {1,
                                   (unsigned char)type,
                                   0,
                                   1,
                                   (unsigned char)(n >> 8),
                                   (unsigned char)n,
                                   0,
                                   0};

    ck_assert_int_eq(file_write_all(fd, head, sizeof(head)), 0);
    ck_assert_int_eq(file_write_all(fd, bytes, n), 0);
}

static void
add_param(struct buf *b, const char *name, const char *value)
{
    buf_addc(b, (char)strlen(name));
    buf_addc(b, (char)strlen(value));
    buf_add(b, name);
    buf_add(b, value);
}

static void
send_begin(int fd, const char *length)
{
    static const char responder[8] = {0, 1, 0, 0, 0, 0, 0, 0};
    struct buf params = BUF_INIT;

    send_record(fd, BEGIN, responder, sizeof(responder));
    add_param(&params, "REQUEST_METHOD", "POST");
    add_param(&params, "QUERY_STRING", "a=q");
    add_param(&params, "CONTENT_LENGTH", length);
    send_record(fd, PARAMS, params.data, params.len);
    send_record(fd, PARAMS, "", 0);
    buf_free(&params);
}

static bool
read_all(int fd, void *bytes, size_t n)
{
    char *p = bytes;

    while (n > 0) {
        ssize_t part = read(fd, p, n);

        if (part <= 0)
            return false;
        p += part;
        n -= (size_t)part;
    }
    return true;
}

/* All of the reply's STDOUT, up to END. */
static const char *
read_reply(int fd)
{
    unsigned char head[8];

    buf_reset(&got);
    while (read_all(fd, head, sizeof(head)) && head[1] != END) {
        size_t n = (size_t)head[4] << 8 | head[5];
        char *to = buf_reserve(&got, n + 256);

        ck_assert(read_all(fd, to, n + head[6]));
        if (head[1] == STDOUT)
            got.len += n;
        got.data[got.len] = '\0';
    }
    return buf_str(&got);
}

static const char *
ask(const char *length, const char *body)
{
    int fd = connect_worker();
    const char *reply;

    send_begin(fd, length);
    if (body[0] != '\0')
        send_record(fd, STDIN, body, strlen(body));
    send_record(fd, STDIN, "", 0);
    reply = read_reply(fd);
    (void)close(fd);
    return reply;
}

START_TEST(a_worker_answers_request_after_request)
{
    start_worker();
    ck_assert_str_eq(ask("5", "hello"), OK("12") "POST q|hello");
    ck_assert_str_eq(ask("0", ""), OK("7") "POST q|");
    ck_assert_str_eq(ask("9", "short"),
                     "Status: 400 Bad Request\r\n" OK("12") "POST q|short");
    ck_assert_str_eq(ask("3", "bye"), OK("10") "POST q|bye");
    worker_ends_well();
}
END_TEST

/* A request that waits for its reply: the connection. */
static int
begin(const char *length, const char *body)
{
    int fd = connect_worker();

    send_begin(fd, length);
    send_record(fd, STDIN, body, strlen(body));
    send_record(fd, STDIN, "", 0);
    return fd;
}

static const char *
end(int fd)
{
    const char *reply = read_reply(fd);

    (void)close(fd);
    return reply;
}

/* The others are let in when the first is done, or with it if the worker was
 * slow to begin; one of them goes before its turn. */
START_TEST(who_is_let_in_is_answered_and_his_wait_is_known)
{
    int fd[5];

    lets_in = true;
    start_worker();
    fd[0] = begin("4", "slow");
    fd[1] = begin("4", "slow");
    fd[2] = begin("5", "hello");
    (void)close(begin("4", "gone"));
    fd[3] = begin("3", "bye");
    fd[4] = begin("4", "last");
    ck_assert_str_eq(end(fd[0]), OK("11") "POST q|slow");
    ck_assert_ptr_nonnull(strstr(end(fd[1]), "POST q|slow"));
    ck_assert_str_eq(end(fd[2]), OK("20") "POST q|hello, waited");
    ck_assert_str_eq(end(fd[3]), OK("18") "POST q|bye, waited");
    /* let in before the program was told to end */
    ck_assert_str_eq(end(fd[4]), OK("19") "POST q|last, waited");
    worker_ends_well();
    lets_in = false;
}
END_TEST

START_TEST(a_long_body_comes_in_pieces)
{
    enum { RECORDS = 100, SIZE = 60000 };
    static char block[SIZE];
    int fd;

    start_worker();
    fd = connect_worker();
    memset(block, 'x', sizeof(block));
    send_begin(fd, "6000000");
    for (int i = 0; i < RECORDS; i++)
        send_record(fd, STDIN, block, sizeof(block));
    send_record(fd, STDIN, "", 0);
    ck_assert_int_eq(strncmp(read_reply(fd), OK("6000007") "POST q|xxx", 60),
                     0);
    ck_assert_uint_eq(got.len, strlen(OK("6000007")) + 6000007);
    (void)close(fd);
    (void)ask("3", "bye");
    worker_ends_well();
}
END_TEST

/* In the middle of the body, and before the reply is read. */
START_TEST(a_client_that_goes_does_not_end_the_worker)
{
    int fd;

    start_worker();
    fd = connect_worker();
    send_begin(fd, "1000");
    send_record(fd, STDIN, "half", 4);
    (void)close(fd);
    fd = connect_worker();
    send_begin(fd, "4");
    send_record(fd, STDIN, "half", 4);
    send_record(fd, STDIN, "", 0);
    (void)close(fd);
    ck_assert_str_eq(ask("3", "bye"), OK("10") "POST q|bye");
    worker_ends_well();
}
END_TEST

START_TEST(a_stop_signal_ends_a_worker)
{
    static const int signals[] = {SIGTERM, SIGHUP};

    for (int i = 0; i < 20; i++) {
        start_worker();
        if (i >= 10)
            (void)ask("5", "hello");
        ck_assert_int_eq(kill(worker, signals[i % 2]), 0);
        worker_ends_well();
    }
}
END_TEST

START_TEST(a_stop_signal_lets_the_request_end)
{
    int fd;

    start_worker();
    (void)ask("5", "hello");
    fd = connect_worker();
    send_begin(fd, "8");
    send_record(fd, STDIN, "half", 4);
    usleep(50000); /* the worker waits for the other half */
    ck_assert_int_eq(kill(worker, SIGTERM), 0);
    usleep(50000);
    send_record(fd, STDIN, "half", 4);
    send_record(fd, STDIN, "", 0);
    ck_assert_str_eq(read_reply(fd), OK("15") "POST q|halfhalf");
    (void)close(fd);
    worker_ends_well();
}
END_TEST

/* Clients wait at the door all the time: the signal must be seen still. */
START_TEST(a_busy_worker_stops_too)
{
    int fd, next;

    start_worker();
    fd = connect_worker();
    send_begin(fd, "8");
    send_record(fd, STDIN, "half", 4);
    next = connect_worker();
    send_begin(next, "0");
    send_record(next, STDIN, "", 0);
    usleep(50000);
    ck_assert_int_eq(kill(worker, SIGTERM), 0);
    send_record(fd, STDIN, "half", 4);
    send_record(fd, STDIN, "", 0);
    ck_assert_str_eq(read_reply(fd), OK("15") "POST q|halfhalf");
    worker_ends_well();
    (void)close(fd);
    (void)close(next);
}
END_TEST

/* Both wake for each client, one gets it; then both are told to stop. */
START_TEST(two_workers_share_a_socket)
{
    int fd = listening_socket();
    pid_t first;

    first = fork_worker(fd);
    worker = fork_worker(fd);
    (void)close(fd);
    for (int i = 0; i < 100; i++)
        ck_assert_str_eq(ask("5", "hello"), OK("12") "POST q|hello");
    ck_assert_int_eq(kill(worker, SIGTERM), 0);
    worker_ends_well();
    worker = first;
    ck_assert_int_eq(kill(worker, SIGTERM), 0);
    worker_ends_well();
}
END_TEST

START_TEST(other_signals_do_not_end_a_worker)
{
    start_worker();
    (void)ask("5", "hello");
    ck_assert_int_eq(kill(worker, SIGUSR2), 0);
    usleep(20000);
    ck_assert_str_eq(ask("3", "bye"), OK("10") "POST q|bye");
    worker_ends_well();
}
END_TEST

#endif

static void
add_tests(TCase *tc)
{
    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_loop_test(tc, a_cgi_program_answers_one_request, 0,
                        ARRAY_LEN(requests));
    tcase_add_test(tc, a_reply_may_have_headers_of_its_own);
    tcase_add_test(tc, a_client_that_goes_early_does_no_harm);
    tcase_add_loop_test(tc, a_content_length_is_digits, 0, ARRAY_LEN(lengths));
    tcase_add_loop_test(tc, an_argument_is_decoded, 0, ARRAY_LEN(args));
#ifdef HAVE_FCGI
    tcase_add_test(tc, a_worker_answers_request_after_request);
    tcase_add_test(tc, who_is_let_in_is_answered_and_his_wait_is_known);
    tcase_add_test(tc, a_long_body_comes_in_pieces);
    tcase_add_test(tc, a_client_that_goes_does_not_end_the_worker);
    tcase_add_test(tc, a_stop_signal_ends_a_worker);
    tcase_add_test(tc, a_stop_signal_lets_the_request_end);
    tcase_add_test(tc, a_busy_worker_stops_too);
    tcase_add_test(tc, two_workers_share_a_socket);
    tcase_add_test(tc, other_signals_do_not_end_a_worker);
#endif
}

int
main(void)
{
    return unit_main("cgi", add_tests);
}

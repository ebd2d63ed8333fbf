/* uppercase.c - an application without any BOINC library: reads the file `in`,
 * writes it in upper case to the file `out`.
 *
 * What a program must do to run under a client: work in the current folder,
 * where <copy_file/> in the templates puts the input and takes the output from;
 * at the end leave a file boinc_finish_called whose first line is the exit
 * code.  A program that ends without that file is taken for interrupted and
 * started again.
 *
 * Options, so that tests can make it misbehave:
 *   --sleep N      work for N seconds longer
 *   --exit N       end with exit code N
 *   --abort        die by a signal
 *   --out_size N   write N bytes of output
 *   --wrong        write something else each time
 *   --wrong_if F   the same if the file F exists
 *   --disk N       write a scratch file of N bytes, then wait for ever
 *   --spin         compute for ever
 *   --trickle W    send the text W to the project, wait for an answer, and
 *                  append it to the output
 *   --make F       write the output to the file F, too
 *   --append F     append the input file F, which is not copied but linked
 *
 * A trickle needs an application version with an <api_version> of 6 or more:
 * only then the client has its shared memory in a file of the folder. */
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct options {
    long sleep, exit_code, out_size, disk;
    bool abort, wrong, spin;
    const char *trickle, *make, *append;
};

/* The client's shared memory: eight channels of so many bytes, each a flag
 * ("there is a message") and a text. */
enum { CHANNEL_SIZE = 1024, CHANNEL_TRICKLE_UP = 6 };

static void
finish(int code)
{
    FILE *f = fopen("boinc_finish_called", "w");

    if (f != NULL) {
        fprintf(f, "%d\n", code);
        fclose(f);
    }
    exit(code);
}

static void
fail(const char *what)
{
    perror(what);
    finish(1);
}

static struct options
read_options(int argc, char **argv)
{
    struct options o = {.sleep = 0};

    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "0";

        if (strcmp(argv[i], "--sleep") == 0)
            o.sleep = strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--exit") == 0)
            o.exit_code = strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--out_size") == 0)
            o.out_size = strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--disk") == 0)
            o.disk = strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--abort") == 0)
            o.abort = true;
        else if (strcmp(argv[i], "--wrong") == 0)
            o.wrong = true;
        else if (strcmp(argv[i], "--wrong_if") == 0)
            o.wrong = access(value, F_OK) == 0;
        else if (strcmp(argv[i], "--spin") == 0)
            o.spin = true;
        else if (strcmp(argv[i], "--trickle") == 0)
            o.trickle = value;
        else if (strcmp(argv[i], "--make") == 0)
            o.make = value;
        else if (strcmp(argv[i], "--append") == 0)
            o.append = value;
    }
    return o;
}

/* Bytes of a file, 'X' behind what there is. */
static void
fill(FILE *f, long from, long to)
{
    for (; from < to; from++)
        putc('X', f);
}

static void
use_disk(long bytes)
{
    FILE *f = fopen("scratch", "w");

    if (f == NULL)
        fail("scratch");
    fill(f, 0, bytes);
    if (fclose(f) != 0)
        fail("scratch");
    for (;;)
        sleep(1);
}

static void
compute_for_ever(void)
{
    volatile double x = 1;

    for (;;)
        x = x * 1.0000001 + 1e-9;
}

/* ---- messages to and from the project ---- */

static void
tell_client(void)
{
    static const char text[] = "<have_new_trickle_up/>\n";
    int fd = open("boinc_mmap_file", O_WRONLY);
    const off_t at = (off_t)CHANNEL_SIZE * CHANNEL_TRICKLE_UP;

    if (fd < 0 || pwrite(fd, text, sizeof(text), at + 1) != sizeof(text) ||
        pwrite(fd, "\1", 1, at) != 1)
        fail("boinc_mmap_file");
    close(fd);
}

static void
send_trickle(const char *text)
{
    FILE *f = fopen("trickle_up.xml", "w");

    if (f == NULL)
        fail("trickle_up.xml");
    fprintf(f, "<variety>trickle_echo</variety>\n<text>\n%s\n</text>\n", text);
    if (fclose(f) != 0)
        fail("trickle_up.xml");
    tell_client();
}

static void
append_file(FILE *out, const char *path)
{
    FILE *f = fopen(path, "r");

    if (f == NULL)
        fail(path);
    for (int c; (c = getc(f)) != EOF;)
        putc(c, out);
    fclose(f);
}

static void
append_answer(FILE *out)
{
    glob_t found = {.gl_pathc = 0};

    while (glob("trickle_down_*", 0, NULL, &found) != 0)
        sleep(1);
    append_file(out, found.gl_pathv[0]);
    globfree(&found);
}

/* The file NAME says where the real one is: <soft_link>PATH</soft_link>. */
static void
append_linked(FILE *out, const char *name)
{
    char path[1024];
    FILE *f = fopen(name, "r");

    if (f == NULL || fscanf(f, " <soft_link>%1023[^<]</soft_link>", path) != 1)
        fail(name);
    fclose(f);
    append_file(out, path);
}

static void
make_copy(const char *name)
{
    FILE *f = fopen(name, "w");

    if (f == NULL)
        fail(name);
    append_file(f, "out");
    if (fclose(f) != 0)
        fail(name);
}

static void
convert(const struct options *o)
{
    FILE *in = fopen("in", "r");
    FILE *out = fopen("out", "w");
    long n = 0;

    if (in == NULL)
        fail("in");
    if (out == NULL)
        fail("out");
    for (int c; (c = getc(in)) != EOF; n++)
        putc(toupper(c), out);
    fill(out, n, o->out_size);
    if (o->wrong)
        fprintf(out, "WRONG %ld %ld\n", (long)getpid(), (long)time(NULL));
    if (o->trickle != NULL)
        append_answer(out);
    if (o->append != NULL)
        append_linked(out, o->append);
    if (ferror(in))
        fail("in");
    fclose(in);
    if (fclose(out) != 0) /* a full disk may show only here */
        fail("out");
    if (o->make != NULL)
        make_copy(o->make);
}

int
main(int argc, char **argv)
{
    struct options o = read_options(argc, argv);

    fprintf(stderr, "uppercase starts\n");
    if (o.abort)
        raise(SIGABRT);
    if (o.disk > 0)
        use_disk(o.disk);
    if (o.spin)
        compute_for_ever();
    if (o.trickle != NULL)
        send_trickle(o.trickle);
    for (long i = 0; i < o.sleep; i++)
        sleep(1);
    if (o.exit_code != 0)
        finish((int)o.exit_code);
    convert(&o);
    fprintf(stderr, "uppercase ends\n");
    finish(0);
}

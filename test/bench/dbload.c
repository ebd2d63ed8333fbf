/*
 * dbload - what the database and its disk can do, in the shapes a volunteer
 * computing server uses them.  Makes a scratch table and drops it again.
 *
 *   dbload -S SOCKET -u USER -d DATABASE [-s SECS] [-y]
 *
 * Prints, for each shape, statements/s and rows/s:
 *   ping            "select 1"
 *   point select    one row of ~600 bytes by primary key
 *   update C conns  single-row UPDATE by primary key, autocommit
 *   update txn N    one transaction of N single-row UPDATEs
 *   multi N         one statement that updates N rows (INSERT .. ON DUPLICATE
 * KEY) insert N        one INSERT of N rows of ~1 KB and fsync: 4 KB write +
 * fdatasync on a scratch file (-F PATH).
 * -y: the yardstick alone, "update" with 8 connections.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mysql.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *sock, *user = "root", *pass = "", *db, *fpath;
static double secs = 5;
static int yardstick;
static int rows = 100000;

static double
now_s(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static MYSQL *
conn_new(void)
{
    MYSQL *m = mysql_init(NULL);

    if (!m || !mysql_real_connect(m, NULL, user, pass, db, 0, sock, 0)) {
        fprintf(stderr, "dbload: connect: %s\n",
                m ? mysql_error(m) : "no memory");
        exit(2);
    }
    return m;
}

static void
q(MYSQL *m, const char *s, size_t n)
{
    MYSQL_RES *r;

    if (mysql_real_query(m, s, n)) {
        fprintf(stderr, "dbload: %s\n%.200s\n", mysql_error(m), s);
        exit(2);
    }
    r = mysql_store_result(m);
    if (r)
        mysql_free_result(r);
}

static void
qs(MYSQL *m, const char *s)
{
    q(m, s, strlen(s));
}

enum { PING, SELECT, UPDATE, TXN, MULTI, INSERT };
struct job {
    int kind, n;
    unsigned seed;
    unsigned long st, rw;
    double end;
};

static void *
worker(void *arg)
{
    struct job *j = arg;
    MYSQL *m = conn_new();
    char *b = malloc(256 + (size_t)(j->n > 1 ? j->n : 1) * 1200), blob[1024];
    size_t n;

    if (!b)
        exit(2);
    memset(blob, 'b', sizeof blob);
    blob[900] = 0;
    while (now_s() < j->end) {
        int i, id = 1 + (int)(rand_r(&j->seed) % (unsigned)rows);

        switch (j->kind) {
        case PING:
            qs(m, "select 1"), j->st++, j->rw++;
            break;
        case SELECT:
            n = (size_t)sprintf(b, "select * from dbload where id=%d", id);
            q(m, b, n), j->st++, j->rw++;
            break;
        case UPDATE:
            n = (size_t)sprintf(
                b, "update dbload set a=a+1, d=%u, c=%d where id=%d",
                rand_r(&j->seed), id & 7, id);
            q(m, b, n), j->st++, j->rw++;
            break;
        case TXN:
            qs(m, "start transaction");
            for (i = 0; i < j->n; i++) {
                /* ids in order, so that transactions cannot deadlock */
                n = (size_t)sprintf(
                    b, "update dbload set a=a+1, d=%u, c=%d where id=%d",
                    rand_r(&j->seed), i & 7, (id + i) % rows + 1);
                q(m, b, n);
            }
            qs(m, "commit");
            j->st += (unsigned long)j->n + 2, j->rw += (unsigned long)j->n;
            break;
        case MULTI:
            n = (size_t)sprintf(b, "insert into dbload(id,a,c,d) values");
            for (i = 0; i < j->n; i++)
                n += (size_t)sprintf(b + n, "%s(%d,1,%d,%u)", i ? "," : "",
                                     (id + i) % rows + 1, i & 7,
                                     rand_r(&j->seed));
            n += (size_t)sprintf(
                b + n,
                " on duplicate key update a=a+1,c=values(c),d=values(d)");
            q(m, b, n), j->st++, j->rw += (unsigned long)j->n;
            break;
        case INSERT:
            n = (size_t)sprintf(b, "insert into dbload(a,c,d,x) values");
            for (i = 0; i < j->n; i++)
                n += (size_t)sprintf(b + n, "%s(1,%d,%u,'%s')", i ? "," : "",
                                     i & 7, rand_r(&j->seed), blob);
            q(m, b, n), j->st++, j->rw += (unsigned long)j->n;
            break;
        }
    }
    mysql_close(m);
    free(b);
    return NULL;
}

static void
run(const char *name, int kind, int n, int conns)
{
    struct job *js = calloc((size_t)conns, sizeof *js);
    pthread_t *t = calloc((size_t)conns, sizeof *t);
    double t0 = now_s(), el;
    unsigned long st = 0, rw = 0;
    int i;

    for (i = 0; i < conns; i++) {
        js[i] =
            (struct job){kind, n, (unsigned)(i * 7919 + 1), 0, 0, t0 + secs};
        pthread_create(&t[i], NULL, worker, &js[i]);
    }
    for (i = 0; i < conns; i++) {
        pthread_join(t[i], NULL);
        st += js[i].st, rw += js[i].rw;
    }
    el = now_s() - t0;
    printf("%-14s batch=%-5d conns=%-3d statements_s=%-9.0f rows_s=%.0f\n",
           name, n, conns, (double)st / el, (double)rw / el);
    fflush(stdout);
    free(js);
    free(t);
}

static void
fsyncs(void)
{
    static char blk[4096];
    int fd = open(fpath, O_RDWR | O_CREAT | O_TRUNC, 0600), pass_no;

    if (fd < 0) {
        perror(fpath);
        return;
    }
    memset(blk, 'f', sizeof blk);
    for (pass_no = 0; pass_no < 1024; pass_no++)
        if (write(fd, blk, sizeof blk) != sizeof blk)
            perror("write");
    fsync(fd);
    for (pass_no = 0; pass_no < 2; pass_no++) {
        double t0 = now_s();
        long n = 0;

        if (pass_no) /* appending: the size changes too */
            lseek(fd, 0, SEEK_END);
        while (now_s() < t0 + secs) {
            if (!pass_no)
                lseek(fd, (n % 1024) * 4096, SEEK_SET);
            if (write(fd, blk, sizeof blk) != sizeof blk)
                perror("write");
            if (pass_no)
                fsync(fd);
            else
                fdatasync(fd);
            n++;
        }
        printf("%-14s per_s=%.0f\n", pass_no ? "append+fsync" : "fdatasync 4K",
               (double)n / (now_s() - t0));
    }
    close(fd);
    unlink(fpath);
}

static void
shapes(void)
{
    static const int cs[] = {1, 8, 32};

    run("ping", PING, 0, 1);
    run("ping", PING, 0, 8);
    run("point select", SELECT, 0, 1);
    run("point select", SELECT, 0, 8);
    for (int i = 0; i < 3; i++)
        run("update", UPDATE, 0, cs[i]);
    run("update txn", TXN, 10, 1);
    run("update txn", TXN, 100, 1);
    run("update txn", TXN, 1000, 1);
    run("multi", MULTI, 100, 1);
    run("multi", MULTI, 1000, 1);
    run("insert", INSERT, 1, 1);
    run("insert", INSERT, 1, 8);
    run("insert", INSERT, 100, 1);
    run("insert", INSERT, 1000, 1);
}

int
main(int argc, char **argv)
{
    int ch, i;
    MYSQL *m;
    char *b = malloc(1000 * 1200);
    size_t n;

    while ((ch = getopt(argc, argv, "S:u:p:d:s:F:y")) != -1)
        switch (ch) {
        case 'S':
            sock = optarg;
            break;
        case 'u':
            user = optarg;
            break;
        case 'p':
            pass = optarg;
            break;
        case 'd':
            db = optarg;
            break;
        case 's':
            secs = atof(optarg);
            break;
        case 'F':
            fpath = optarg;
            break;
        case 'y':
            yardstick = 1;
            break;
        default:
            return 2;
        }
    if (fpath)
        fsyncs();
    if (!db)
        return 0;
    mysql_library_init(0, NULL, NULL);
    m = conn_new();
    qs(m, "drop table if exists dbload");
    qs(m, "create table dbload(id integer not null auto_increment primary key,"
          " a integer not null default 0, c integer not null default 0,"
          " d double not null default 0, x blob, index ac(a,c)) engine=InnoDB");
    for (i = 0; i < rows; i += 500) {
        n = (size_t)sprintf(b, "insert into dbload(a,c,d,x) values");
        for (int k = 0; k < 500; k++)
            n += (size_t)sprintf(b + n, "%s(0,%d,0,repeat('x',500))",
                                 k ? "," : "", k & 7);
        q(m, b, n);
    }
    if (yardstick)
        run("update", UPDATE, 0, 8);
    else
        shapes();
    qs(m, "drop table dbload");
    mysql_close(m);
    free(b);
    return 0;
}

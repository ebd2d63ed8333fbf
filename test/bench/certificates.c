/* certificates.c - print upload certificates for rpcload: for each file its
 * name, and the lines of its signature, of which the last is ".".
 *
 *     certificates KEYFILE PREFIX COUNT MAX_NBYTES */
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "sign.h"

static int
print(const struct sign_key *key, const char *prefix, long i, const char *max)
{
    struct buf text = BUF_INIT, out = BUF_INIT;
    int rc;

    buf_addf(&text, "<name>%s_%ld_0</name><max_nbytes>%s</max_nbytes>", prefix,
             i, max);
    rc = sign_data(key, buf_str(&text), text.len, &out);
    if (rc == 0)
        printf("%s_%ld_0\n%s", prefix, i, buf_str(&out));
    buf_free(&text);
    buf_free(&out);
    return rc;
}

int
main(int argc, char **argv)
{
    struct buf err = BUF_INIT;
    struct sign_key *key;
    long count;
    int rc = 0;

    if (argc != 5) {
        fputs("usage: certificates KEYFILE PREFIX COUNT MAX_NBYTES\n", stderr);
        return 100;
    }
    count = strtol(argv[3], NULL, 10);
    key = sign_key_read(argv[1], &err);
    if (key == NULL)
        fprintf(stderr, "%s\n", buf_str(&err));
    for (long i = 0; key != NULL && rc == 0 && i < count; i++)
        rc = print(key, argv[2], i, argv[4]);
    rc = key == NULL || rc != 0 ? 1 : 0;
    sign_key_free(key);
    buf_free(&err);
    return rc;
}

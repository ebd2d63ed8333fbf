/* certify.c - print an upload certificate, for scripts.
 *
 *     certify KEYFILE NAME MAX_NBYTES */
#include <stdio.h>

#include "buf.h"
#include "sign.h"

int
main(int argc, char **argv)
{
    struct buf text = BUF_INIT, out = BUF_INIT, err = BUF_INIT;
    struct sign_key *key;
    int rc = 1;

    if (argc != 4)
        return 100;
    key = sign_key_read(argv[1], &err);
    if (key == NULL) {
        fprintf(stderr, "%s\n", buf_str(&err));
    } else {
        buf_addf(&text, "<name>%s</name><max_nbytes>%s</max_nbytes>", argv[2],
                 argv[3]);
        rc = sign_data(key, buf_str(&text), text.len, &out) == 0 ? 0 : 1;
        fputs(buf_str(&out), stdout);
        sign_key_free(key);
    }
    buf_free(&text);
    buf_free(&out);
    buf_free(&err);
    return rc;
}

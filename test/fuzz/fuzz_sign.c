/* fuzz_sign.c - keys and signatures as text: nothing but the right signature is
 * one.  The input is "KEY%SIGNATURE", or a signature alone for a key of ours.
 */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "fuzz.h"
#include "sign.h"

static const char data[] = "<name>a</name><max_nbytes>5</max_nbytes>";

static struct sign_key *
our_key(void)
{
    static struct sign_key *key;
    struct buf text = BUF_INIT, err = BUF_INIT;

    if (key == NULL &&
        file_read(TEST_DATA "/keys/upload_public", 65536, &text) == 0)
        key = sign_key_parse(buf_str(&text), false, &err);
    FUZZ_MUST(key != NULL);
    buf_free(&text);
    buf_free(&err);
    return key;
}

/* Nobody has signed this with our key. */
static void
check_forgery(const char *block)
{
    FUZZ_MUST(!sign_verify(our_key(), data, sizeof(data) - 1, block));
    FUZZ_MUST(
        !sign_verify_md5(our_key(), "0123456789abcdef0123456789abcdef", block));
}

static void
check_key(const char *text, bool private_key, const char *block)
{
    struct buf err = BUF_INIT, signature = BUF_INIT;
    struct sign_key *key = sign_key_parse(text, private_key, &err);

    FUZZ_MUST((key == NULL) == (err.len > 0));
    if (key != NULL && private_key)
        sign_data(key, data, sizeof(data) - 1, &signature);
    else if (key != NULL)
        sign_verify(key, data, sizeof(data) - 1, block);
    sign_key_free(key);
    buf_free(&err);
    buf_free(&signature);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);
    char *block = strchr(text, '%');

    check_forgery(text);
    if (block != NULL)
        *block++ = '\0';
    check_key(text, false, block != NULL ? block : "");
    check_key(text, true, "");
    free(text);
    return 0;
}

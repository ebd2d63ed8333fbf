/* fuzz_upload.c - the header of an upload, or a question for a file's size. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "fuzz.h"
#include "sign.h"
#include "upload.h"
#include "xml.h"

static struct sign_key *
upload_key(void)
{
    static struct sign_key *key;
    struct buf text = BUF_INIT, err = BUF_INIT;

    if (key == NULL &&
        file_read(TEST_DATA "/keys/upload_public", 65536, &text) == 0)
        key = sign_key_parse(buf_str(&text), false, &err);
    buf_free(&text);
    buf_free(&err);
    return key;
}

static void
check_request(const struct upload_request *rq, size_t n)
{
    struct buf text = BUF_INIT;

    FUZZ_MUST(rq->header_size <= n);
    FUZZ_MUST(memchr(rq->name, '\0', sizeof(rq->name)) != NULL);
    FUZZ_MUST(memchr(rq->xml_signature, '\0', sizeof(rq->xml_signature)) !=
              NULL);
    FUZZ_MUST(rq->md5[0] == '\0' ||
              strspn(rq->md5, "0123456789abcdefABCDEF") == 32);
    if (rq->kind == UPLOAD_FILE && rq->has_max_nbytes) {
        upload_certificate_text(rq->name, rq->max_nbytes, &text);
        if (upload_key() != NULL)
            sign_verify(upload_key(), buf_str(&text), text.len,
                        rq->xml_signature);
    }
    buf_free(&text);
}

/* Whatever a reply has to tell, it is a document. */
static void
check_reply(const char *message)
{
    struct buf out = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;

    upload_reply(UPLOAD_PERMANENT, message, &out);
    doc = xml_parse(buf_str(&out), out.len, "reply", &err);
    FUZZ_MUST(doc != NULL);
    xml_free(doc);
    buf_free(&out);
    buf_free(&err);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);
    struct upload_request rq;
    size_t given = n < UPLOAD_HEADER_MAX ? n : UPLOAD_HEADER_MAX;

    memset(&rq, 0x5a, sizeof(rq));
    if (upload_header_complete(text, given)) {
        upload_parse(text, given, &rq);
        check_request(&rq, given);
        check_reply(rq.name);
    }
    free(text);
    return 0;
}

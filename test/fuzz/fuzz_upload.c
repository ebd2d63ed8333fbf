/* fuzz_upload.c - the header of an upload, or a question for a file's size. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "fuzz.h"
#include "path.h"
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

/* All that this key has signed (test/data); nothing else has a
 * certificate. */
static bool
is_signed(const struct upload_request *rq)
{
    static const struct {
        const char *name;
        int64_t max_nbytes;
    } known[] = {
        {"wu_ok_1_0_r123456789_0",     1000000},
        {"wu_big_2_0_r123456789_1",    1000000},
        {"wu_utrans_3_0_r123456789_1", 3000000},
        {"wu_demo_0_r123456789_0",     1000000},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (strcmp(rq->name, known[i].name) == 0 &&
            rq->max_nbytes == known[i].max_nbytes)
            return true;
    return false;
}

/* A good name is a file below the folder, two levels down. */
static void
check_name(const char *name)
{
    struct buf path = BUF_INIT;
    const char *file;

    if (!path_good_name(name))
        return;
    FUZZ_MUST(path_hier("/upload", name, 1024, false, &path) == 0);
    FUZZ_MUST(strncmp(buf_str(&path), "/upload/", 8) == 0);
    FUZZ_MUST(strstr(buf_str(&path), "..") == NULL);
    file = strchr(buf_str(&path) + 8, '/');
    FUZZ_MUST(file != NULL && strcmp(file + 1, name) == 0);
    buf_free(&path);
}

/* What comes behind the header changes nothing of what is read. */
static void
check_header_alone(const char *bytes, const struct upload_request *rq)
{
    struct upload_request alone;

    FUZZ_MUST(!rq->has_data || bytes[rq->header_size - 1] == '\n');
    FUZZ_MUST(!rq->has_data || upload_header_complete(bytes, rq->header_size));
    upload_parse(bytes, rq->header_size, &alone);
    FUZZ_MUST(memcmp(&alone, rq, sizeof alone) == 0);
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
        FUZZ_MUST(upload_key() != NULL);
        FUZZ_MUST(!sign_verify(upload_key(), buf_str(&text), text.len,
                               rq->xml_signature) ||
                  is_signed(rq));
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
        check_header_alone(text, &rq);
        check_name(rq.name);
        check_reply(rq.name);
    }
    free(text);
    return 0;
}

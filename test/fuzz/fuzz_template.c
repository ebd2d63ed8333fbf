/* fuzz_template.c - an input and an output template; the documents made of them
 * can be read again, and name what was put in. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "fuzz.h"
#include "reply.h"
#include "sign.h"
#include "template.h"
#include "xml.h"

enum { FILES_MAX = 200, DOCUMENT_MAX = 65536 };

static struct sign_key *
certificate_key(void)
{
    static struct sign_key *key;
    struct buf text = BUF_INIT, err = BUF_INIT;

    if (key == NULL &&
        file_read(TEST_DATA "/keys/upload_private", 65536, &text) == 0)
        key = sign_key_parse(buf_str(&text), true, &err);
    buf_free(&text);
    buf_free(&err);
    return key;
}

static void
must_be_xml(const struct buf *document)
{
    struct buf text = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;

    buf_addf(&text, "<documents>\n%s</documents>\n", buf_str(document));
    doc = xml_parse(buf_str(&text), text.len, "document", &err);
    FUZZ_MUST(doc != NULL);
    xml_free(doc);
    buf_free(&text);
    buf_free(&err);
}

/* The scheduler can send it, and the reply is XML. */
static void
must_be_sent(const char *wu_doc, const char *result_doc)
{
    static const struct app app = {.id = 1, .name = "a"};
    static char version_doc[] = "<app_version>\n</app_version>\n";
    static const struct app_version version = {.xml_doc = version_doc};
    static const struct host host;
    static const struct user user = {.id = 7};
    struct reply_job job = {.app = &app, .version = &version, .platform = "p"};
    struct sched_reply reply;
    struct buf out = BUF_INIT;

    reply_init(&reply);
    reply.client_version = 72005;
    reply.master_url = "http://example.org/";
    reply.project_name = "Example";
    reply.user = &user;
    reply.host = &host;
    job.wu = xcalloc(1, sizeof *job.wu);
    job.wu->xml_doc = xstrdup(wu_doc);
    job.result = xcalloc(1, sizeof *job.result);
    job.result->xml_doc_in = xstrdup(result_doc);
    FUZZ_MUST(reply_documents_whole(job.wu, job.result));
    reply_job(&reply, &job);
    reply_write(&reply, &out);
    must_be_xml(&out);
    reply_free(&reply);
    buf_free(&out);
}

static void
check_input_document(const struct input_template *t)
{
    static const struct input_paths paths = {
        .download_url = "http://example.org/download",
        .download_dir = "/nonexistent",
        .fanout = 1024,
    };
    struct input_file file[FILES_MAX];
    struct document_file found[FILES_MAX];
    struct buf out = BUF_INIT, err = BUF_INIT;
    size_t n = input_template_n_files(t);

    for (size_t i = 0; i < n && i < FILES_MAX; i++)
        file[i] = (struct input_file){
            .name = "input_1",
            .md5 = "0123456789abcdef0123456789abcdef",
            .nbytes = 12345,
        };
    if (n < FILES_MAX &&
        input_template_document(t, file, n, NULL, &paths, &out, &err) == 0) {
        FUZZ_MUST(out.len < DOCUMENT_MAX);
        must_be_xml(&out);
        FUZZ_MUST(workunit_document_files(buf_str(&out), found, FILES_MAX) >=
                  0);
        must_be_sent(buf_str(&out), "<result>\n</result>\n");
    }
    buf_free(&out);
    buf_free(&err);
}

static void
check_input(const char *text, size_t n)
{
    struct buf err = BUF_INIT, warn = BUF_INIT;
    struct input_template *t = input_template_parse(text, n, "in", &err);
    struct workunit wu = {0};

    FUZZ_MUST((t == NULL) == (err.len > 0));
    if (t != NULL) {
        input_template_apply(t, &wu, &warn);
        check_input_document(t);
        input_template_free(t);
    }
    buf_free(&err);
    buf_free(&warn);
}

static void
check_output(const char *text, size_t n)
{
    struct output_file file[FILES_MAX];
    struct buf err = BUF_INIT, out = BUF_INIT;
    struct output_template *t = output_template_parse(text, n, "out", &err);

    FUZZ_MUST((t == NULL) == (err.len > 0));
    if (t != NULL &&
        output_template_document(t, "wu_1_0", 4711, "http://example.org/upload",
                                 certificate_key(), &out, &err) == 0) {
        must_be_xml(&out);
        FUZZ_MUST(result_document_files(buf_str(&out), file, FILES_MAX) >= 0);
        must_be_sent("<workunit>\n</workunit>\n", buf_str(&out));
    }
    if (t != NULL)
        output_template_free(t);
    buf_free(&err);
    buf_free(&out);
}

/* Documents in the database may be BOINC's: any text. */
static void
read_documents(const char *text)
{
    struct document_file in[8];
    struct output_file out[8];

    workunit_document_files(text, in, 8);
    result_document_files(text, out, 8);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);

    check_input(text, n);
    check_output(text, n);
    read_documents(text);
    free(text);
    return 0;
}

/* archive_record.c - a row as a record of an archive.
 *
 * Documents stand in the record as elements, as readers of BOINC's archives
 * expect.  But one that came from a client may be anything: what is not
 * well-formed, or could be taken for the end of a record, is escaped. */
#include "archive_record.h"

#include <stdbool.h>
#include <string.h>

#include "buf.h"
#include "db_archive.h"
#include "xml.h"

static bool
may_be_embedded(const char *text)
{
    struct buf whole = BUF_INIT, err = BUF_INIT;
    struct xml_doc *doc;

    if (strstr(text, ARCHIVE_WORKUNIT_ELEMENT) != NULL ||
        strstr(text, ARCHIVE_RESULT_ELEMENT) != NULL)
        return false;
    buf_addf(&whole, "<x>%s</x>", text);
    doc = xml_parse(whole.data, whole.len, "document", &err);
    xml_free(doc);
    buf_free(&whole);
    buf_free(&err);
    return doc != NULL;
}

static void
add_document(struct buf *out, const struct archive_field *f)
{
    size_t n = strlen(f->text);

    buf_addf(out, "  <%s>\n", f->name);
    if (may_be_embedded(f->text))
        buf_add(out, f->text);
    else
        xml_escape(out, f->text);
    if (n > 0 && f->text[n - 1] != '\n')
        buf_addc(out, '\n');
    buf_addf(out, "  </%s>\n", f->name);
}

void
archive_record(struct buf *out, const char *element,
               const struct archive_field *field, int n_fields)
{
    buf_addf(out, "<%s>\n", element);
    for (int i = 0; i < n_fields; i++) {
        const struct archive_field *f = &field[i];

        switch (f->form) {
        case ARCHIVE_PLAIN:
            buf_addf(out, "  <%s>%s</%s>\n", f->name, f->text, f->name);
            break;
        case ARCHIVE_TEXT:
            buf_addf(out, "  <%s>", f->name);
            xml_escape(out, f->text);
            buf_addf(out, "</%s>\n", f->name);
            break;
        case ARCHIVE_XML:
            add_document(out, f);
            break;
        }
    }
    buf_addf(out, "</%s>\n", element);
}

/* document_files.h - all input files of a document, however many. */
#ifndef QUORATE_DOCUMENT_FILES_H
#define QUORATE_DOCUMENT_FILES_H

struct document_file;
struct output_file;

/* *ret is malloc()ed.  How many; -1: unreadable.  An empty document has none.
 */
int all_input_files(const char *xml_doc, struct document_file **ret);
int all_output_files(const char *xml_doc_in, struct output_file **ret);

#endif

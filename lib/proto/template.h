/* template.h - input and output templates -> the documents of workunits and
 * results (protocol §6.1, 6.2; operations §8.1). */
#ifndef QUORATE_TEMPLATE_H
#define QUORATE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

struct buf;
struct sign_key;
struct input_template; /* parsed, checked */
struct output_template;

/* Parse.  NULL and "FILE:line: text" lines in err. */
struct input_template *input_template_read(const char *path, struct buf *err);
struct input_template *input_template_parse(const char *text, size_t n,
                                            const char *what, struct buf *err);
void input_template_free(struct input_template *);

/* Files that must be given with a job (constant and generated ones are not). */
size_t input_template_n_files(const struct input_template *);

/* The template's numbers (rsc_*, delay_bound, quorum, limits, batch,
 * size_class) override what wu holds; warnings (generate_locally…) in warn. */
void input_template_apply(const struct input_template *, struct workunit *wu,
                          struct buf *warn);

/* One input file of a job, staged or remote. */
struct input_file {
    const char *name; /* physical name */
    const char *url;  /* NULL: staged, made from download_url and fan-out */
    char md5[33];
    int64_t nbytes;
    int64_t gzipped_nbytes; /* 0: no .gz */
};

struct input_paths {
    const char *download_url;
    const char *download_dir; /* constant files: their .md5 is read there */
    int fanout;
};

/* Write the workunit's document.  command_line NULL: the template's.  0, or -1
 * and a text in err (too many files, document >= 65536 bytes, …). */
int input_template_document(const struct input_template *,
                            const struct input_file *, size_t n_files,
                            const char *command_line,
                            const struct input_paths *, struct buf *out,
                            struct buf *err);

struct output_template *output_template_read(const char *path, struct buf *err);
struct output_template *output_template_parse(const char *text, size_t n,
                                              const char *what,
                                              struct buf *err);
void output_template_free(struct output_template *);

/* The result's document: <OUTFILE_k/> replaced by "<result>_r<random>_k",
 * <UPLOAD_URL/>, certificates made with `key` (NULL: none).  0, -1 + err. */
int output_template_document(const struct output_template *,
                             const char *result_name, uint32_t random,
                             const char *upload_url, const struct sign_key *key,
                             struct buf *out, struct buf *err);

/* Output files that a result's document (xml_doc_in) names. */
struct output_file {
    char name[NAME_SIZE];      /* physical */
    char open_name[NAME_SIZE]; /* logical */
    bool optional, no_validate, no_delete;
    bool stays; /* on the client: sticky, and there is no URL to upload it to */
    int64_t max_nbytes;
};
/* Up to `max` of them; returns how many there are, -1 if unreadable. */
int result_document_files(const char *xml_doc_in, struct output_file *,
                          int max);

/* Input files that a workunit's document names. */
struct document_file {
    char name[NAME_SIZE];
    char url[512]; /* the first one; "": none, or longer */
    bool no_delete, sticky, generated_locally;
};
int workunit_document_files(const char *xml_doc, struct document_file *,
                            int max);

#endif

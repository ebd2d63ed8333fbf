/* input_template.h - an input template in memory.  Inside lib/proto only:
 * input_template.c reads it, input_document.c writes documents from it. */
#ifndef QUORATE_INPUT_TEMPLATE_H
#define QUORATE_INPUT_TEMPLATE_H

#include "template.h"

enum template_file_kind {
    FILE_OF_JOB,    /* given with each job */
    FILE_CONSTANT,  /* staged once, named by physical_name */
    FILE_REMOTE,    /* fetched from somebody's server, described here */
    FILE_GENERATED, /* made on the client by an earlier job */
};

struct template_file {
    enum template_file_kind kind;
    int line;
    char *physical_name; /* "" for a file of the job */
    char *copied;        /* elements that go to the client, as XML lines */
    char **url;          /* remote */
    size_t n_urls;
    char md5[33];
    int64_t nbytes;
    int64_t gzipped_nbytes; /* remote */
    bool gzip;              /* a .gz stands beside the file */
    bool sticky;
};

struct template_ref {
    int line;
    char *open_name; /* "" = the physical name */
    char *copied;    /* the other elements, as XML lines */
    bool copy_file, optional;
};

#define TEMPLATE_NUMBERS 13

struct input_template {
    char *what; /* file name, for messages */
    struct template_file *file;
    size_t n_files;
    struct template_ref *ref; /* as many as files */
    size_t n_refs;
    char *command_line; /* NULL: none */
    char *copied;       /* other elements of <workunit>, as XML lines */
    struct {
        bool given;
        double value;
    } number[TEMPLATE_NUMBERS];
};

#endif

/* upload.h - upload and file-size requests (protocol §3), their replies.  The
 * header is read line by line out of a bounded buffer; the file's bytes never
 * come here. */
#ifndef QUORATE_UPLOAD_H
#define QUORATE_UPLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workunit.h"

struct buf;

#define UPLOAD_HEADER_MAX 16384 /* bytes up to and including "<data>\n" */

enum upload_kind {
    UPLOAD_NEITHER, /* neither element found */
    UPLOAD_SIZE,    /* get_file_size */
    UPLOAD_FILE,
};

struct upload_request {
    enum upload_kind kind;
    char name[NAME_SIZE]; /* "" missing or too long */
    char xml_signature[1024];
    bool has_max_nbytes, has_nbytes, has_data;
    int64_t max_nbytes;
    int64_t nbytes; /* of the whole file */
    int64_t offset; /* negative: unreadable, to be refused */
    char md5[33];   /* "" if not sent or no 32 hex digits */
    int client_version;
    size_t header_size; /* where the file's bytes begin */
};

/* Is the header complete in these bytes?  (It ends with "<data>\n", or the
 * request is a whole size query.)  More bytes are wanted if not. */
bool upload_header_complete(const char *bytes, size_t n);
void upload_parse(const char *bytes, size_t n, struct upload_request *ret);

/* The text that the certificate signs: "<name>N</name><max_nbytes>M…". */
void upload_certificate_text(const char *name, int64_t max_nbytes,
                             struct buf *out);

enum upload_status {
    UPLOAD_OK = 0,
    UPLOAD_TRANSIENT = 1,
    UPLOAD_PERMANENT = -1
};
void upload_reply(enum upload_status, const char *message, struct buf *out);
void upload_reply_size(int64_t size, struct buf *out);

#endif

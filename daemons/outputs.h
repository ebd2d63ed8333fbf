/* outputs.h - where the output files of a result are, for the hook libraries.
 *
 * The result's document names them; the upload folder holds them.  Those that
 * stay on the client are left out. */
#ifndef QUORATE_OUTPUTS_H
#define QUORATE_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct config;

enum outputs_status {
    OUTPUTS_OK,
    OUTPUTS_LATER, /* the folder cannot be looked into now */
    OUTPUTS_BAD,   /* a file is missing for good, or the document is bad */
};

struct outputs {
    size_t n;
    char **path;    /* each malloc */
    char **logical; /* each malloc */
    bool *exists;   /* false: an optional file that was not made */
    FILE **file;    /* opened; NULL: not opened, or it does not exist */
};

struct outputs_wanted {
    const char *xml_doc_in; /* of the result */
    int64_t received_time;  /* of the result, Unix s */
    int64_t now;
    bool for_validation; /* leave out <no_validate/> files, open the others */
    bool list_all;       /* go on behind a file that is missing */
};

/* Find them.  *ret is to be freed whatever the answer; why it is not
 * OUTPUTS_OK is in `why` (text of at most size bytes). */
enum outputs_status outputs_find(const struct config *,
                                 const struct outputs_wanted *,
                                 struct outputs *ret, char *why, size_t size);

void outputs_free(struct outputs *); /* closes the files */

#endif

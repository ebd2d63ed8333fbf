/* version_dir.h - apps/APP/VERSION/PLATFORM[__PLANCLASS]: an application
 * version on disk -> files to publish and the document for clients (protocol
 * §6.3). */
#ifndef QUORATE_VERSION_DIR_H
#define QUORATE_VERSION_DIR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct conf_list;
struct config;
struct sign_key;

struct version_file {
    char *path;    /* in the version's folder */
    char *name;    /* physical: the name at clients */
    char *logical; /* open_name; "" none */
    char **url;    /* given ones; else download_url/NAME */
    size_t n_urls;
    bool main_program, copy_file, gzip, executable;
    char md5[33];
    int64_t nbytes;
    int64_t gzipped_nbytes; /* known after publishing; 0 none */
    char *signature;        /* block of hex lines, ends in ".\n" */
};

struct version_dir {
    char path[PATH_MAX];
    char app[192];
    char platform[192];
    char plan_class[129];
    int version_num;
    struct version_file *file;
    size_t n_files;
    bool dont_throttle, needs_network, is_wrapper, beta;
    char *file_prefix, *api_version; /* "" none */
};

/* "1.07" -> 107, "12" -> 12; -1 if it is no version. */
int version_dir_number(const char *text);

/* Read the folder: version.xml if there is one, the files, their MD5s, their
 * FILE.sig.  0; -1 with "PATH: text" lines in err.  version_dir_free() in both
 * cases. */
int version_dir_read(const char *path, struct version_dir *ret,
                     struct buf *err);
void version_dir_free(struct version_dir *);

/* Sign the files that have no signature (key NULL: that is a fault), then check
 * each signature against the public key.  0, -1 + err. */
int version_dir_sign(struct version_dir *, const struct sign_key *private_key,
                     const struct sign_key *public_key, struct buf *err);

/* Can its files be published?  A file of the same name in the download folder
 * must have the same content.  0, -1 + err. */
int version_dir_check(const struct version_dir *, const struct config *,
                      struct buf *err);
/* Copy them there, compressed ones beside them.  0, -1 + err. */
int version_dir_publish(struct version_dir *, const struct config *,
                        struct buf *err);

/* The document for app_version.xml_doc; after publishing. */
void version_dir_document(const struct version_dir *, const struct config *,
                          struct buf *out);

#endif

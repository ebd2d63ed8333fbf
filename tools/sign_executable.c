/* sign_executable.c - sign a file of an application, on a machine that may have
 * neither network nor project. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "cmdline.h"
#include "digest.h"
#include "sign.h"
#include "tool.h"

struct options {
    char *file, *key;
};

#define CONF_STRUCT struct options
static const struct conf_option rows[] = {
    OPTION(file, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL | CONF_REQUIRED,
           "FILE", "what is to be signed"),
    OPTION(key, CONF_STRING, NULL, 0, 0, CONF_POSITIONAL | CONF_REQUIRED, "KEY",
           "private key (code_sign_private)"),
};
#undef CONF_STRUCT

static const struct cmdline cmdline = {
    .name = "sign_executable",
    .section = 1,
    .summary = "sign a file of an application",
    .description =
        "Prints the signature of FILE.  Keep the private key on a machine "
        "without network, sign there, and put the output beside the file on "
        "the server as FILE.sig: update_versions takes it from there.",
    .options = rows,
    .n_options = ARRAY_LEN(rows),
};

int
main(int argc, char **argv)
{
    struct options o = {.file = NULL};
    struct buf err = BUF_INIT;
    struct buf block = BUF_INIT;
    struct sign_key *key;
    char md5[MD5_HEX];
    int rc = EXIT_NO;

    tool_begin(argv[0]);
    cmdline_parse(&cmdline, argc, argv, &o);
    key = sign_key_read(o.key, &err);
    if (key == NULL) {
        tool_error_lines(&err);
    } else if (digest_md5_file(o.file, md5, NULL) != 0) {
        tool_error("%s: %s", o.file, strerror(errno));
    } else if (sign_md5(key, md5, &block) != 0) {
        tool_error("%s cannot sign: is it the private key?", o.key);
    } else {
        fputs(buf_str(&block), stdout);
        rc = fflush(stdout) == 0 ? EXIT_OK : EXIT_TEMPFAIL;
    }
    sign_key_free(key);
    buf_free(&block);
    buf_free(&err);
    conf_free(rows, ARRAY_LEN(rows), &o);
    return rc;
}

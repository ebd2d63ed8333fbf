/* script.h - run a project's script: a program in any language, in bin/ of the
 * project, with plain arguments, no shell, and limits.
 *
 * "NAME WORD WORD…" is split as a shell splits words.  A WORD is a token whose
 * meaning the caller knows (files, wu_id, …), or "lit:TEXT": the argument TEXT.
 */
#ifndef QUORATE_SCRIPT_H
#define QUORATE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

struct script {
    char *path;   /* ROOT/bin/NAME */
    char *folder; /* ROOT/tmp_HOST: where it runs */
    char **word;  /* NAME, tokens, NULL */
};

struct script_limits {
    double seconds;    /* then it is killed */
    size_t max_output; /* bytes to stdout and stderr; more: it is killed */
};

/* Read the text of an option.  Without words, `tokens` stands for them.  Each
 * must be a "lit:" or begin with one of `known` (NULL at the end).  NAME must
 * be an executable file in bin/ of the project.  0; -1 and a line in err. */
int script_parse(const char *text, const char *tokens, const char *const *known,
                 struct script *ret, struct buf *err);
void script_free(struct script *);

/* Arguments, built one by one; the texts must live until the run. */
struct script_args {
    const char **word;
    size_t n, room;
};
void script_arg(struct script_args *, const char *);
void script_args_free(struct script_args *);

enum script_answer {
    SCRIPT_EXITED,   /* with *ret_status */
    SCRIPT_TIMEOUT,  /* took too long, was killed */
    SCRIPT_SIGNAL,   /* died of signal *ret_status */
    SCRIPT_TOO_LONG, /* wrote too much, was killed */
    SCRIPT_NOT_RUN,  /* could not be started */
};

/* Run it with these arguments (NAME is put in front); wait.  What it and all
 * that it started leave behind is killed.  Its output is logged, and why it did
 * not exit. */
enum script_answer script_run(const struct script *, const struct script_args *,
                              const struct script_limits *, int *ret_status);

/* --NAME VALUE of the limits: --time_limit SECONDS, --max_output BYTES.  How
 * many words of argv it took: 0 (none of these), 2; -1: a bad value (told). */
int script_limit_option(char **argv, struct script_limits *);
#define SCRIPT_LIMITS_DEFAULT                                                  \
    {                                                                          \
        .seconds = 300, .max_output = 1 << 20                                  \
    }
#define SCRIPT_LIMITS_USAGE                                                    \
    "--time_limit SECONDS: kill a script that takes longer (default 300).\n\n" \
    "--max_output BYTES: kill a script that writes more to standard output "   \
    "and standard error (default 1048576)."

#endif

/* fuzz_words.c - a line as words (jobs on stdin, commands of config.xml),
 * durations, and what a supervisor left in its file. */
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "conf.h"
#include "config.h"
#include "fuzz.h"
#include "runstate.h"
#include "words.h"

/* Each word in quotes, whatever is in it. */
static void
quote(char *const *words, struct buf *line)
{
    for (; *words != NULL; words++) {
        buf_addc(line, '\'');
        for (const char *p = *words; *p != '\0'; p++)
            if (*p == '\'')
                buf_add(line, "'\"'\"'");
            else
                buf_addc(line, *p);
        buf_add(line, "' ");
    }
}

/* Words that are quoted are the same words, for a shell's rules too. */
static void
check_same(char *const *words, const char *forbidden)
{
    struct buf line = BUF_INIT, err = BUF_INIT;
    char **again;
    size_t i = 0;

    quote(words, &line);
    again = words_split(buf_str(&line), forbidden, &err);
    FUZZ_MUST(again != NULL);
    for (; words[i] != NULL && again[i] != NULL; i++)
        FUZZ_MUST(strcmp(words[i], again[i]) == 0);
    FUZZ_MUST(words[i] == NULL && again[i] == NULL);
    words_free(again);
    buf_free(&line);
    buf_free(&err);
}

static void
check_words(const char *text, const char *forbidden)
{
    struct buf err = BUF_INIT;
    char **words = words_split(text, forbidden, &err);

    FUZZ_MUST((words == NULL) == (err.len > 0));
    if (words != NULL) {
        FUZZ_MUST(words[0] != NULL);
        check_same(words, forbidden);
    }
    words_free(words);
    buf_free(&err);
}

/* A number of months more or less is a number. */
static void
check_seconds(const char *text)
{
    int64_t seconds = 0;

    if (conf_seconds(text, 1, &seconds) == 0)
        (void)conf_seconds(text, 86400, &seconds);
}

static void
check_runstate(const uint8_t *bytes, size_t n)
{
    char host[] = "h", root[256];
    struct config cfg = {.host = host, .project_root = root};
    struct runstate state, again;

    str_copy(root, sizeof root, fuzz_file("run_state_h.xml", bytes, n));
    if (runstate_read(&cfg, &state) == 0) {
        FUZZ_MUST(runstate_write(&cfg, &state) == 0);
        FUZZ_MUST(runstate_read(&cfg, &again) == 0);
        FUZZ_MUST(state.enabled == again.enabled);
        FUZZ_MUST(state.supervisor_pid == again.supervisor_pid);
        FUZZ_MUST(state.n_tasks == again.n_tasks);
        FUZZ_MUST(state.n_daemons == again.n_daemons);
        for (size_t i = 0; i < state.n_tasks; i++)
            FUZZ_MUST(strcmp(state.task[i].command, again.task[i].command) ==
                      0);
        runstate_free(&again);
    }
    runstate_free(&state);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = fuzz_text(bytes, n);

    check_words(text, "");
    check_words(text, WORDS_SHELL);
    check_seconds(text);
    check_runstate(bytes, n);
    free(text);
    return 0;
}

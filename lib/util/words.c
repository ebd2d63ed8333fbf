/* words.c - a line as words, as a shell splits it. */
#include "words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

/* ---- words ----------------------------------------------------------------
 */

struct splitter {
    const char *p;
    struct buf word;
    bool in_word;
    char **words;
    size_t n;
};

static void
end_word(struct splitter *s)
{
    if (!s->in_word)
        return;
    s->words = xrealloc(s->words, (s->n + 2) * sizeof(*s->words));
    s->words[s->n++] = xstrdup(buf_str(&s->word));
    s->words[s->n] = NULL;
    buf_reset(&s->word);
    s->in_word = false;
}

/* The text between quotes; false if they do not end. */
static bool
quoted(struct splitter *s)
{
    char quote = *s->p++;

    s->in_word = true;
    while (*s->p != '\0' && *s->p != quote) {
        if (quote == '"' && *s->p == '\\' && s->p[1] != '\0')
            s->p++;
        buf_addc(&s->word, *s->p++);
    }
    if (*s->p == '\0')
        return false;
    s->p++;
    return true;
}

static bool
split_step(struct splitter *s, const char *forbidden, struct buf *err)
{
    if (*s->p == ' ' || *s->p == '\t' || *s->p == '\n') {
        end_word(s);
        s->p++;
    } else if (*s->p == '\'' || *s->p == '"') {
        if (!quoted(s)) {
            buf_add(err, "a quote does not end");
            return false;
        }
    } else if (strchr(forbidden, *s->p) != NULL) {
        buf_addf(err,
                 "'%c' is for a shell: quote it, or set "
                 "<use_shell>1</use_shell>",
                 *s->p);
        return false;
    } else {
        if (*s->p == '\\' && s->p[1] != '\0')
            s->p++;
        buf_addc(&s->word, *s->p++);
        s->in_word = true;
    }
    return true;
}

char **
words_split(const char *line, const char *forbidden, struct buf *err)
{
    struct splitter s = {.p = line, .word = BUF_INIT};
    bool ok = true;

    while (ok && *s.p != '\0')
        ok = split_step(&s, forbidden, err);
    if (ok) {
        end_word(&s);
        if (s.n == 0)
            buf_add(err, "no words");
    }
    if (!ok || s.n == 0) {
        words_free(s.words);
        s.words = NULL;
    }
    buf_free(&s.word);
    return s.words;
}

void
words_free(char **words)
{
    for (char **w = words; w != NULL && *w != NULL; w++)
        free(*w);
    free(words);
}

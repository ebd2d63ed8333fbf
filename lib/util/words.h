/* words.h - a line as words, as a shell splits it. */
#ifndef QUORATE_WORDS_H
#define QUORATE_WORDS_H

struct buf;

/* Split at blanks; '…', "…" and \ quote.  NULL, with a text in err, for an open
 * quote, for an unquoted character of `forbidden` ("" none), and for a line
 * without a word.  Free with words_free(). */
char **words_split(const char *line, const char *forbidden, struct buf *err);
void words_free(char **words);

/* Characters that would mean something to a shell. */
#define WORDS_SHELL "|&;<>()$`*?[]#~!{}"

#endif

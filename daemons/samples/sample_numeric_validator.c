/* sample_numeric_validator.c - two results agree if their output files hold the
 * same words, with numbers that are the same within a tolerance.
 *
 * Two numbers agree if |a - b| <= max(absolute, relative * max(|a|, |b|)).  Not
 * a number agrees with not a number, infinity with infinity of its sign.  A
 * column (of words on a line, from 1) may have tolerances of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validator.h"

enum { MAX_COLUMN = 1000 };

struct tolerance {
    bool given;
    double absolute, relative;
};

static struct tolerance general, column[MAX_COLUMN + 1];
static long max_bytes = 64L << 20; /* of all files of a result */

struct texts {
    size_t n;
    char **text; /* one of each file; "" for one that was not made */
};

/* ---- reading --------------------------------------------------------------
 */

static enum read_status
read_file(FILE *f, long *room, char **ret)
{
    size_t size = 4096, n = 0;
    char *text = malloc(size);

    while (text != NULL) {
        n += fread(text + n, 1, size - 1 - n, f);
        text[n] = '\0';
        if (n < size - 1)
            break;
        if ((long)n > *room) {
            free(text);
            return READ_BAD;
        }
        size *= 2;
        *ret = realloc(text, size);
        if (*ret == NULL)
            free(text);
        text = *ret;
    }
    *ret = text;
    *room -= (long)n;
    if (text == NULL || ferror(f))
        return READ_LATER;
    return *room < 0 || strlen(text) != n ? READ_BAD : READ_OK;
}

static enum read_status
read_texts(const struct output *out, void *value)
{
    struct texts *t = value;
    enum read_status status = READ_OK;
    long room = max_bytes;

    t->text = calloc(out->n_files + 1, sizeof(*t->text));
    if (t->text == NULL)
        return READ_LATER;
    for (size_t i = 0; i < out->n_files && status == READ_OK; i++) {
        t->n = i + 1;
        if (out->file[i] != NULL)
            status = read_file(out->file[i], &room, &t->text[i]);
    }
    return status;
}

static void
free_texts(void *value)
{
    struct texts *t = value;

    for (size_t i = 0; i < t->n; i++)
        free(t->text[i]);
    free(t->text);
}

/* ---- comparing ------------------------------------------------------------
 */

static bool
close_enough(double a, double b, const struct tolerance *t)
{
    double size = fmax(fabs(a), fabs(b));

    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    if (isinf(a) || isinf(b))
        return a == b;
    return fabs(a - b) <= fmax(t->absolute, t->relative * size);
}

/* The whole word is a number. */
static bool
is_number(const char *word, size_t n, double *ret)
{
    char copy[64], *end;

    if (n >= sizeof(copy))
        return false;
    memcpy(copy, word, n);
    copy[n] = '\0';
    *ret = strtod(copy, &end);
    return end == copy + n;
}

static bool
same_word(const char *a, size_t na, const char *b, size_t nb, int at)
{
    const struct tolerance *t =
        at <= MAX_COLUMN && column[at].given ? &column[at] : &general;
    double x, y;

    if (na == nb && memcmp(a, b, na) == 0)
        return true;
    return is_number(a, na, &x) && is_number(b, nb, &y) &&
           close_enough(x, y, t);
}

/* Words are parted by blanks, lines by their ends; blanks do not count. */
static bool
same_text(const char *a, const char *b)
{
    static const char blanks[] = " \t\r", ends[] = " \t\r\n";

    for (int at = 1;;) {
        size_t na, nb;

        a += strspn(a, blanks);
        b += strspn(b, blanks);
        na = strcspn(a, ends);
        nb = strcspn(b, ends);
        if (na == 0 || nb == 0) { /* a line ends, or all */
            if (na != nb || *a != *b)
                return false;
            if (*a == '\0')
                return true;
            a++;
            b++;
            at = 1;
            continue;
        }
        if (!same_word(a, na, b, nb, at++))
            return false;
        a += na;
        b += nb;
    }
}

static bool
same_texts(const void *a, const void *b)
{
    const struct texts *x = a, *y = b;

    if (x->n != y->n)
        return false;
    for (size_t i = 0; i < x->n; i++) {
        if ((x->text[i] == NULL) != (y->text[i] == NULL))
            return false;
        if (x->text[i] != NULL && !same_text(x->text[i], y->text[i]))
            return false;
    }
    return true;
}

/* ---- options --------------------------------------------------------------
 */

static bool
tolerance_of(const char *word, double *ret)
{
    char *end;

    if (word == NULL)
        return false;
    *ret = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*ret) && *ret >= 0;
}

static bool
set_column(char **word)
{
    double at, absolute, relative;

    if (!tolerance_of(word[1], &at) || at < 1 || at > MAX_COLUMN ||
        !tolerance_of(word[2], &absolute) || !tolerance_of(word[3], &relative))
        return false;
    column[(int)at] = (struct tolerance){true, absolute, relative};
    return true;
}

static int
init(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i] + strspn(argv[i], "-");
        double x;

        if (strcmp(name, "absolute") == 0 &&
            tolerance_of(argv[i + 1], &general.absolute))
            i++;
        else if (strcmp(name, "relative") == 0 &&
                 tolerance_of(argv[i + 1], &general.relative))
            i++;
        else if (strcmp(name, "column") == 0 && i + 3 < argc &&
                 set_column(&argv[i]))
            i += 3;
        else if (strcmp(name, "max_bytes") == 0 &&
                 tolerance_of(argv[i + 1], &x) && x < 1e12) {
            max_bytes = (long)x;
            i++;
        } else {
            return fprintf(stderr,
                           "%s: no such option, or not the numbers "
                           "that it wants\n",
                           argv[i]);
        }
    }
    return 0;
}

const struct validator_hooks validator_hooks = {
    .value_size = sizeof(struct texts),
    .read = read_texts,
    .same = same_texts,
    .free = free_texts,
    .init = init,
    .usage = "--absolute X: numbers may differ by so much (default 0).\n\n"
             "--relative X: they may differ by this part of the larger one "
             "(default 0).  The larger tolerance counts.\n\n"
             "--column N ABSOLUTE RELATIVE: tolerances of the N-th word of "
             "each line; may be given again.\n\n"
             "--max_bytes N: a result with more output than this is refused "
             "(default 67108864).",
};

/* rules_text.c - what a rule says: to the operator its numbers, to the
 * volunteer its message. */
#include "rules.h"

#include <stdio.h>
#include <string.h>

#include "amount.h"
#include "plan_class.h"
#include "version.h"

static const char *
amount(enum rule_unit unit, double x, char ret[AMOUNT_SIZE])
{
    switch (unit) {
    case UNIT_NONE:
        ret[0] = '\0';
        break;
    case UNIT_BYTES:
        amount_bytes(x, ret);
        break;
    case UNIT_BYTES_PER_SECOND:
        amount_bytes(x, ret);
        snprintf(ret + strlen(ret), AMOUNT_SIZE - strlen(ret), "/s");
        break;
    case UNIT_SECONDS:
        amount_seconds(x, ret);
        break;
    case UNIT_COUNT:
        snprintf(ret, AMOUNT_SIZE, "%.10g", x);
        break;
    }
    return ret;
}

/* Numbers of a limit that is not set, or of something not known, say nothing:
 * the job passes in spite of them. */
static bool
is_telling(const struct dispatch_rule *rule, const struct offer *o,
           double needs, double has)
{
    if (rule->unit == UNIT_NONE || rule->numbers == NULL)
        return false;
    return !rule->allows(o) || (has > 0 && needs <= has);
}

void
dispatch_numbers(const struct dispatch_rule *rule, const struct offer *o,
                 char ret[RULE_NUMBERS_SIZE])
{
    char a[AMOUNT_SIZE], b[AMOUNT_SIZE];
    double needs = 0, has = 0;
    size_t n = 0;

    ret[0] = '\0';
    if (rule->unit != UNIT_NONE && rule->numbers != NULL)
        rule->numbers(o, &needs, &has);
    if (is_telling(rule, o, needs, has)) {
        snprintf(ret, RULE_NUMBERS_SIZE, "needs %s, has %s",
                 amount(rule->unit, needs, a), amount(rule->unit, has, b));
        n = strlen(ret);
    }
    if (rule->detail == NULL)
        return;
    n += n > 0; /* leave room for a blank */
    ret[n] = '\0';
    rule->detail(o, ret + n, RULE_NUMBERS_SIZE - n);
    if (n > 0 && ret[n] != '\0')
        ret[n - 1] = ' ';
}

/* ---- for the volunteer ---- */

/* Append as much as there is room for. */
static void
append(char ret[RULE_MESSAGE_SIZE], const char *text, size_t n)
{
    size_t len = strlen(ret);

    if (n > RULE_MESSAGE_SIZE - 1 - len)
        n = RULE_MESSAGE_SIZE - 1 - len;
    memcpy(ret + len, text, n);
    ret[len + n] = '\0';
}

static const char *
name_of_app(const struct offer *o)
{
    if (o->app == NULL)
        return "the application";
    return o->app->user_friendly_name[0] != '\0' ? o->app->user_friendly_name
                                                 : o->app->name;
}

/* What stands for a word between braces. */
static const char *
value_of(const struct dispatch_rule *rule, const struct offer *o,
         const char *word, char number[AMOUNT_SIZE])
{
    double needs = 0, has = 0;

    if (strncmp(word, "app}", 4) == 0)
        return name_of_app(o);
    if (strncmp(word, "why}", 4) == 0)
        return o->choice != NULL && o->choice->verdict != NULL
                   ? o->choice->verdict->why
                   : "no reason is given";
    if (rule->numbers != NULL)
        rule->numbers(o, &needs, &has);
    return amount(rule->unit, strncmp(word, "needs}", 6) == 0 ? needs : has,
                  number);
}

void
dispatch_message(const struct dispatch_rule *rule, const struct offer *o,
                 char ret[RULE_MESSAGE_SIZE])
{
    const char *at = rule->message != NULL ? rule->message : "";
    char number[AMOUNT_SIZE];

    ret[0] = '\0';
    while (*at != '\0') {
        size_t plain = strcspn(at, "{");
        const char *value;

        append(ret, at, plain);
        at += plain;
        if (*at == '\0')
            return;
        value = value_of(rule, o, at + 1, number);
        append(ret, value, strlen(value));
        at += strcspn(at, "}");
        at += *at != '\0';
    }
}

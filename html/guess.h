/* guess.h - slows down those who guess passwords: counts wrong ones by e-mail
 * address and by network address, for a minute. */
#ifndef QUORATE_GUESS_H
#define QUORATE_GUESS_H

#include <stdbool.h>
#include <stdint.h>

/* More wrong passwords than anybody types: no further one is looked at. */
bool guess_is_excessive(const char *email, const char *address, uint32_t now);

/* Count a wrong password. */
void guess_failed(const char *email, const char *address, uint32_t now);

#endif

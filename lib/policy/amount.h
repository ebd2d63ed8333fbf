/* amount.h - amounts in words that people read: "953 MB", "2 h 5 min". */
#ifndef QUORATE_AMOUNT_H
#define QUORATE_AMOUNT_H

#define AMOUNT_SIZE 32

/* Three digits and a unit; KB, MB … are powers of 1024, as in the protocol.
 * Both write to ret and return it. */
const char *amount_bytes(double bytes, char ret[AMOUNT_SIZE]);

/* The two largest units: "37 s", "2 h 5 min", "3 d"; never rounded up.  Not
 * finite, or beyond a hundred years: "for ever". */
const char *amount_seconds(double seconds, char ret[AMOUNT_SIZE]);

#endif

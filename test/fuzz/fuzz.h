/* fuzz.h - what the targets share.
 *
 * A target is one file: bytes that come from outside go in, and what is
 * promised of the answer is checked.  Linked with libFuzzer it searches; linked
 * with replay.c it reads the kept inputs again (make check). */
#ifndef QUORATE_FUZZ_H
#define QUORATE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The target; its name is libFuzzer's.  Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A broken promise ends the program; the fuzzer keeps the input. */
#define FUZZ_MUST(promise)                                                     \
    ((promise) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #promise))
_Noreturn void fuzz_broken(const char *file, int line, const char *promise);

/* A copy with a NUL behind it; free it. */
char *fuzz_text(const uint8_t *bytes, size_t n);

/* Write the bytes to this file of a folder of our own, which goes at the end;
 * the folder's path. */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t n);

#endif

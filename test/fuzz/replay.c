/* replay.c - give a target the inputs that are kept, one after the other.
 *
 *   replay_NAME [FILE…]     without FILE: corpus/NAME and crashes/NAME
 *
 * Exit status 0: all promises hold; 77: there is no input. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "file.h"
#include "fuzz.h"

enum { INPUT_MAX = 16 * 1024 * 1024 };

static int n_inputs;

static void
replay(const char *path)
{
    struct buf bytes = BUF_INIT;

    if (file_read(path, INPUT_MAX, &bytes) != 0) {
        perror(path);
        exit(1);
    }
    fprintf(stderr, "%s\n", path); /* the last one is it */
    LLVMFuzzerTestOneInput((const uint8_t *)buf_str(&bytes), bytes.len);
    buf_free(&bytes);
    n_inputs++;
}

static void
replay_folder(const char *kind, const char *target)
{
    struct buf path = BUF_INIT;
    struct dirent **entry;
    int n;

    buf_addf(&path, "%s/%s/%s", FUZZ_FOLDER, kind, target);
    n = scandir(buf_str(&path), &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        if (entry[i]->d_name[0] != '.') {
            buf_reset(&path);
            buf_addf(&path, "%s/%s/%s/%s", FUZZ_FOLDER, kind, target,
                     entry[i]->d_name);
            replay(buf_str(&path));
        }
        free(entry[i]);
    }
    if (n >= 0)
        free(entry);
    buf_free(&path);
}

int
main(int argc, char **argv)
{
    const char *target = strrchr(argv[0], '_');

    if (argc > 1) {
        for (int i = 1; i < argc; i++)
            replay(argv[i]);
    } else if (target != NULL) {
        replay_folder("corpus", target + 1);
        replay_folder("crashes", target + 1);
    }
    printf("%d inputs\n", n_inputs);
    return n_inputs > 0 ? 0 : 77;
}

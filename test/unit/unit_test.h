/* unit_test.h - the main() of a Check program with one suite, and a scratch
 * folder for the tests that need files. */
#ifndef QUORATE_UNIT_TEST_H
#define QUORATE_UNIT_TEST_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "file.h"

/* An empty folder of this program's own; removed at the end. */
static char unit_folder[256];

/* Path of a file in it; valid until the fourth next call. */
static inline const char *
scratch(const char *name)
{
    static char path[4][512];
    static int turn;
    char *p = path[turn++ % 4];

    (void)snprintf(p, sizeof(path[0]), "%s/%s", unit_folder, name);
    return p;
}

static inline int
unit_main(const char *name, void (*add_tests)(TCase *))
{
    const char *tmp = getenv("TMPDIR");
    Suite *suite = suite_create(name);
    TCase *tests = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    (void)snprintf(unit_folder, sizeof(unit_folder), "%s/quorate-unit.XXXXXX",
                   tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(unit_folder) == NULL) {
        perror(unit_folder);
        return EXIT_FAILURE;
    }
    tcase_set_timeout(tests, 60); /* a sanitized build on a busy machine */
    add_tests(tests);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    (void)file_remove_tree(unit_folder);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif

/* noname.c - names of machines that come and go, under programs as they are.
 *
 *     LD_PRELOAD=…/noname.so QUORATE_NAMES=FILE
 *
 * While FILE is there, "database.test" is this machine; while it is not,
 * looking up any name takes a second and fails, as if no name server answered.
 */
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
getaddrinfo(const char *restrict node, const char *restrict service,
            const struct addrinfo *restrict hints,
            struct addrinfo **restrict ret)
{
    static int (*next)(const char *, const char *, const struct addrinfo *,
                       struct addrinfo **);
    const char *file = getenv("QUORATE_NAMES");
    void *found = next == NULL ? dlsym(RTLD_NEXT, "getaddrinfo") : NULL;

    if (found != NULL)
        memcpy(&next, &found, sizeof(next));
    if (file == NULL || access(file, F_OK) != 0) {
        sleep(1);
        return EAI_AGAIN;
    }
    if (node != NULL && strcmp(node, "database.test") == 0)
        node = "127.0.0.1";
    return next(node, service, hints, ret);
}

/* slowline.c - a slow line to the database: a port of this machine that leads
 * to a unix socket, each packet after a while.
 *
 *     slowline PORT SOCKET FILE
 *
 * FILE holds the milliseconds that each packet to the socket waits; it is read
 * again for each.  Every connection is a process of its own. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void
pause_for(const char *file)
{
    FILE *f = fopen(file, "r");
    char line[32] = "0";
    long ms;

    if (f != NULL && fgets(line, sizeof(line), f) == NULL)
        line[0] = '\0';
    if (f != NULL)
        fclose(f);
    ms = strtol(line, NULL, 10);
    if (ms > 0)
        nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Whatever is there goes on to the other; 0 at the end. */
static int
pass_on(int from, int to, const char *file)
{
    static char bytes[1 << 20];
    ssize_t n = read(from, bytes, sizeof(bytes));

    if (n <= 0)
        return 0;
    if (file != NULL)
        pause_for(file);
    for (ssize_t done = 0, part; done < n; done += part) {
        part = write(to, bytes + done, (size_t)(n - done));
        if (part <= 0)
            return 0;
    }
    return 1;
}

static void
serve(int client, const char *socket_path, const char *file)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    struct pollfd fd[2] = {
        {.fd = client, .events = POLLIN},
        {.fd = server, .events = POLLIN}
    };

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
    if (connect(server, (struct sockaddr *)&address, sizeof(address)) != 0)
        return;
    while (poll(fd, 2, -1) > 0) {
        if (fd[0].revents != 0 && !pass_on(client, server, file))
            return;
        if (fd[1].revents != 0 && !pass_on(server, client, NULL))
            return;
    }
}

int
main(int argc, char **argv)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    int on = 1, listening = socket(AF_INET, SOCK_STREAM, 0);

    if (argc != 4)
        return 2;
    address.sin_port = htons((unsigned short)strtoul(argv[1], NULL, 10));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listening, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listening, 64) != 0) {
        perror("slowline");
        return 1;
    }
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    for (;;) {
        int client = accept(listening, NULL, NULL);

        if (client >= 0 && fork() == 0) {
            close(listening);
            serve(client, argv[2], argv[3]);
            _exit(0);
        }
        close(client);
    }
}

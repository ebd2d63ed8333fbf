/* plan_class_system.c - what plan classes ask of the operating system and of
 * what runs on it: VirtualBox, WSL, Docker.
 *
 * Versions are text on the wire.  Each system has its own way to write them;
 * what cannot be read is unknown, and a class that asks refuses it. */
#include "plan_class_judge.h"

#include <stdio.h>
#include <string.h>

#define UNKNOWN (-1)
#define PART_MAX 999999
#define CLIENT_FOR_DOCKER_ON_DARWIN 80206
#define CLIENT_FOR_VIRTUALBOX 70000

/* ---- numbers in texts ---- */

/* Up to four numbers with dots between.  Returns how many. */
static int
read_parts(const char *text, int64_t part[4])
{
    int n = 0;

    memset(part, 0, 4 * sizeof(part[0]));
    while (n < 4 && plan_class_is_digit(*text)) {
        for (; plan_class_is_digit(*text); text++)
            if (part[n] <= PART_MAX)
                part[n] = 10 * part[n] + (*text - '0');
        n++;
        if (*text == '.')
            text++;
        else
            break;
    }
    return n;
}

/* "1.2.3…" -> 10203; UNKNOWN if no number stands there.  Kernels go beyond 99
 * (4.14.113): that must not look like 4.15. */
static int64_t
triple(const char *text)
{
    int64_t part[4];

    if (text == NULL || read_parts(text, part) == 0)
        return UNKNOWN;
    for (int i = 1; i < 3; i++)
        if (part[i] > 99)
            part[i] = 99;
    return 10000 * part[0] + 100 * part[1] + part[2];
}

/* What follows the first `mark` in text, or NULL. */
static const char *
behind(const char *text, const char *mark)
{
    const char *at = strstr(text, mark);

    return at != NULL ? at + strlen(mark) : NULL;
}

static bool
is_windows(const struct judge *j)
{
    return strcasestr(j->host->host->os_name, "Windows") != NULL;
}

static bool
is_darwin(const struct judge *j)
{
    return strcasestr(j->host->host->os_name, "Darwin") != NULL;
}

static bool
is_android(const struct judge *j)
{
    return strcasestr(j->host->host->os_name, "Android") != NULL;
}

/* ---- operating system ---- */

/* "…, (10.00.22631.00)" */
static int64_t
windows_version(const char *text)
{
    const char *at = behind(text, "(");
    int64_t part[4];

    for (; at != NULL; at = behind(at, "("))
        if (read_parts(at, part) >= 3)
            return 100000000 * part[0] + 1000000 * part[1] + 100 * part[2] +
                   part[3];
    return UNKNOWN;
}

/* The kernel's; Linux: "Debian … [6.1.0-1-amd64|libc 2.36]", of old clients the
 * kernel's alone. */
static int64_t
os_version(const struct judge *j)
{
    const char *text = j->host->host->os_version;
    const char *bracket = behind(text, "[");

    if (is_windows(j))
        return windows_version(text);
    if (is_android(j) || is_darwin(j))
        return triple(text);
    if (strcasestr(j->host->host->os_name, "Linux") != NULL)
        return triple(bracket != NULL ? bracket : text);
    return UNKNOWN;
}

/* Builds of Windows 10 and later have five digits and run over the place of
 * the minor number, which is 0 there. */
static const char *
windows_text(int64_t n, char ret[PLAN_CLASS_TEXT_SIZE])
{
    int major = (int)(n / 100000000), rest = (int)(n % 100000000);
    int minor = major < 10 ? rest / 1000000 : 0;

    rest -= 1000000 * minor;
    snprintf(ret, PLAN_CLASS_TEXT_SIZE, "%d.%d.%d.%d", major, minor, rest / 100,
             rest % 100);
    return ret;
}

static bool
os_version_suits(struct judge *j)
{
    const struct plan_class_range range = {
        is_windows(j) ? "Windows" : "system version",
        "min_os_version",
        "max_os_version",
        j->spec->min_os_version,
        j->spec->max_os_version,
        PLAN_CLASS_HOST,
        is_windows(j) ? windows_text : plan_class_triple,
    };
    int64_t version;

    if (range.least == 0 && range.most == 0)
        return true;
    version = os_version(j);
    if (version == UNKNOWN)
        return plan_class_refuse(
            j, PLAN_CLASS_HOST,
            range.least != 0 ? range.least_element : range.most_element,
            "needs a known version of the operating system, this is \"%.50s\"",
            j->host->host->os_version);
    return plan_class_in_range(j, &range, version);
}

static bool
android_suits(struct judge *j)
{
    const struct plan_class_range range = {
        "Android",
        "min_android_version",
        "max_android_version",
        j->spec->min_android_version,
        j->spec->max_android_version,
        PLAN_CLASS_HOST,
        plan_class_triple,
    };
    int64_t version = UNKNOWN;

    if (range.least == 0 && range.most == 0)
        return true;
    if (is_android(j))
        version = triple(behind(j->host->host->os_version, "(Android "));
    if (version == UNKNOWN)
        return plan_class_refuse(
            j, PLAN_CLASS_HOST,
            range.least != 0 ? range.least_element : range.most_element,
            "needs a known version of Android, this is \"%.50s\"",
            j->host->host->os_version);
    return plan_class_in_range(j, &range, version);
}

/* Of WSL it is the distribution's that counts: see has_wsl(). */
static bool
libc_suits(struct judge *j)
{
    const struct plan_class_range range = {
        "libc",          "min_libc_version", "", j->spec->min_libc_version, 0,
        PLAN_CLASS_HOST, plan_class_pair,
    };
    const char *at = behind(j->host->host->os_version, "|libc ");
    int64_t part[4] = {0};

    if (j->spec->wsl)
        return true;
    if (at != NULL)
        read_parts(at, part);
    return plan_class_in_range(j, &range, 100 * part[0] + part[1]);
}

bool
plan_class_os_suits(struct judge *j)
{
    return os_version_suits(j) && android_suits(j) && libc_suits(j);
}

/* ---- VirtualBox ---- */

static bool
is_excluded(const struct plan_class_spec *spec, int64_t version)
{
    for (int i = 0; i < spec->n_exclude_vbox_versions; i++)
        if (spec->exclude_vbox_version[i] == version)
            return true;
    return false;
}

static bool
vbox_version_suits(struct judge *j)
{
    const char *text = j->host->ability->virtualbox_version;
    const struct plan_class_range range = {
        "VirtualBox",
        "min_vbox_version",
        "max_vbox_version",
        j->spec->min_vbox_version,
        j->spec->max_vbox_version,
        PLAN_CLASS_DRIVER,
        plan_class_triple,
    };
    int64_t version = triple(text);

    if (text[0] == '\0')
        return plan_class_refuse(j, PLAN_CLASS_DRIVER, "virtualbox",
                                 "needs VirtualBox, which is not installed");
    if (strcasestr(text, "unusable") != NULL || version == UNKNOWN)
        return plan_class_refuse(j, PLAN_CLASS_DRIVER, "virtualbox",
                                 "needs VirtualBox, which cannot be used here "
                                 "(\"%.30s\")",
                                 text);
    if (is_excluded(j->spec, version))
        return plan_class_refuse(j, PLAN_CLASS_DRIVER, "exclude_vbox_version",
                                 "does not work with VirtualBox %.30s", text);
    return plan_class_in_range(j, &range, version);
}

bool
plan_class_has_vm_accel(const struct ability *a)
{
    return !a->vm_extensions_disabled &&
           (strstr(a->features, " vmx ") != NULL ||
            strstr(a->features, " svm ") != NULL);
}

static bool
vm_accel_suits(struct judge *j)
{
    const struct ability *a = j->host->ability;
    bool many = j->spec->min_ncpus > 1;

    if (!(j->spec->vm_accel_required || many) || plan_class_has_vm_accel(a))
        return true;
    return plan_class_refuse(
        j, PLAN_CLASS_HOST, many ? "min_ncpus" : "vm_accel_required",
        "needs hardware support for virtual machines, which %s",
        a->vm_extensions_disabled ? "is switched off in this computer's "
                                    "firmware (BIOS)"
                                  : "this CPU lacks");
}

static bool
has_virtualbox(struct judge *j)
{
    bool is64bit = strstr(j->host->primary_platform, "64") != NULL;

    if (!j->spec->virtualbox)
        return true;
    if (j->host->client_version < CLIENT_FOR_VIRTUALBOX)
        return plan_class_refuse(j, PLAN_CLASS_CLIENT, "virtualbox",
                                 "needs client 7.0.0 or later");
    if (!vbox_version_suits(j) || !vm_accel_suits(j))
        return false;
    return is64bit == j->spec->is64bit ||
           plan_class_refuse(j, PLAN_CLASS_HOST, "is64bit",
                             "needs a %d-bit system, this is %s",
                             j->spec->is64bit ? 64 : 32,
                             j->host->primary_platform);
}

/* ---- WSL and Docker ---- */

static bool
wsl_is_allowed(struct judge *j, const char *element)
{
    return !j->host->ability->dont_use_wsl ||
           plan_class_refuse(j, PLAN_CLASS_USER, element,
                             "needs WSL, which your client may not use");
}

static bool
has_wsl(struct judge *j)
{
    const struct ability *a = j->host->ability;
    int best = -1;

    if (!j->spec->wsl)
        return true;
    if (!wsl_is_allowed(j, "wsl"))
        return false;
    for (int i = 0; i < a->n_distros; i++)
        if (!a->distro[i].disallowed && a->distro[i].libc_version > best)
            best = a->distro[i].libc_version;
    if (best < 0)
        return plan_class_refuse(j, PLAN_CLASS_HOST, "wsl",
                                 "needs a WSL distribution, and none may be "
                                 "used here");
    return best >= j->spec->min_libc_version ||
           plan_class_refuse(j, PLAN_CLASS_HOST, "min_libc_version",
                             "needs a WSL distribution with libc %d.%d or "
                             "later, the latest here is %d.%d",
                             j->spec->min_libc_version / 100,
                             j->spec->min_libc_version % 100, best / 100,
                             best % 100);
}

static bool
distro_has_docker(const struct plan_class_spec *spec,
                  const struct wsl_distro *d)
{
    bool boincs_own = strcasestr(d->name, "boinc") != NULL &&
                      d->version >= spec->min_boinc_wsl_distro_version;

    return !d->disallowed && (d->docker.version[0] != '\0' || boincs_own);
}

static bool
windows_has_docker(struct judge *j)
{
    const struct ability *a = j->host->ability;

    if (!wsl_is_allowed(j, "docker"))
        return false;
    for (int i = 0; i < a->n_distros; i++)
        if (distro_has_docker(j->spec, &a->distro[i]))
            return true;
    return plan_class_refuse(j, PLAN_CLASS_HOST, "docker",
                             "needs a WSL distribution with Docker or Podman");
}

static bool
has_docker(struct judge *j)
{
    const struct ability *a = j->host->ability;

    if (!j->spec->docker)
        return true;
    if (a->dont_use_docker)
        return plan_class_refuse(j, PLAN_CLASS_USER, "docker",
                                 "needs Docker, which your client may not use");
    if (is_windows(j))
        return windows_has_docker(j);
    if (is_darwin(j) && j->host->client_version < CLIENT_FOR_DOCKER_ON_DARWIN)
        return plan_class_refuse(j, PLAN_CLASS_CLIENT, "docker",
                                 "needs client 8.2.6 or later on a Mac");
    return a->docker.version[0] != '\0' ||
           plan_class_refuse(j, PLAN_CLASS_HOST, "docker",
                             "needs Docker or Podman, neither is installed");
}

bool
plan_class_guest_suits(struct judge *j)
{
    return has_virtualbox(j) && has_wsl(j) && has_docker(j);
}

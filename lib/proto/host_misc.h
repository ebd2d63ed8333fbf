/* host_misc.h - column host.misc: a JSON object of what a request says of the
 * computer that has no column of its own (dispatch §5.4). */
#ifndef QUORATE_HOST_MISC_H
#define QUORATE_HOST_MISC_H

struct buf;
struct sched_request;

/* {"client_version": "7.20.5", "gpus": [{"type", "model", "count", "ram",
 * "driver_version", "opencl_version"}], "docker": {"version", "type",
 * "wsl_distro"}, "vbox": {"version", "hw_accel_enabled"}, "config":
 * {"dont_use_docker", "dont_use_wsl"}}; what the client did not send is left
 * out. */
void host_misc(const struct sched_request *, struct buf *out);

#endif

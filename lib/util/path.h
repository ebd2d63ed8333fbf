/* path.h - where things are in a project, and the fan-out of its upload and
 * download folders (protocol §3.4). */
#ifndef QUORATE_PATH_H
#define QUORATE_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct buf;

/* The project's root: QUORATE_PROJECT_DIR or BOINC_PROJECT_DIR if one is set,
 * else "." or "..", whichever holds config.xml.  Real path (malloc), or NULL.
 */
char *path_project_root(void);

/* May this be a file name of the protocol?  Not empty, at most 255 bytes, no
 * control character, no "..", no '/' , no '%'. */
bool path_good_name(const char *name);

/* Sub-folder of a file name: "2c1" for input_1 and fanout 1024; "" for 0. */
void path_fanout(const char *name, int fanout, char ret[16]);

/* dir/SUB/name appended to out; with make_dir the folder is created (mode
 * 02770).  -1 with errno if that fails. */
int path_hier(const char *dir, const char *name, int fanout, bool make_dir,
              struct buf *out);

/* URL/SUB/name, appended. */
void path_hier_url(const char *url, const char *name, int fanout,
                   struct buf *out);

/* Host name up to the first dot: log_HOST, pid_HOST, tmp_HOST. */
const char *path_short_host(void);

#endif

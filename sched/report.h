/* report.h - take finished results; check that they were ours to give
 * (dispatch §11). */
#ifndef QUORATE_REPORT_H
#define QUORATE_REPORT_H

#include "rpc.h"

enum step_result report_step(struct rpc *);

#endif

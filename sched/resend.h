/* resend.h - results that the client lost (dispatch §10.1). */
#ifndef QUORATE_RESEND_H
#define QUORATE_RESEND_H

#include "rpc.h"

enum step_result resend_step(struct rpc *);

#endif

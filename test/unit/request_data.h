/* request_data.h - what the tests of request.c share: bytes or elements to a
 * request. */
#ifndef QUORATE_REQUEST_DATA_H
#define QUORATE_REQUEST_DATA_H

#include "proto_data.h"

#include "request.h"

static inline struct sched_request *
parse_bytes(const char *bytes, size_t n)
{
    struct buf err = BUF_INIT;
    struct sched_request *q = NULL;
    int rc = request_parse(bytes, n, &q, &err);

    ck_assert_msg(rc == 0, "not read: %s", buf_str(&err));
    ck_assert_uint_eq(err.len, 0);
    buf_free(&err);
    return q;
}

static inline struct sched_request *
parse(const char *elements)
{
    struct buf text = BUF_INIT;
    struct sched_request *q;

    buf_addf(&text, "<scheduler_request>\n%s\n</scheduler_request>\n",
             elements);
    q = parse_bytes(buf_str(&text), text.len);
    buf_free(&text);
    return q;
}

#endif

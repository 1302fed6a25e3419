/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_SINKS_H
#define WEFT_FORMATS_SINKS_H

#include "formats/sink.h"

/* All sinks: each has one line here and one in sink_list.c. */
extern const struct sink_ops ftrace_sink;     /* ftrace_sink.c */
extern const struct sink_ops trace_pipe_sink; /* trace_pipe.c */
extern const struct sink_ops json_sink;       /* json.c */
extern const struct sink_ops pretty_sink;     /* pretty.c */
extern const struct sink_ops trace_cmd_sink;  /* tracecmd/tracecmd_sink.c */

#endif

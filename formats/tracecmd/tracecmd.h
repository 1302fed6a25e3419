/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_TRACECMD_TRACECMD_H
#define WEFT_FORMATS_TRACECMD_TRACECMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpus;
struct tracecmd_wakeups;

/*
 * What trace-cmd's report has as options, for the sink of its text: sink_options::tracecmd. All zero is a report
 * without options. The sink copies it.
 */
struct tracecmd_options {
	bool latency;                /* -l */
	bool raw_ts;                 /* --raw-ts: times are plain numbers */
	bool no_plugins;             /* -N: the events' print formats only */
	const uint64_t *plain_types; /* -n: a bit for each event id that no plugin prints; NULL: none */
	uint64_t hz;                 /* --ts2secs: the times count units of this frequency; 0: as the clock says */
	bool align;                  /* --align-ts: times count from sink_times::first */
	/* -O ftrace:parent, ftrace:indent=0, ftrace:offset, fgraph:tailprint, fgraph:depth */
	bool parent, no_indent, offset, tailprint, depth;
	const struct cpus *cpus; /* --cpu: events of others are left out; NULL: none are; borrowed */
	uint8_t flags_out;       /* -I, -S: events with one of these flags are left out */
	/* with several files: the name of this one, before the lines of its top instance, and the width of all names */
	const char *file;
	size_t width;
	struct tracecmd_wakeups *wakeups; /* -w, shared by the sinks of one text; NULL: no latencies */
};

#endif

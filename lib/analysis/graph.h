/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ANALYSIS_GRAPH_H
#define WEFT_ANALYSIS_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

/* The options of graph_analysis. */

enum graph_by { GRAPH_BY_FUNCTION, GRAPH_BY_ERRNO };

struct graph_options {
	enum graph_by by;
};

/* Those of graph_tree_analysis, which looks at the calls of one function. */
struct graph_tree_options {
	const char *function; /* its name, or "0x..." */
	size_t slowest; /* tell the longest calls, so many, each apart; 0: all of them merged, with their callers */
	unsigned least; /* rows with a smaller share of the whole, in 1/1000, are counted and left out */
	bool ascii;     /* trees are drawn without characters of Unicode */
};

enum { GRAPH_SLOWEST_MAX = 1000 };

#endif

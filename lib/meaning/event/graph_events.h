/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_GRAPH_EVENTS_H
#define WEFT_MEANING_EVENT_GRAPH_EVENTS_H

struct format;

/*
 * The events of the tracer function_graph, by name: the only list of them. A table of roles
 * (lib/meaning/follow/roles.h) has them as rows, with the consumer's own numbers for an entry and an exit.
 */
#define GRAPH_EVENTS(ENTRY, EXIT) \
	GRAPH_ROW("funcgraph_entry", ENTRY), GRAPH_ROW("fgraph_retaddr_entry", ENTRY), GRAPH_ROW("funcgraph_exit", EXIT)
#define GRAPH_ROW(NAME, ROLE)        \
	{                            \
		"ftrace", NAME, ROLE \
	}

enum graph_event {
	GRAPH_EVENT_NONE,
	GRAPH_EVENT_ENTRY,
	GRAPH_EVENT_EXIT,
};

/* The format may be NULL. */
enum graph_event graph_event_of(const struct format *format);

#endif

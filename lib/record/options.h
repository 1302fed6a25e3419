/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_OPTIONS_H
#define WEFT_RECORD_OPTIONS_H

#include "lib/base/cpus.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a recording is asked to do; built by its user, borrowed by the session, which changes nothing of it.
 * Lists grow by record_list_add(); record_options_release() frees the lists, not what they point to.
 */
struct record_list {
	const char **items;
	size_t nr;
};

bool record_list_add(struct record_list *list, const char *item);

struct record_event {
	const char *pattern;
	bool off;                       /* -v: taken out of what the -e before it chose, switched off where it was on */
	const char *filter;
	struct record_list triggers;
};

/* One ring buffer to record from. */
struct record_buffer {
	const char *instance;           /* NULL: the main one, stored without a name */
	struct record_event *events;
	size_t nr_events;
	const char *tracer;
	struct record_list functions, notrace, graph, options;
	unsigned graph_depth;           /* 0: unlimited */
	uint64_t size;                  /* bytes per CPU; 0: as the kernel has it */
	const char *clock;
	bool has_cpus;
	struct cpus cpus;
	bool stacks, function_stacks;
};

struct record_options {
	struct record_buffer *buffers;  /* [0] is the main one */
	size_t nr_buffers;
	const char *output;             /* "-": standard output */
	const char *temp_dir;           /* NULL: beside the output */
	unsigned version;               /* 6 or 7 */
	bool compress;
	int level;
	uint64_t max_size;              /* bytes kept of each CPU; 0: all */
	char **argv;                    /* NULL: until told to stop */
	const char *user;
	bool only_command, follow, trace_self, all_formats, ignore_missing;
	pid_t *pids;
	size_t nr_pids;
	uint64_t duration_ns;           /* 0: none */
	unsigned texts;                 /* to save besides: enum texts of lib/kernel/texts.h */
	uint32_t cmdlines;              /* entries of saved_cmdlines at least */
	/* Told as they come up: one line of text each, no newline. */
	void (*warn)(const char *text, void *data);
	void *warn_data;
};

struct record_buffer *record_options_add_buffer(struct record_options *options, const char *instance);
struct record_event *record_buffer_add_event(struct record_buffer *buffer, const char *pattern);
bool record_options_add_pid(struct record_options *options, pid_t pid);
void record_options_release(struct record_options *options);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_WATCH_KIND_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_WATCH_KIND_INTERNAL_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/flight/spawn_internal.h"
#include "lib/kernel/setup/setup.h"

struct condition;
struct event;
struct flight_recording;
struct fail;
struct side_reader;
struct watch_hit;
struct watch_mark;
struct watch_stream;
struct watch_whose;

/* How often weft reads what it measures by itself. */
enum { WATCH_ROUND_NS = 40000000 };

/* The state of a watched condition; each kind uses some of it. */
struct watch {
	const struct watch_ops *ops;
	const struct condition *condition;
	struct flight_recording *recording;
	void (*tell)(const char *text);
	uint64_t since;  /* of the trace clock: watch_start() */
	unsigned number; /* from 1; another one for each condition of the flight */
	int fd;
	short events; /* of poll() */
	/* an event: */
	struct setup setup;
	struct instance *instance;
	struct event_set enabled;
	struct buf text; /* of trace_pipe, not yet complete lines */
	/* a latency: the directory of its synthetic event */
	char *event_dir;
	/* or, if weft measures it: `fd` is a timer */
	struct watch_stream *stream;
	/* or the spans of marks; `fd` is a timer, too */
	struct watch_mark *mark;
	/* or the events of those who belong to somebody; `fd` is a timer, too */
	struct watch_whose *whose;
	/* a line of the log: */
	regex_t regex;
	bool compiled;
	/* a tracer that stops: `fd` is a timer, `pipe_fd` what an event has as `fd`, `on_fd` the file tracing_on */
	int pipe_fd, on_fd;
	/* a command; `fd` is an epoll descriptor for both: */
	int timer_fd;
	struct spawn spawn;
	uint64_t periods; /* that it has run */
	bool killed;      /* because these were too many */
};

struct watch_ops {
	int (*open)(struct watch *watch, struct fail *fail);
	int (*start)(struct watch *watch, struct fail *fail); /* may be NULL */
	int (*look)(struct watch *watch, struct watch_hit *ret, struct fail *fail);
	/* whether a line of trace_pipe means that the condition was met; NULL: each one does */
	bool (*counts)(const struct watch *watch, const char *line, size_t len);
	int (*close)(struct watch *watch, struct fail *fail); /* may be NULL */
};

/*
 * The instance of an event, in steps. What watch_event_describe() has put into watch->setup may be changed before
 * watch_event_open(). watch_event_close() leaves the instance.
 */
int must_check watch_event_describe(struct watch *watch, const char *event, struct fail *fail);
int must_check watch_event_open(struct watch *watch, struct fail *fail);
int must_check watch_event_read(struct watch *watch, struct fail *fail);
int must_check watch_event_start(struct watch *watch, struct fail *fail);
/* Reads at most so often; 1: a line counts. */
int must_check watch_event_take(struct watch *watch, unsigned reads, struct watch_hit *ret, struct fail *fail);
int must_check watch_event_look(struct watch *watch, struct watch_hit *ret, struct fail *fail);
void watch_event_close(struct watch *watch);

/*
 * Of conditions with `of`, in the kinds that read events by themselves: their instance also has the events that tell
 * whom tasks belong to, and is on before the list of all tasks is made, so that none is missed. The last one: whether
 * the condition is about this task. All do nothing, and it is, for conditions without.
 */
int must_check watch_whose_describe(struct watch *watch, struct fail *fail);
int must_check watch_whose_begin(struct watch *watch, struct fail *fail);
void watch_whose_follow(const struct watch *watch, struct side_reader *side, const struct event *event);
bool watch_whose_meets(const struct watch *watch, const struct event *event);

/* What the kernel asks of the event of a latency; the caller frees it. NULL: no memory. */
char *must_check watch_latency_filter(const struct condition *condition);

/* Tells that weft reads the events by itself, and so a trigger may be late, and why. */
void watch_tell_late(const struct watch *watch, const char *why);
/* Tells, at most once a minute, how many events were lost, and begins to count again. */
void watch_tell_lost(const struct watch *watch, uint64_t *lost, uint64_t *told_ns);

/* Whether a line of the tracer has more than the condition allows. */
bool watch_noise_counts(const struct watch *watch, const char *line, size_t len);

extern const struct watch_ops watch_event_ops, watch_latency_ops, watch_stream_ops, watch_mark_ops, watch_noise_ops,
	watch_command_ops, watch_whose_ops;

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_LATENCY_FUNCTION_INTERNAL_H
#define WEFT_ANALYSIS_LATENCY_FUNCTION_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/base/u64_map.h"
#include "lib/event/place.h"
#include "lib/follow/roles.h"

#include <stdbool.h>
#include <stdint.h>

struct event;
struct late;
struct pass;
struct table;

/*
 * In which function the task was that kept a late one waiting, if the recording has events of the tracer function: the
 * one after whose call it called no other for the longest time of the wait. Such a pause ends also when the task leaves
 * its CPU, and a function of an interrupt cuts it in two.
 */
struct late_functions {
	const struct pass *pass;
	struct roles roles;
	struct place function, caller;
	struct u64_map tasks; /* by task: struct called */
	const struct context *context;
	bool failed;
};

void late_functions_init(struct late_functions *functions, const struct pass *pass);
void late_functions_release(struct late_functions *functions);

/* Returns whether late_functions_see() needs the events of this type. */
bool late_functions_look(struct late_functions *functions, const struct event *event);
void late_functions_see(struct late_functions *functions, const struct event *event);
/* The task has left its CPU. Call it before the wait that this ends is explained. */
void late_functions_switch(struct late_functions *functions, uint32_t task);
/* Events were lost: nobody knows which functions were called meanwhile. */
void late_functions_lose(struct late_functions *functions);

/* Sets the function of a case, if its culprit has called any. */
void late_functions_find(const struct late_functions *functions, struct late *late);
/* Adds cells with the names of the function and its caller, and the time. */
void late_functions_put(const struct late_functions *functions, const struct late *late, struct table *table);

#endif

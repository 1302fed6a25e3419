/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_SETUP_LATE_H
#define WEFT_KERNEL_SETUP_LATE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct instance;

/*
 * Triggers and function commands ("stacktrace:2", "vfs_read:traceoff"). The kernel acts on them from the moment when
 * they are set, also while tracing is off: whatever happens until the workload begins would use up their counts, switch
 * their events, and be counted in their histograms. So they are armed last, right after tracing was turned on
 * (lib/kernel/record/switches.h). While the instance is set up, the kernel is only asked whether it would take them, by
 * a form that never acts: with a count of 0, or for a histogram paused.
 */
struct late {
	struct late_item {
		struct instance *instance;
		char *file, *text; /* what is appended to arm it */
		char *stop;        /* what stops it, for a histogram that a second write can pause; NULL: nothing */
		char *named;       /* as the user wrote it */
		char *removal;     /* takes the tried form back; NULL: that stays, or there is none */
	} * items;
	size_t nr;
	/* lists of functions with commands that were tried, as they were before */
	struct late_list {
		struct instance *instance;
		char *was;
	} * lists;
	size_t nr_lists;
};

/* The file of an instance in which function commands are set. */
#define LATE_COMMANDS "set_ftrace_filter"

/*
 * Journals the file, asks the kernel whether it takes the text there, and keeps the text for later. The text is a
 * trigger, or a function command with the name of the function. The same text for the same file is kept once. In a plan
 * nothing is written: the script sets everything once, in the order in which it has to be set.
 */
int must_check late_try(struct late *late, struct instance *instance, const char *file, const char *text,
			struct fail *fail);

/* Takes back all forms that were tried, when everything else is set up. A second call does nothing. */
int must_check late_disarm(struct late *late, struct fail *fail);

void late_release(struct late *late);

/* The form of a text that the kernel takes or refuses as it would the text itself, and that never acts. */
struct late_form {
	char *tried; /* NULL: nothing can be tried */
	char *arm;   /* what arms it later */
	bool stays;  /* what was tried need not be taken back before */
};
int must_check late_form(const char *file, const char *text, struct late_form *ret, struct fail *fail);
void late_form_release(struct late_form *form);

#endif

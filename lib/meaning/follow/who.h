/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_WHO_H
#define WEFT_MEANING_FOLLOW_WHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct event;

/*
 * Whom a task belonged to at a time: its process, the program that ran there, its user, its control group, and the
 * service, container and pod of which the path of the group speaks. The same for every reader.
 * It is known from lists of all tasks, at the start and the end of the recording (weft/tasks, weft/cgroups), and
 * from the events in between: forks (clone_flags of task_newtask tell threads from processes, and which child was
 * born in another group), sched_process_exec, and cgroup_attach_task, which the kernel writes once for all threads.
 *
 * What lost events may have changed is unknown from the loss on, until an event or the list at the end says it again;
 * where that says the same as before the loss, nothing had changed. Where the events that would tell a change were not
 * recorded, the answer is a guess. The last resort for a process is saved_tgids.
 *
 * The events are read once, when the first question is asked. Memory grows with the number of tasks, programs, groups
 * and losses, not with the number of events. Any thread may ask. Everything lives as long as the context.
 */
enum who_how {
	WHO_UNKNOWN,
	WHO_GUESSED,  /* nothing contradicts it, but a change would not have been seen */
	WHO_SCANNED,  /* a list of the tasks says so */
	WHO_FOLLOWED, /* events say so */
};

enum who_part {
	WHO_PROCESS,
	WHO_PROGRAM, /* the last part of the executed file: "nginx", "(kernel)" */
	WHO_UNIT,
	WHO_CONTAINER,
	WHO_POD,
	WHO_CGROUP, /* the path */
	WHO_USER,   /* the UID; "root" for 0 */
	WHO_PARTS
};

/* The words of all parts, in their order, for lists of what a row can be. */
#define WHO_WORDS "process", "program", "unit", "container", "pod", "cgroup", "user"

/* The word for a part, as options, columns and rows have it: "process". NULL: there is none. */
const char *who_part_word(enum who_part part);

/* The process: its PID, which the kernel calls tgid. 0: unknown, or an idle task. `ret_how` may be NULL. */
int32_t who_process(const struct context *context, int32_t pid, uint64_t ts, enum who_how *ret_how);

/*
 * A number that is the same for all tasks that belong together: for WHO_PROCESS the PID of the process. WHO_NOBODY:
 * unknown. who_text() is its text: "" of a task that has none, as one outside of all containers, and "(unknown)"; valid
 * as long as the context. The text of a process is the name of its last program.
 */
enum { WHO_NOBODY = 0 };
uint32_t who_is(const struct context *context, enum who_part part, int32_t pid, uint64_t ts, enum who_how *ret_how);
const char *who_text(const struct context *context, enum who_part part, uint32_t who);
/* The kernel's number of the control group: the inode of its directory. 0: unknown. */
uint64_t who_group(const struct context *context, int32_t pid, uint64_t ts);
/* Up to when, from `ts` on, all answers about the task are the same. */
uint64_t who_until(const struct context *context, int32_t pid, uint64_t ts);

/*
 * The process that started a process, or the one that has adopted it since, which only a list of the tasks tells. 0:
 * unknown, or none.
 */
int32_t who_parent(const struct context *context, int32_t process, uint64_t ts);

/*
 * The process that the recorder started, which is the COMMAND of weft record: by the list of tasks at the start, which
 * is all that is read. 0: unknown, none, or several.
 */
int32_t who_command(const struct context *context);

/* The executed file of a process with its path; NULL: unknown. */
const char *who_program(const struct context *context, int32_t process, uint64_t ts, enum who_how *ret_how);

/*
 * For events of a running kernel, which cannot be read twice: call it with each event, from the first one on and
 * before its task is asked about. Then all answers are of that moment, whatever time is asked for, and only one thread
 * may ask.
 * Without it a context of a running kernel has the lists of the start alone.
 */
void who_follow(const struct context *context, const struct event *event);

/*
 * Whom a user asks for: a PID, or a glob of the program's name or of the name of its first thread, for WHO_PROCESS; a
 * glob for the others, where ".service" may be left out, four characters of a container's id are enough, and a
 * path that begins with '/' means the groups below as well.
 */
struct who_want {
	enum who_part part;
	const char *word; /* borrowed */
};

/*
 * Whether the task meets a want of each part that has any. What is unknown meets none. The answer is the same from `ts`
 * up to *ret_until, which may be NULL.
 */
bool who_wants(const struct context *context, const struct who_want *wants, size_t nr, int32_t pid, uint64_t ts,
	       uint64_t *ret_until);

/*
 * Whom a choice of this part leaves out because it is not known whom they belong to: the number of tasks that were born
 * in the recording and of whom no event says it. *ret_event: the event that was not recorded and would; NULL: it was,
 * and events are lost. False: nobody is left out, as far as the file tells.
 */
bool who_leaves_out(const struct context *context, enum who_part part, uint64_t *ret_tasks, const char **ret_event);

/* Whether such a word means this text. */
bool who_text_matches(enum who_part part, const char *word, const char *text);

/* Whether such a word means the unit, container, pod or control group of the path of a control group. */
bool who_path_matches(enum who_part part, const char *word, const char *path);
/* What the path says of the part; "" if nothing. */
enum { WHO_PATH_TEXT = 256 };
const char *who_path_text(enum who_part part, const char *path, char into[WHO_PATH_TEXT]);

/* Calls `see` with the text of each program, unit and so on that the recording knows: for names that are near. */
void who_each(const struct context *context, enum who_part part, void (*see)(const char *text, void *arg), void *arg);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_QUERY_FILE_CALLS_H
#define WEFT_MEANING_QUERY_FILE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct context;
struct event;
struct fail;

/*
 * What is about files of some names (lib/meaning/follow/files.h). It is what a thread did inside a system call with a
 * descriptor of such a file, or that returned one, or that had its name as an argument, as the program wrote it; and
 * events that have the inode of such a file. A call during which events were lost is known up to its entry alone; one
 * that has not ended lasts to the end.
 */
struct file_calls;

/* An empty set for the globs, which are borrowed. NULL without memory. */
struct file_calls *file_calls_new(const char *const *globs, size_t nr_globs);
void file_calls_free(struct file_calls *calls);

/*
 * Adds those of a buffer, whose events are read for that. -ENODATA: the recording tells no files, or none has such a
 * name; -E2BIG: there are too many calls. file_calls_end(): after the last buffer, before the others.
 */
int must_check file_calls_add(struct file_calls *calls, const struct context *context, struct fail *fail);
void file_calls_end(struct file_calls *calls);

/* Whether a thread was inside one at a moment from `from` to `to`. */
bool file_calls_cover(const struct file_calls *calls, int32_t pid, uint64_t from, uint64_t to);
/* Whether an event has the inode of such a file. One thread asks, about the events of one buffer. */
bool file_calls_names(struct file_calls *calls, const struct event *event);

#endif

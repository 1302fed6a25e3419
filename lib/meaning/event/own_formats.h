/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_OWN_FORMATS_H
#define WEFT_MEANING_EVENT_OWN_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/trace.h"

struct fail;

/*
 * The formats of one buffer. In a file that was made of several recordings, each buffer has the setting "weft/formats",
 * which lists the ids of its own kernel's formats, separated by commas. Without the setting the buffer uses all formats
 * of the file.
 */
struct own_formats {
	uint64_t *bits; /* a bit for each id; NULL: all */
};

/* `text` may be NULL. Words that are not ids are ignored. */
int must_check own_formats_init(struct own_formats *own, const char *text, struct fail *fail);
void own_formats_release(struct own_formats *own);

/* Whether the format with this text is one of them; the text may lack an id. */
bool own_formats_have(const struct own_formats *own, const char *text);

/* The id of a format, and its position in the text; false when the text has no valid id. */
bool own_formats_id(const char *text, const char **ret_at, const char **ret_end, uint32_t *ret);

/*
 * A recording stores facts about its kernel once, with its first buffer. In a file made of several recordings each
 * buffer has "weft/kernel", which replaces TRACE_UNAME, and these facts, or the first buffer of its recording has them.
 */
size_t own_first(const struct trace *trace, size_t buffer); /* the first buffer of its recording */
struct trace_text own_kernel(const struct trace *trace, size_t buffer, struct trace_text uname);
struct trace_text own_setting(const struct trace *trace, size_t buffer, const char *name);

/*
 * Buffers of a file that weft made for itself: readers show their events only if they are asked for by name. No
 * instance of a user has such a name, because it has a slash.
 */
#define OWN_BUFFERS "weft/"
#define OWN_BUFFER_FILES OWN_BUFFERS "files"     /* lib/meaning/follow/files.h */
#define OWN_BUFFER_PROFILE OWN_BUFFERS "profile" /* lib/meaning/follow/tick.h */
#define OWN_BUFFER_QUOTA OWN_BUFFERS "quota"     /* lib/meaning/follow/withheld.h */
#define OWN_BUFFER_STACKS OWN_BUFFERS "stacks"   /* lib/meaning/follow/user_stacks.h */

static inline bool own_buffer(const char *name)
{
	return !strncmp(name, OWN_BUFFERS, strlen(OWN_BUFFERS));
}

/*
 * Whether it is one of these; in a file that was made of several recordings that of each has the recording's name
 * behind it.
 */
static inline bool own_buffer_is(const char *name, const char *which)
{
	size_t len = strlen(which);

	return !strncmp(name, which, len) && (!name[len] || name[len] == '.');
}

#endif

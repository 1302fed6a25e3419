/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_PLUGIN_FOREIGN_H
#define WEFT_MEANING_PLUGIN_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct event;
struct fail;
struct trace;

/*
 * A user's own plugins of libtraceevent, and the texts that they give to events. The library and the plugins run in a
 * process of their own (the runner): the sandbox without files, limited memory and CPU time, standard files closed. The
 * library is loaded there; weft is not linked with it. A second process, the warden, waits for the runner, kills it if
 * it makes no progress, and starts it once more.
 * Invariant: no event is lost. An event whose text does not come has none, and its type is not asked for again. What
 * the runner answers is untrusted (foreign_reply_next()).
 * A struct foreign is for one trace, and is used by one thread.
 */
struct foreign;

struct foreign_options {
	const char *const *dirs; /* of plugins, NAME.so, in the order of loading */
	size_t nr_dirs;
	const char *const *values; /* options of plugins, "[PLUGIN:]NAME[=VALUE]" */
	size_t nr_values;
};

/* The text of one event, valid until the struct foreign_texts is cleared. Any bytes, without a NUL at the end. */
struct foreign_text {
	uint32_t len;
	char text[];
};

/* The memory of texts. All zero at first. */
struct foreign_texts {
	void **blocks;
	size_t nr;
	size_t size;
};
void foreign_texts_clear(struct foreign_texts *texts);
void foreign_texts_release(struct foreign_texts *texts);

/* Whether one of the directories has a plugin. */
bool foreign_any(const struct foreign_options *options);

/*
 * Starts the processes, before the caller gives up its rights. Root loads only plugins that nobody else may write. The
 * options are used only during the call.
 */
int must_check foreign_new(const struct foreign_options *options, struct foreign **ret, struct fail *fail);
void foreign_free(struct foreign *foreign);

/* Tells the runner what the trace knows: before the first event. Borrows the trace. */
void foreign_tell(struct foreign *foreign, struct trace *trace);

/* Sets event::added of those of the events, all of the trace, that get a text. Changes the list of events. */
void foreign_ask(struct foreign *foreign, struct event **events, size_t nr, struct foreign_texts *texts);

/* What users must know: plugins that were not loaded, a runner that ended; NULL: nothing. */
const char *foreign_failure(struct foreign *foreign);

#endif

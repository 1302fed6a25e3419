/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_RENDERER_INTERNAL_H
#define WEFT_FORMATS_RENDERER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"

struct fail;
struct out;
struct reader;
struct render_options;
struct sink;
struct text_end;

/*
 * Makes text of a reader's events: the part of formats/render.h that can be done again and again, and by several
 * threads.
 */
struct renderer;

/* Where the text goes, piece by piece, in order. put() leaves an empty out. */
struct render_port {
	int (*put)(void *arg, struct out *text, struct fail *fail);
	void *arg;
};

struct render_port render_port_to(struct text_end *end);

int must_check renderer_new(struct reader *reader, struct sink *const *sinks, const struct render_options *options,
			    struct renderer **ret, struct fail *fail);
void renderer_free(struct renderer *renderer);

/* All that the reader has now. *ret_printed: the number of events printed, also after an error. */
int must_check renderer_run(struct renderer *renderer, const struct render_port *port, uint64_t *ret_printed,
			    struct fail *fail);

/* The sinks' text before the first event, or after the last one: sink by sink. */
int must_check render_frame(const struct reader *reader, struct sink *const *sinks,
			    const struct render_options *options, bool is_begin, const struct render_port *port,
			    struct fail *fail);

#endif

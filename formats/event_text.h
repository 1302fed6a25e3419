/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EVENT_TEXT_H
#define WEFT_FORMATS_EVENT_TEXT_H

#include "lib/ground/base/cleanup.h"

struct context;
struct event;
struct fail;
struct out;

/*
 * The text of single events of a buffer, in any order: for those who do not print a whole stream. So it has only what
 * does not depend on other events. One thread at a time.
 */
struct event_text;

enum event_text_kind {
	EVENT_TEXT_BODY, /* the text behind the columns; of a call of the function graph the name of the function */
	EVENT_TEXT_LINE, /* the columns and the body */
	EVENT_TEXT_JSON, /* a line of formats/json.c */
};

/* Borrows the context. */
int must_check event_text_new(const struct context *context, struct event_text **ret, struct fail *fail);
void event_text_free(struct event_text *text);

/* Appends the text, without a newline at its end. */
void event_text_put(struct event_text *text, const struct event *event, enum event_text_kind kind, struct out *out);

#endif

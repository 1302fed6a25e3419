/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_SCREEN_H
#define WEFT_SCREEN_VIEW_SCREEN_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/screen/view/view.h"

struct fail;
struct frame;
struct key;

/*
 * What stands around the panes: a line with the file and the panes, the state at the bottom, below it the prompt, a
 * message, or the keys of the pane; and the texts that cover the panes. It gets each key first.
 */
struct screen;

int must_check screen_new(struct view *view, const char *title, struct screen **ret, struct fail *fail);
void screen_free(struct screen *screen);

/* Errors that the user can mend become a message; only what ends the program is returned. */
int must_check screen_key(struct screen *screen, const struct key *key, struct fail *fail);
int must_check screen_draw(struct screen *screen, struct frame *frame, struct fail *fail);
/* The line of progress of a long search, in a frame that was drawn. */
void screen_progress(const struct screen *screen, struct frame *frame, const char *what, unsigned percent);

#endif

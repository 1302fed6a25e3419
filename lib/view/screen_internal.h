/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_VIEW_SCREEN_INTERNAL_H
#define WEFT_VIEW_SCREEN_INTERNAL_H

#include "lib/base/out.h"
#include "lib/view/prompt_internal.h"
#include "lib/view/view.h"

#include <stddef.h>

/* screen.c gets the keys, screen_draw.c draws. */

/* A text that covers the panes. */
enum cover { COVER_NONE, COVER_TEXT, COVER_FILTERS, COVER_BOOKMARKS };

struct screen {
	struct view *view;
	struct prompt prompt;
	char *title;
	enum cover cover;
	struct out text; /* of the cover */
	size_t cover_top;
	char pending; /* 'm' or '\'': the next key is a letter */
	/* Where the panes were drawn last, for the mouse. */
	unsigned top[2], height[2], width;
};

#endif

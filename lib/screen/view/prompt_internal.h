/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_PROMPT_INTERNAL_H
#define WEFT_SCREEN_VIEW_PROMPT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/cleanup.h"
#include "lib/screen/view/view.h"

struct fail;
struct key;
struct out;

/* One line that the user types, with the lines typed before, and completion of names of events and fields. */
enum { PROMPT_SIZE = 512, PROMPT_KEPT = 32 };

struct prompt {
	char sign; /* ':' '/' '\\' '&' 'w' 'W'; 0: there is none */
	char text[PROMPT_SIZE];
	size_t len, at; /* bytes; `at` is where the next one goes */
	struct {
		char sign;
		char text[PROMPT_SIZE];
	} kept[PROMPT_KEPT];
	size_t nr_kept, looked;
};

enum prompt_answer { PROMPT_TYPED, PROMPT_DONE, PROMPT_LEFT };

void prompt_open(struct prompt *prompt, char sign, const char *text);
/* PROMPT_DONE: the text is what the user wants. *ret_choices gets what Tab found, if it is more than one. */
enum prompt_answer prompt_key(struct prompt *prompt, struct view *view, const struct key *key, struct out *choices);

/* Does what was typed. -errno: the message is for the user. */
int must_check prompt_do(struct prompt *prompt, struct view *view, struct fail *fail);

#endif

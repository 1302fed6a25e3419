/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_REMOTE_ANSWERS_INTERNAL_H
#define WEFT_KERNEL_REMOTE_ANSWERS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/cleanup.h"

struct fail;

/*
 * What the shell of agentless_internal.h sends: frames, each a line "KIND NAME", any bytes, and a line with a token
 * that only this side and that shell know. So a shell need not know a length, and a frame that a kill has cut short
 * harms no other. The bytes may be hostile.
 */
enum answer_kind {
	ANSWER_HELLO = 'H', /* the version, and the beginning of a program of that machine */
	ANSWER_TEXT = 'T',  /* the text of the file NAME */
	ANSWER_PAGES = 'P', /* whole sub-buffers of the CPU NAME */
	ANSWER_DONE = 'A',  /* everything that was ordered before `ask` */
	ANSWER_BEGUN = 'B', /* tracing is on */
	ANSWER_EMPTY = 'D', /* it is off, and all sub-buffers have come */
	ANSWER_HERE = 'L',  /* it is there, and has nothing to say */
	ANSWER_NOTE = 'N',
	ANSWER_ERROR = 'E', /* nothing follows */
	ANSWER_END = 'X',   /* the same: it was put back; the exit status of the command */
};

enum { ANSWER_TOKEN = 32, ANSWER_LINE_MAX = 256 };

struct answers {
	char mark[ANSWER_TOKEN + 3]; /* the last line, and the end of the line before it */
	bool within;                 /* a frame */
	enum answer_kind kind;
	char name[ANSWER_LINE_MAX];
};

/* The token has ANSWER_TOKEN characters. */
void answers_init(struct answers *answers, const char *token);

/* A piece of a frame: kind and name are in `answers` until the next call. */
struct answer {
	struct bytes data; /* borrowed */
	bool begins, ends; /* it is the first or the last of the frame, or both */
};

/* Takes a piece. 1: it is in *ret; 0: more bytes have to come first, of which few wait; -EBADMSG: these are none. */
int must_check answers_take(struct answers *answers, struct bytes *in, struct answer *ret, struct fail *fail);

#endif

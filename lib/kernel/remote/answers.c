// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/remote/answers_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/fail.h"

enum { MARK = ANSWER_TOKEN + 2 };

void answers_init(struct answers *answers, const char *token)
{
	*answers = (struct answers){ .within = false };
	snprintf(answers->mark, sizeof(answers->mark), "\n%.*s\n", ANSWER_TOKEN, token);
}

static bool is_kind(uint8_t byte)
{
	switch ((enum answer_kind)byte) {
	case ANSWER_HELLO:
	case ANSWER_TEXT:
	case ANSWER_PAGES:
	case ANSWER_DONE:
	case ANSWER_BEGUN:
	case ANSWER_EMPTY:
	case ANSWER_HERE:
	case ANSWER_NOTE:
	case ANSWER_ERROR:
	case ANSWER_END:
		return true;
	}
	return false;
}

/* A line of another program is shown, as far as it can be. */
static int refuse(struct bytes in, struct fail *fail)
{
	char shown[64];
	size_t len = 0;

	while (len < in.left && len + 1 < sizeof(shown) && in.at[len] >= ' ' && in.at[len] < 0x7f) {
		shown[len] = (char)in.at[len];
		len++;
	}
	shown[len] = '\0';
	return fail_set(fail, -EBADMSG, "something else than weft's script answers there: '%s'", shown);
}

static int take_line(struct answers *answers, struct bytes *in, struct fail *fail)
{
	size_t most = in->left < ANSWER_LINE_MAX ? in->left : ANSWER_LINE_MAX, len;
	const uint8_t *end = most ? memchr(in->at, '\n', most) : NULL;

	if (!end)
		return in->left < ANSWER_LINE_MAX ? 0 : refuse(*in, fail);
	len = (size_t)(end - in->at);
	if (len < 3 || !is_kind(in->at[0]) || in->at[1] != ' ' || memchr(in->at, '\0', len))
		return refuse(*in, fail);
	answers->kind = (enum answer_kind)in->at[0];
	memcpy(answers->name, in->at + 2, len - 2);
	answers->name[len - 2] = '\0';
	in->at += len + 1;
	in->left -= len + 1;
	return 1;
}

int answers_take(struct answers *answers, struct bytes *in, struct answer *ret, struct fail *fail)
{
	const uint8_t *end;
	size_t len;

	*ret = (struct answer){ .ends = false };
	if (!answers->within) {
		int r = take_line(answers, in, fail);

		if (r <= 0)
			return r;
		ret->begins = answers->within = true;
	}
	end = in->left ? memmem(in->at, in->left, answers->mark, MARK) : NULL;
	ret->ends = end != NULL;
	/* The mark may have begun. */
	len = end ? (size_t)(end - in->at) : in->left < MARK ? 0 : in->left - MARK + 1;
	ret->data = bytes_of(in->at, len, false);
	answers->within = !end;
	len += end ? MARK : 0;
	in->at += len;
	in->left -= len;
	return ret->begins || ret->ends || len;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/screen/term/key.h"

#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/utf8.h"

enum {
	ESC = 0x1b,
	BEL = 7,
	DEL = 0x7f,
	SEQUENCE_MAX = 48, /* bytes; what is longer is no key of any terminal */
	NUMBERS_MAX = 4,
};

static bool is_final(uint8_t byte)
{
	return byte >= 0x40 && byte <= 0x7e;
}

static size_t take_rune(uint32_t rune, uint8_t modifiers, size_t len, struct key *ret)
{
	*ret = (struct key){ .kind = KEY_RUNE, .rune = rune, .modifiers = modifiers };
	return len;
}

static size_t take_kind(enum key_kind kind, uint8_t modifiers, size_t len, struct key *ret)
{
	*ret = (struct key){ .kind = kind, .modifiers = modifiers };
	return len;
}

/* A byte below the blank, or DEL. */
static size_t take_control(uint8_t byte, uint8_t modifiers, struct key *ret)
{
	switch (byte) {
	case '\r':
	case '\n':
		return take_kind(KEY_ENTER, modifiers, 1, ret);
	case '\t':
		return take_kind(KEY_TAB, modifiers, 1, ret);
	case 8:
	case DEL:
		return take_kind(KEY_BACKSPACE, modifiers, 1, ret);
	case ESC:
		return take_kind(KEY_ESC, modifiers, 1, ret);
	}
	/* Ctrl-A is 1; Ctrl-\ and the like have no letter. */
	return byte && byte <= 26 ? take_rune((uint32_t)('a' + byte - 1), modifiers | KEY_CTRL, 1, ret) :
				    take_kind(KEY_NONE, 0, 1, ret);
}

static size_t take_character(const uint8_t *bytes, size_t len, bool ended, uint8_t modifiers, struct key *ret)
{
	size_t size = utf8_len(bytes, len);
	uint32_t rune;

	if (*bytes < ' ' || *bytes == DEL)
		return take_control(*bytes, modifiers, ret);
	if (!size) {
		/* The rest of a character may come with the next bytes. */
		if (!ended && len < 4 && *bytes >= 0xc2 && *bytes <= 0xf4)
			return 0;
		return take_kind(KEY_NONE, 0, 1, ret);
	}
	rune = size == 1 ? bytes[0] : bytes[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++)
		rune = rune << 6 | (bytes[i] & 0x3fu);
	return take_rune(rune, modifiers, size, ret);
}

static size_t skip_string(struct key_state *state, const uint8_t *bytes, size_t len, struct key *ret)
{
	*ret = (struct key){ .kind = KEY_NONE };
	for (size_t i = 0; i < len; i++) {
		bool ends = bytes[i] == BEL || (state->string == 2 && bytes[i] == '\\');

		state->string = bytes[i] == ESC ? 2 : 1;
		if (ends) {
			state->string = 0;
			return i + 1;
		}
	}
	return len;
}

static size_t skip_sequence(struct key_state *state, const uint8_t *bytes, size_t len, struct key *ret)
{
	*ret = (struct key){ .kind = KEY_NONE };
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == ESC) {
			state->skipping = false;
			if (i)
				return i;
			continue;
		}
		if (is_final(bytes[i])) {
			state->skipping = false;
			return i + 1;
		}
	}
	return len;
}

/* xterm's number of the modifiers is one more than these bits: 1 shift, 2 alt, 4 control. */
static uint8_t modifiers_of(unsigned number)
{
	return number > 1 ? (uint8_t)((number - 1) & 7) : 0;
}

static enum key_kind letter_key(uint8_t final)
{
	switch (final) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case 'M':
		return KEY_ENTER;
	case 'Z':
		return KEY_BACKTAB;
	}
	return KEY_NONE;
}

static enum key_kind number_key(unsigned number)
{
	switch (number) {
	case 1:
	case 7:
		return KEY_HOME;
	case 2:
		return KEY_INSERT;
	case 3:
		return KEY_DELETE;
	case 4:
	case 8:
		return KEY_END;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	}
	return KEY_NONE;
}

/* The numbers of F1 to F12 have holes: 11 to 15, 17 to 21, 23 and 24. */
static uint32_t function_key(unsigned number)
{
	if (number >= 11 && number <= 15)
		return number - 10;
	if (number >= 17 && number <= 21)
		return number - 11;
	return number == 23 || number == 24 ? number - 12 : 0;
}

struct sequence {
	uint8_t private, final;
	unsigned numbers[NUMBERS_MAX];
	size_t nr;
};

static struct sequence sequence_read(const uint8_t *at, size_t len)
{
	struct sequence sequence = { .final = at[len - 1] };
	size_t i = 0;

	if (len > 1 && at[0] >= '<' && at[0] <= '?')
		sequence.private = at[i++];
	sequence.nr = 1;
	for (; i + 1 < len; i++) {
		if (at[i] == ';' && sequence.nr < NUMBERS_MAX)
			sequence.nr++;
		else if (at[i] >= '0' && at[i] <= '9' && sequence.numbers[sequence.nr - 1] < 100000)
			sequence.numbers[sequence.nr - 1] =
				sequence.numbers[sequence.nr - 1] * 10 + (unsigned)(at[i] - '0');
	}
	return sequence;
}

/* "\033[<BUTTON;COLUMN;ROWM" and "m". The bits of BUTTON: 4 shift, 8 alt, 16 control, 32 drag, 64 wheel. */
static void mouse_read(const struct sequence *sequence, struct key *ret)
{
	unsigned button = sequence->numbers[0], column = sequence->numbers[1], row = sequence->numbers[2];

	if (sequence->nr < 3 || !column || !row || column > UINT16_MAX || row > UINT16_MAX)
		return;
	*ret = (struct key){ .kind = KEY_MOUSE,
			     .modifiers = (uint8_t)(button >> 2 & 7),
			     .rune = button & 3,
			     .column = (uint16_t)(column - 1),
			     .row = (uint16_t)(row - 1) };
	if (button & 64)
		ret->act = button & 1 ? MOUSE_WHEEL_DOWN : MOUSE_WHEEL_UP;
	else if (sequence->final == 'm')
		ret->act = MOUSE_RELEASE;
	else
		ret->act = button & 32 ? MOUSE_DRAG : MOUSE_PRESS;
}

static void sequence_key(struct key_state *state, const struct sequence *sequence, struct key *ret)
{
	unsigned number = sequence->numbers[0];
	uint8_t modifiers = sequence->nr > 1 ? modifiers_of(sequence->numbers[1]) : 0;

	*ret = (struct key){ .kind = KEY_NONE };
	if (sequence->private == '<' && (sequence->final == 'M' || sequence->final == 'm')) {
		mouse_read(sequence, ret);
	} else if (sequence->private) {
		return;
	} else if (sequence->final != '~') {
		ret->kind = letter_key(sequence->final);
		ret->modifiers = modifiers;
		if (sequence->final >= 'P' && sequence->final <= 'S')
			*ret = (struct key){ .kind = KEY_FUNCTION,
					     .modifiers = modifiers,
					     .rune = (uint32_t)(sequence->final - 'P' + 1) };
	} else if (number == 200 || number == 201) {
		state->pasting = number == 200;
	} else if (function_key(number)) {
		*ret = (struct key){ .kind = KEY_FUNCTION, .modifiers = modifiers, .rune = function_key(number) };
	} else {
		ret->kind = number_key(number);
		ret->modifiers = modifiers;
	}
}

/* What follows ESC and '['. */
static size_t take_sequence(struct key_state *state, const uint8_t *bytes, size_t len, bool ended, struct key *ret)
{
	size_t at = 2;
	struct sequence sequence;

	/* The Linux console: "\033[[A" is F1. */
	if (len > 2 && bytes[2] == '[') {
		if (len < 4)
			return ended ? take_kind(KEY_NONE, 0, len, ret) : 0;
		*ret = (struct key){ .kind = bytes[3] >= 'A' && bytes[3] <= 'E' ? KEY_FUNCTION : KEY_NONE,
				     .rune = (uint32_t)(bytes[3] - 'A' + 1) };
		return 4;
	}
	while (at < len && at < SEQUENCE_MAX && bytes[at] >= 0x20 && bytes[at] < 0x40)
		at++;
	if (at == SEQUENCE_MAX) {
		state->skipping = true;
		return take_kind(KEY_NONE, 0, at, ret);
	}
	if (at == len)
		return ended ? take_kind(KEY_NONE, 0, len, ret) : 0;
	/* A byte that cannot stand there ends the sequence, and is a key of its own. */
	if (!is_final(bytes[at]))
		return take_kind(KEY_NONE, 0, at, ret);
	sequence = sequence_read(bytes + 2, at + 1 - 2);
	sequence_key(state, &sequence, ret);
	return at + 1;
}

static size_t take_escape(struct key_state *state, const uint8_t *bytes, size_t len, bool ended, struct key *ret)
{
	size_t size;

	if (len == 1)
		return ended ? take_kind(KEY_ESC, 0, 1, ret) : 0;
	if (bytes[1] == '[')
		return len == 2 && ended ? take_rune('[', KEY_ALT, 2, ret) :
					   take_sequence(state, bytes, len, ended, ret);
	if (bytes[1] == 'O') {
		if (len == 2)
			return ended ? take_rune('O', KEY_ALT, 2, ret) : 0;
		ret->modifiers = 0;
		if (bytes[2] >= 'P' && bytes[2] <= 'S')
			*ret = (struct key){ .kind = KEY_FUNCTION, .rune = (uint32_t)(bytes[2] - 'P' + 1) };
		else
			*ret = (struct key){ .kind = letter_key(bytes[2]) };
		return 3;
	}
	if (strchr("]P_^X", bytes[1]) && bytes[1]) {
		state->string = 1;
		return take_kind(KEY_NONE, 0, 2, ret);
	}
	if (bytes[1] == ESC)
		return take_kind(KEY_ESC, 0, 1, ret);
	size = take_character(bytes + 1, len - 1, ended, KEY_ALT, ret);
	return size ? size + 1 : 0;
}

static size_t take_pasted(struct key_state *state, const uint8_t *bytes, size_t len, bool ended, struct key *ret)
{
	static const uint8_t end[] = "\033[201~";
	size_t mark = sizeof(end) - 1, same = 0, size;

	while (same < len && same < mark && bytes[same] == end[same])
		same++;
	if (same == mark) {
		state->pasting = false;
		return take_kind(KEY_NONE, 0, mark, ret);
	}
	if (same == len && !ended)
		return 0;
	/* Control characters of a paste, newlines too, are left out: they would act. */
	if (*bytes < ' ' || *bytes == DEL)
		return take_kind(KEY_NONE, 0, 1, ret);
	size = take_character(bytes, len, ended, 0, ret);
	if (size && ret->kind == KEY_RUNE)
		ret->kind = KEY_PASTE;
	return size;
}

size_t key_decode(struct key_state *state, const uint8_t *bytes, size_t len, bool ended, struct key *ret)
{
	if (!len)
		return 0;
	if (state->string)
		return skip_string(state, bytes, len, ret);
	if (state->skipping)
		return skip_sequence(state, bytes, len, ret);
	if (state->pasting)
		return take_pasted(state, bytes, len, ended, ret);
	if (*bytes == ESC)
		return take_escape(state, bytes, len, ended, ret);
	return take_character(bytes, len, ended, 0, ret);
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_TERM_KEY_H
#define WEFT_SCREEN_TERM_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a user does at a terminal, decoded from the bytes that it sends: UTF-8, the sequences of xterm and of the
 * terminals like it, the mouse in its SGR form, and pasted text. The decoder is a pure function of its state and the
 * bytes. An unknown sequence is swallowed whole, so that its letters never act as keys.
 */
enum key_kind {
	KEY_NONE, /* nothing: a part of a sequence, or one that is not known */
	KEY_RUNE, /* a character: key::rune */
	KEY_ENTER,
	KEY_TAB,
	KEY_BACKTAB,
	KEY_BACKSPACE,
	KEY_ESC,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_INSERT,
	KEY_DELETE,
	KEY_FUNCTION, /* F1 to F12: key::rune is the number */
	KEY_MOUSE,
	KEY_PASTE, /* a character of pasted text, which never acts as a key: key::rune */
};

enum key_modifier { KEY_SHIFT = 1, KEY_ALT = 2, KEY_CTRL = 4 };

enum mouse_act { MOUSE_PRESS, MOUSE_RELEASE, MOUSE_DRAG, MOUSE_WHEEL_UP, MOUSE_WHEEL_DOWN };

struct key {
	enum key_kind kind;
	uint8_t modifiers; /* of a rune: KEY_CTRL with the small letter, KEY_ALT */
	uint32_t rune;
	enum mouse_act act;
	uint16_t column, row; /* of the mouse, from 0 */
};

struct key_state {
	bool pasting;   /* between the marks of pasted text */
	uint8_t string; /* inside a text that the terminal sends: 1; after an ESC in it: 2 */
	bool skipping;  /* inside a sequence that is too long */
};

/*
 * Decodes the first key: returns the number of bytes that it took, 0 if more are needed. `ended`: no more bytes came
 * for a while, so a lone ESC is the key. *ret is set whenever bytes were taken, perhaps to KEY_NONE.
 */
size_t key_decode(struct key_state *state, const uint8_t *bytes, size_t len, bool ended, struct key *ret);

static inline bool key_is(const struct key *key, char c)
{
	return key->kind == KEY_RUNE && !(key->modifiers & (KEY_CTRL | KEY_ALT)) && key->rune == (uint32_t)(uint8_t)c;
}

static inline bool key_is_ctrl(const struct key *key, char c)
{
	return key->kind == KEY_RUNE && key->modifiers == KEY_CTRL && key->rune == (uint32_t)(uint8_t)c;
}

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_KEEPER_H
#define WEFT_CMD_TERMINAL_KEEPER_H

#include "lib/base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>

struct fail;

/*
 * A program that draws on the whole terminal, in two processes. The keeper owns the terminal: it saves its state, turns
 * the screen over to the drawing process, and restores it however that one ends, also if either is killed by a signal
 * that can be caught or is stopped and continued. The drawing process reads what strangers wrote, and needs no rights:
 * it reads keys and writes to the terminal, both of which are open.
 */

/* What the drawing process asks of the keeper: a letter, and for KEEPER_SAVE a text. */
enum keeper_wish {
	KEEPER_READY = 'R',   /* the first screen can be drawn */
	KEEPER_SUSPEND = 'Z', /* the user typed Ctrl-Z */
	KEEPER_SAVE = 'S',    /* the file beside the trace */
};

/* What the keeper sends: the terminal is set up, draw everything; or the answer to a wish to save, with its message. */
enum keeper_word { KEEPER_GO = 'G', KEEPER_SAVED = 'V' };

struct keeper {
	const char *save_as;       /* the only file that KEEPER_SAVE writes; never an existing one of another kind */
	const char *enter, *leave; /* sequences for the terminal, of at most 255 bytes */
	bool waits; /* a signal that ends weft is passed on: the drawing process has something to put in order */
};

/* The other screen, no cursor, no wrap at the right end, and marks around pasted text; and back, without a mouse. */
#define KEEPER_ENTER "\033[?1049h\033[?25l\033[?7l\033[?2004h"
#define KEEPER_LEAVE "\033[?1006l\033[?1002l\033[?1000l\033[?2026l\033[r\033[0m\033[?2004l\033[?7h\033[?25h\033[?1049l"

/* Whether standard input and output are a terminal on which a program can draw. */
bool keeper_has_terminal(void);

enum { KEEPER_TEXT_MAX = 65536 };

/*
 * Forks. In the drawing process, calls draw(arg, socket), whose value is the exit status; returns that status in the
 * keeper, with the terminal as it was.
 */
int keeper_run(const struct keeper *keeper, int (*draw)(void *arg, int socket), void *arg);

/* For the drawing process. */
int must_check keeper_wish(int socket, enum keeper_wish wish, const void *text, size_t len);
/* The next word of the keeper, and with KEEPER_SAVED its message. 0: the keeper has ended. */
int must_check keeper_hear(int socket, char *into, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_KEEPER_H
#define WEFT_CMD_TERMINAL_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/ground/base/cleanup.h"

/*
 * A program that draws on the whole terminal, in two processes. The keeper owns the terminal: it saves its state, turns
 * the screen over to the drawing process, and restores it however that one ends, also if either is killed by a signal
 * that can be caught or is stopped and continued. The drawing process reads what strangers wrote, and needs no rights:
 * it reads keys and writes to the terminal, both of which are open.
 */

/* What the drawing process asks of the keeper: a letter, and for some a text. */
enum keeper_wish {
	KEEPER_READY = 'R',   /* the first screen can be drawn */
	KEEPER_SUSPEND = 'Z', /* the user typed Ctrl-Z */
	KEEPER_SAVE = 'S',    /* the file beside the trace */
	KEEPER_ZONE = 'T',    /* the time zone that a time names */
	KEEPER_DONE = 'Q',    /* nothing is drawn any more: the terminal is as before, then KEEPER_GO */
};

/*
 * What the keeper sends: the terminal is set up, draw everything; or the answer to a wish: to save, with its message;
 * for a zone, with the text of it (zone_put() of lib/meaning/clock/zone.h), or none.
 */
enum keeper_word { KEEPER_GO = 'G', KEEPER_SAVED = 'V', KEEPER_ZONED = 'Y' };

struct buf;

struct keeper {
	/* For KEEPER_SAVE: saves the text, and says in a line what came of it. NULL: the wish is refused. */
	void (*save)(void *arg, const char *text, size_t len, char *into, size_t size);
	void *save_arg;
	/* For KEEPER_ZONE: appends the text of the zone. NULL: the wish is refused. */
	void (*zone)(const char *time, struct buf *into);
	const char *enter, *leave; /* sequences for the terminal, of at most 255 bytes */
	bool waits; /* a signal that ends weft is passed on: the drawing process has something to put in order */
	/*
	 * Called in the keeper, with the terminal as it was, when a signal has killed the drawing process, which had
	 * something to put in order: does that and tells of both. NULL: the process only read the file.
	 */
	void (*killed)(pid_t pid, int sig);
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
/* KEEPER_DONE, and waits for the answer: messages that are printed before are not seen. */
void keeper_done(int socket);
/* The next word of the keeper, and with the answer to a wish its text. 0: the keeper has ended. */
int must_check keeper_hear(int socket, char *into, size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_CANVAS_H
#define WEFT_CMD_TERMINAL_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/out.h"
#include "lib/screen/term/frame.h"
#include "lib/screen/term/key.h"

struct fail;

/*
 * The terminal of a process that keeper_run() called (keeper.h): frames are drawn on standard output, keys come from
 * what standard input was at the start. A canvas of zeros may be closed.
 */
enum { CANVAS_INPUT = 4096, CANVAS_ESC_MS = 25 }; /* a lone ESC is the key when nothing follows for so long */

struct canvas {
	int tty;            /* a copy of standard input: reading a file replaces that */
	struct frame frame; /* the owner draws into it what the terminal shall show */
	struct frame shown; /* what the terminal shows */
	enum frame_colors colors;
	bool all;       /* the next frame is drawn whole */
	bool gone;      /* the terminal cannot be read or written any more */
	struct out out; /* bytes that go to the terminal with the next frame */
	uint8_t input[CANVAS_INPUT];
	size_t nr_input;
	struct key_state keys;
};

/* `color`: the user wants colours; how many there are is found from the environment. */
int must_check canvas_open(struct canvas *canvas, bool color, struct fail *fail);
void canvas_close(struct canvas *canvas);

/* Gives the frame the size that the terminal has now. */
int must_check canvas_fit(struct canvas *canvas, struct fail *fail);
/* Makes the terminal show the frame. */
void canvas_show(struct canvas *canvas);
/* Writes what is in `out`. */
void canvas_flush(struct canvas *canvas);

/* Whether something was typed that has not been read. */
bool canvas_can_read(const struct canvas *canvas);
/* Reads what was typed, as far as there is room; waits if there is nothing. */
void canvas_read(struct canvas *canvas);
/*
 * Takes the first key of what was read. False: there is none, or, with nr_input, only the begin of a sequence. `ended`:
 * nothing has followed for CANVAS_ESC_MS.
 */
bool canvas_key(struct canvas *canvas, bool ended, struct key *ret);

#endif

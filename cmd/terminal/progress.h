/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_PROGRESS_H
#define WEFT_CMD_TERMINAL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Shows the progress of a long command on one line of standard error, which is redrawn and removed at the end. The line
 * appears only if standard error is a terminal, and standard output does not go to a terminal or into a program that
 * may write to one; and only after a second, or as many ms as WEFT_PROGRESS says. The progress is the number of bytes
 * that this process has read by the kernel's count. A command has only one line. Its thread is started after rights
 * were given up.
 */

/*
 * Call it before rights are given up. `what` is the command's name; `prints` says that the command writes text to
 * standard output meanwhile. If the line cannot be shown, this and the other functions do nothing.
 */
void progress_prepare(const char *what, bool prints);

/* Adds the estimated size of the output to the line. */
void progress_tell_size(void);

/* `total` is the number of bytes to read; 0: unknown. */
void progress_start(uint64_t total);
/* For threads that read parts of the input, some of it twice: `part` of all `parts` is done. 0: bytes tell again. */
void progress_part(uint64_t part, uint64_t parts);
void progress_end(void);

/*
 * For a command that draws a line of its own, without the functions above: whether it may draw one, the time between
 * two lines, and the line to draw; NULL removes it.
 */
bool progress_can_draw(void);
unsigned progress_period_ms(void);
void progress_draw(const char *text);

/*
 * For a command whose steps are no bytes that it reads: says what it does from now on, as "setting up tracing". NULL
 * ends the line and its thread. Nothing is shown where progress_can_draw() is false.
 */
void progress_step(const char *what);

/*
 * Between these two, a message is printed: the line is gone, and no thread draws it behind a part of the message. It
 * comes back by itself. No function of this header may be called meanwhile.
 */
void progress_pause(void);
void progress_go_on(void);

/* Returns the size of all files below a directory; 0 if it cannot be read. */
uint64_t progress_tree(const char *path);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_TERMINAL_PAGER_H
#define WEFT_CMD_TERMINAL_PAGER_H

/*
 * If standard output is a terminal, everything that is printed from here on goes through WEFT_PAGER, PAGER or less, as
 * in git and man. The command continues in a new process. This process waits for it and for the pager, and ends with
 * the command's status: a command that gave up its rights could not wait. Call it once per program, before threads are
 * made and before anything is printed. Control characters are escaped as without a pager. If standard output is a file
 * or a pipe, nothing happens.
 */
void pager_start(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_PAGER_H
#define WEFT_CMD_PAGER_H

/*
 * Where standard output is a terminal, what is printed from here on goes through WEFT_PAGER, PAGER or less, as that of
 * git and man does. The command goes on in a new process; this one waits for it and for the pager and then ends with
 * the command's status, for a command that has given up its rights can wait for nobody. Once for each program, before
 * threads and before anything is printed. Control characters are escaped as before. For files and pipes nothing
 * happens.
 */
void pager_start(void);

#endif

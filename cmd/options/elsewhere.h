/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_OPTIONS_ELSEWHERE_H
#define WEFT_CMD_OPTIONS_ELSEWHERE_H

/*
 * Returns what weft has instead of an option of trace-cmd, such as "-w" or "--stat" of `weft COMMAND`. NULL: unknown.
 */
const char *elsewhere_option(const char *command, const char *option);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ELSEWHERE_H
#define WEFT_CMD_ELSEWHERE_H

/*
 * weft's name for an option of trace-cmd that has another name here: of `weft COMMAND OPTION`, "-w" or "--stat". NULL:
 * unknown.
 */
const char *elsewhere_option(const char *command, const char *option);

#endif

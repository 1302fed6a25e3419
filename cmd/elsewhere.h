/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_ELSEWHERE_H
#define WEFT_CMD_ELSEWHERE_H

/* What an option of trace-cmd is called here, where it is called otherwise: of `weft COMMAND OPTION`, "-w" or "--stat". NULL: not known. */
const char *elsewhere_option(const char *command, const char *option);

#endif

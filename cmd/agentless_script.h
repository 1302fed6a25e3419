/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_AGENTLESS_SCRIPT_H
#define WEFT_CMD_AGENTLESS_SCRIPT_H

/* agentless.sh, the far side of `weft record --on HOST --agentless` (lib/kernel/remote/agentless.h). */
extern const char cmd_agentless_sh[];

#endif

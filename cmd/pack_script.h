/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_PACK_SCRIPT_H
#define WEFT_CMD_PACK_SCRIPT_H

/*
 * pack_script.sh, which `weft pack --script` prints. It is for a POSIX shell on a machine that has nothing else, and
 * copies what `weft pack DIR` reads. tests/cases/pack-script.bats runs it.
 */
extern const char cmd_pack_script_sh[];

#endif

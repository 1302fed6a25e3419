/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_CMD_PACK_SCRIPT_H
#define WEFT_CMD_PACK_SCRIPT_H

/*
 * What `weft pack --script` prints: a script for a POSIX shell that copies what `weft pack DIR` reads, on machines that
 * have nothing else. tests/cases/pack-script.bats runs it, and has shellcheck read it.
 */
extern const char pack_script[];

#endif

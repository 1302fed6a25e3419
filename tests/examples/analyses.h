/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_EXAMPLES_ANALYSES_H
#define WEFT_TESTS_EXAMPLES_ANALYSES_H

/*
 * The only analyses and commands of the weft that `make examples` builds, build/tests/examples/weft: they take the
 * place of lib/analysis/analysis_list.h and cmd/command_list.h. An analysis has one line here, as it would have there.
 */
/* clang-format off */
#define ANALYSES(X) \
	X(events_per_task)

#define COMMANDS(X) \
	X(record) \
	ANALYSES(X) \
	X(help) \
	X(describe)
/* clang-format on */

#define WEFT_ANALYSIS_ANALYSIS_LIST_H
#define WEFT_CMD_COMMAND_LIST_H

#endif

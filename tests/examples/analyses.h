/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TESTS_EXAMPLES_ANALYSES_H
#define WEFT_TESTS_EXAMPLES_ANALYSES_H

/*
 * `make examples` builds a weft that also has these analyses, build/tests/examples/weft. An analysis has one line here,
 * as it would have in lib/answers/frame/analysis_list.h.
 */
/* clang-format off */
#define ANALYSES_MORE(X) \
	X(busiest)
/* clang-format on */

#endif

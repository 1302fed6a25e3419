// SPDX-License-Identifier: GPL-2.0-only
static const struct option_row table[] = {
	{ "clock", 'C', "CLOCK", 0, "Use the trace clock CLOCK", 1, OPTION_TEXT(struct setup_instance, clock),
	  .marks = OF_INSTANCE | IS_PASSED },
	{ 0 },
};

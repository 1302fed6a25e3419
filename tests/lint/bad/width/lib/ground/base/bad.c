// SPDX-License-Identifier: GPL-2.0-only
const char *bad_message(void)
{
	return "a string is no reason for a longer line: it is written as several strings that follow each other, each on a line";
}

// SPDX-License-Identifier: GPL-2.0-only
int bad(void);
int bad(void)
{
	static int calls;

	return ++calls;
}

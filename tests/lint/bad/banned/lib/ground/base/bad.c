// SPDX-License-Identifier: GPL-2.0-only
void bad(char *a, const char *b) { strcpy(a, b); }

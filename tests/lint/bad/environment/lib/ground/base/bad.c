// SPDX-License-Identifier: GPL-2.0-only
const char *bad(void) { return getenv("PATH"); }

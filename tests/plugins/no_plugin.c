// SPDX-License-Identifier: GPL-2.0-only
/* A shared object that is no plugin. */
extern const int nothing;
const int nothing = 1;

/* SPDX-License-Identifier: GPL-2.0-only */
static inline uint32_t bad(void) { return 0; }

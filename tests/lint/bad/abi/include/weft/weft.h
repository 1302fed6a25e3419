/* SPDX-License-Identifier: GPL-2.0-only */
int weft_version_number(void);

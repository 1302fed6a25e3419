/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ONE_INNER_INTERNAL_H
#define WEFT_ONE_INNER_INTERNAL_H
#endif

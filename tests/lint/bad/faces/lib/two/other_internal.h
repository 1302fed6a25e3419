/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_TWO_OTHER_INTERNAL_H
#define WEFT_TWO_OTHER_INTERNAL_H
#endif

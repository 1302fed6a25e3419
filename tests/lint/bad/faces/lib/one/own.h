/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ONE_OWN_H
#define WEFT_ONE_OWN_H
#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_ONE_DOOR_H
#define WEFT_ONE_DOOR_H
#include "lib/one/inner_internal.h"
#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_GROUND_BASE_ONE_H
#define WEFT_GROUND_BASE_ONE_H

int one_add(int number);
int one_twice(int number);
int one_forgotten(int number);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_EVENT_SOFTIRQS_H
#define WEFT_MEANING_EVENT_SOFTIRQS_H

#include <stdint.h>

/* include/linux/interrupt.h: the softirqs, the same in all kernels that weft knows. */
enum { SOFTIRQS = 10 };

/* "TIMER", as in the text of softirq_entry; NULL: there is none of this number. */
const char *softirq_name(uint64_t vec);

#endif

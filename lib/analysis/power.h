/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_POWER_H
#define WEFT_ANALYSIS_POWER_H

#include "lib/analysis/analysis.h"

/* For power_analysis; NULL: all CPUs together. */
struct power_options {
	bool by_cpu; /* of a comparison: rows for each CPU, not for all together */
};

#endif

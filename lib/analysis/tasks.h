/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_TASKS_H
#define WEFT_ANALYSIS_TASKS_H

#include "lib/analysis/analysis.h"

enum tasks_by { TASKS_BY_TASK, TASKS_BY_PROGRAM, TASKS_BY_PARENT };

/* For tasks_analysis; NULL: by task, or by program if the tables are compared with other files. */
struct tasks_options {
	enum tasks_by by;
	bool tree; /* by task: parents above their children, which are indented */
};

#endif

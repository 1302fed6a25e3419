/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_ANALYSIS_LOCKS_H
#define WEFT_ANALYSIS_LOCKS_H

/* The rows of locks_analysis; its options are struct row_options (lib/analysis/analysis.h). */

enum locks_by { LOCKS_BY_LOCK, LOCKS_BY_CALLER, LOCKS_BY_TASK };

#endif

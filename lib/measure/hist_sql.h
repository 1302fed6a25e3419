/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEASURE_HIST_SQL_H
#define WEFT_MEASURE_HIST_SQL_H

#include "lib/base/cleanup.h"

struct fail;
struct instance;
struct sql;
struct undo;

/*
 * Makes what a query means (lib/tracefs/sql.h): the synthetic event in the whole kernel, with its triggers in `top`; a
 * histogram of one event in `instance`. All of it is journaled first.
 */
int must_check hist_set_sql(struct instance *instance, struct instance *top, struct undo *undo, const struct sql *sql,
			    struct fail *fail);

#endif

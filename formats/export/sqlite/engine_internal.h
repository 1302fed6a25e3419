/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_SQLITE_ENGINE_INTERNAL_H
#define WEFT_FORMATS_EXPORT_SQLITE_ENGINE_INTERNAL_H

#include "lib/base/cleanup.h"

#include <sqlite3.h>

struct fail;

/*
 * The functions of SQLite that weft calls. They are looked for when the first statement is asked, so a machine without
 * the library has all of weft but weft sql. A static weft has the library inside.
 */
/* clang-format off */
#define ENGINE_FUNCTIONS(F) \
	F(close) F(column_blob) F(column_bytes) F(column_count) F(column_int64) F(column_name) F(column_text) \
	F(column_type) F(complete) F(config) F(db_config) F(deserialize) F(errmsg) F(errstr) F(exec) F(finalize) \
	F(open_v2) F(prepare_v2) F(set_authorizer) F(step) F(stmt_readonly)
/* clang-format on */

#define ENGINE_MEMBER(name) __typeof__ (&sqlite3_##name)(name);

struct engine {
	ENGINE_FUNCTIONS(ENGINE_MEMBER)
};

/* Loads the library, which stays until the process ends. -ENOENT: it is not installed; `fail` names its package. */
int must_check engine_load(struct engine *ret, struct fail *fail);

#endif

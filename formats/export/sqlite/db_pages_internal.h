/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_FORMATS_EXPORT_SQLITE_DB_PAGES_INTERNAL_H
#define WEFT_FORMATS_EXPORT_SQLITE_DB_PAGES_INTERNAL_H

#include "lib/base/cleanup.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"

#include <stdint.h>

/* The size of each page of a database; no byte is reserved. */
enum { DB_PAGE = 16384 };

/*
 * The pages of an SQLite file. They are appended; only the first page, which has the positions of the tables, is
 * written last. The first failure is kept in pages->error, its text in pages->failure.
 */
struct db_pages {
	int fd; /* borrowed */
	uint32_t nr;
	struct out out; /* pages that are not in the file yet */
	int error;
	struct fail failure;
};

/* The file must be empty. */
int must_check db_pages_init(struct db_pages *pages, int fd, struct fail *fail);
void db_pages_release(struct db_pages *pages);
void db_pages_failed(struct db_pages *pages, int error, const char *what);

/* The number of the page after page `nr`: SQLite skips the page that contains its lock bytes. */
uint32_t db_pages_after(uint32_t nr);

/* Adds a page. The caller must set all its bytes; the pointer is valid until the next call. */
uint8_t *db_pages_add(struct db_pages *pages);

/* Writes the first page, and all other pages that are not in the file yet. */
void db_pages_finish(struct db_pages *pages, const uint8_t first[DB_PAGE]);

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/sqlite/db_pages_internal.h"

#include "lib/base/io.h"

#include <string.h>

/* SQLite uses the bytes from this offset on for locks; their page is unused. */
enum { LOCKED = 0x40000000, WRITE_SIZE = 1 << 18 };

int db_pages_init(struct db_pages *pages, int fd, struct fail *fail)
{
	*pages = (struct db_pages){ .fd = fd };
	if (!out_init(&pages->out, WRITE_SIZE + DB_PAGE))
		return fail_memory(fail);
	/* Reserves the first page. */
	memset(db_pages_add(pages), 0, DB_PAGE);
	return 0;
}

void db_pages_release(struct db_pages *pages)
{
	out_release(&pages->out);
}

void db_pages_failed(struct db_pages *pages, int error, const char *what)
{
	if (!pages->error)
		pages->error = fail_set(&pages->failure, error, "cannot write the database: %s", what);
}

static void flush(struct db_pages *pages)
{
	int r = pages->error ? 0 : out_flush(&pages->out, pages->fd);

	if (r)
		db_pages_failed(pages, r, strerror(-r));
	out_clear(&pages->out);
}

uint32_t db_pages_after(uint32_t nr)
{
	return nr + 1 == LOCKED / DB_PAGE + 1 ? nr + 2 : nr + 1;
}

static uint8_t *add(struct db_pages *pages)
{
	uint8_t *page;

	if (out_len(&pages->out) >= WRITE_SIZE)
		flush(pages);
	out_need(&pages->out, DB_PAGE);
	page = (uint8_t *)pages->out.at;
	pages->out.at += DB_PAGE;
	return page;
}

uint8_t *db_pages_add(struct db_pages *pages)
{
	uint32_t nr = db_pages_after(pages->nr);

	if (nr > pages->nr + 1)
		memset(add(pages), 0, DB_PAGE);
	pages->nr = nr;
	return add(pages);
}

void db_pages_finish(struct db_pages *pages, const uint8_t first[DB_PAGE])
{
	int r;

	flush(pages);
	if (pages->error)
		return;
	r = io_pwrite(pages->fd, first, DB_PAGE, 0);
	if (r)
		db_pages_failed(pages, r, strerror(-r));
}

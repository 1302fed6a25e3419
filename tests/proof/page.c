// SPDX-License-Identifier: GPL-2.0-only
/*
 * One step of the walk over a page, from any place where a walk can be, over any bytes: nothing behind the committed
 * ones is read, the record lies inside them, and the place afterwards is one where a walk can be.
 */
#include "lib/pages/ring/page.h"

#include "tests/proof/proof.h"

enum { COMMIT_MAX = 16 };

int main(void)
{
	static uint8_t bytes[COMMIT_MAX];
	struct record record = { .ts = 0 };
	struct page page = { .data = bytes };

	Frama_C_make_unknown((char *)bytes, sizeof(bytes));
	page.swap = Frama_C_interval(0, 1);
	page.ts = Frama_C_interval(0, 1 << 30);
	page.commit = (uint32_t)Frama_C_interval(0, COMMIT_MAX);
	//@ split page.commit;
	page.data = bytes + COMMIT_MAX - page.commit;
	page.next = (uint32_t)Frama_C_interval(0, (int)page.commit);
	//@ split page.next;
	//@ split page.swap;
	if (page_next(&page, &record, NULL) > 0) {
		//@ assert \valid_read(record.data + (0 .. record.len - 1));
	}
	//@ assert page.next <= page.commit;
	return 0;
}

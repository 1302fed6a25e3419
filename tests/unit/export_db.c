// SPDX-License-Identifier: GPL-2.0-only
#include "formats/export/sqlite/db_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/export/sqlite/db_query.h"
#include "formats/export/sqlite/db_tree_internal.h"
#include "lib/ground/base/draft.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/ground/base/table.h"
#include "tests/unit/test.h"

TEST(db_numbers_are_those_of_sqlite)
{
	uint8_t bytes[9];

	CHECK(db_varint(bytes, 0x7f) == bytes + 1 && bytes[0] == 0x7f);
	CHECK(db_varint(bytes, 0x80) == bytes + 2 && !memcmp(bytes, "\x81\x00", 2));
	CHECK(db_varint(bytes, UINT64_C(0xffffffff)) == bytes + 5 && !memcmp(bytes, "\x8f\xff\xff\xff\x7f", 5));
}

TEST(db_leaves_out_the_page_of_locks)
{
	uint32_t nr = 0x40000000 / DB_PAGE;

	CHECK(db_pages_after(nr - 1) == nr);
	CHECK(db_pages_after(nr) == nr + 2);
	CHECK(db_pages_after(nr + 2) == nr + 3);
}

#ifdef WEFT_SQLITE

struct scene {
	int fd;
	struct db *db;
	struct db_map map;
	struct db *handle;
};

static bool begin(struct scene *scene)
{
	*scene = (struct scene){ .db = NULL };
	return CHECK(!draft_nameless("/tmp", &scene->fd)) && CHECK(!db_open(scene->fd, &scene->db, NULL)) &&
	       CHECK(!db_query_open(&scene->handle, NULL));
}

static void end(struct scene *scene)
{
	db_query_close(scene->handle);
	db_map_release(&scene->map);
	db_free(scene->db);
	close(scene->fd);
}

static void finish(struct scene *scene)
{
	db_finish(scene->db);
	CHECK(!db_query_use(scene->handle, scene->fd, &scene->map, NULL));
}

static void check_answer(struct scene *scene, const char *sql, const char *want)
{
	struct db_answer answer;
	struct fail fail = FAIL_INIT;
	struct out out;

	if (!CHECK(out_init(&out, 4096)))
		return;
	if (!db_query(scene->handle, sql, &answer, &fail))
		CHECK(table_write(&answer.table, TABLE_AS_CSV, &out));
	else
		out_str(&out, fail.text);
	db_answer_release(&answer);
	out_char(&out, '\0');
	/* The rows behind the line of titles. */
	CHECK_STR(strchr(out.start, '\n') ? strchr(out.start, '\n') + 1 : out.start, want);
	out_release(&out);
}

/* Integers of every size, on both sides of each limit. */
TEST(db_integers_are_exact)
{
	struct scene scene;
	struct db_table *table;
	char sql[128], want[64];
	int64_t number = 0;

	if (!begin(&scene))
		return;
	table = db_table(scene.db, "t", "a INTEGER, b INTEGER");
	for (unsigned bit = 0; bit < 64; bit++)
		for (int near = -1; near <= 1; near++) {
			db_s64(scene.db, (int64_t)((UINT64_C(1) << bit) + (uint64_t)near));
			db_s64(scene.db, (int64_t)(0 - (UINT64_C(1) << bit) + (uint64_t)near));
			db_insert(scene.db, table);
		}
	finish(&scene);
	for (unsigned bit = 0; bit < 64; bit++)
		for (int near = -1; near <= 1; near++) {
			snprintf(sql, sizeof(sql), "SELECT a, b FROM t WHERE rowid = %" PRId64, ++number);
			snprintf(want, sizeof(want), "%" PRId64 ",%" PRId64 "\n",
				 (int64_t)((UINT64_C(1) << bit) + (uint64_t)near),
				 (int64_t)(0 - (UINT64_C(1) << bit) + (uint64_t)near));
			check_answer(&scene, sql, want);
		}
	check_answer(&scene, "PRAGMA integrity_check", "ok\n");
	end(&scene);
}

/* Texts from those that fit in a leaf to those that need several pages of their own; and texts that are not UTF-8. */
TEST(db_texts_have_any_length)
{
	static const size_t sizes[] = { 0,     1,     57,    58,    8185,  8186,  16300, 16341, 16342, 16343, 16344,
					16345, 16346, 16347, 18000, 18300, 18400, 32700, 32728, 32729, 100000 };
	static char text[100000];
	struct db_table *table;
	struct scene scene;
	char sql[128], want[64];

	if (!begin(&scene))
		return;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 23);
	table = db_table(scene.db, "t", "a TEXT, b INTEGER");
	for (size_t i = 0; i < array_size(sizes); i++) {
		db_text(scene.db, text, sizes[i]);
		db_s64(scene.db, (int64_t)i);
		db_insert(scene.db, table);
	}
	db_text(scene.db, "\xff|\xc3\xa4", 4);
	db_null(scene.db);
	db_insert(scene.db, table);
	finish(&scene);
	for (size_t i = 0; i < array_size(sizes); i++) {
		snprintf(sql, sizeof(sql), "SELECT length(a), substr(a, -1), b FROM t WHERE rowid = %zu", i + 1);
		snprintf(want, sizeof(want), "%zu,%.*s,%zu\n", sizes[i], sizes[i] > 0,
			 text + (sizes[i] ? sizes[i] - 1 : 0), i);
		check_answer(&scene, sql, want);
	}
	check_answer(&scene, "SELECT a, b FROM t WHERE b IS NULL", "\xef\xbf\xbd|\xc3\xa4,\n");
	check_answer(&scene, "PRAGMA integrity_check", "ok\n");
	end(&scene);
}

/* As many leaves as a page has children, and some more. Each row is on a leaf of its own and is found by its number. */
TEST(db_trees_have_any_number_of_leaves)
{
	static const unsigned counts[] = { 0, 1, 2, DB_TREE_CHILDREN, DB_TREE_CHILDREN + 1, DB_TREE_CHILDREN + 2 };
	static char text[9000];
	struct db_table *tables[array_size(counts)];
	struct scene scene;
	char sql[256], want[64];

	if (!begin(&scene))
		return;
	memset(text, 'x', sizeof(text));
	for (size_t i = 0; i < array_size(counts); i++) {
		snprintf(sql, sizeof(sql), "t%zu", i);
		tables[i] = db_table(scene.db, sql, "id INTEGER PRIMARY KEY, a TEXT, b INTEGER");
		for (unsigned row = 0; row < counts[i]; row++) {
			db_null(scene.db);
			db_text(scene.db, text, sizeof(text));
			db_s64(scene.db, row);
			db_insert_at(scene.db, tables[i], ((int64_t)3 << 32) + 7 * row);
		}
	}
	db_view(scene.db, "v", "SELECT count(*) AS n FROM t1");
	finish(&scene);
	for (size_t i = 0; i < array_size(counts); i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*), count((SELECT 1 FROM t%zu x WHERE x.id = (3 << 32) + 7 * y.b AND x.id = "
			 "y.id)), coalesce(sum(length(a)), 0) FROM t%zu y",
			 i, i);
		snprintf(want, sizeof(want), "%u,%u,%zu\n", counts[i], counts[i], counts[i] * sizeof(text));
		check_answer(&scene, sql, want);
	}
	check_answer(&scene, "SELECT n FROM v", "1\n");
	check_answer(&scene, "PRAGMA integrity_check", "ok\n");
	end(&scene);
}

/* The schema is a tree like the others except for its root. */
TEST(db_has_room_for_many_tables)
{
	enum { TABLES = 3000 };
	struct scene scene;
	char name[32];

	if (!begin(&scene))
		return;
	for (unsigned i = 0; i < TABLES; i++) {
		struct db_table *table;

		snprintf(name, sizeof(name), "t%u", i);
		table = db_table(scene.db, name, "a INTEGER");
		db_s64(scene.db, i);
		db_insert(scene.db, table);
	}
	finish(&scene);
	check_answer(&scene, "SELECT count(*) FROM sqlite_schema", "3000\n");
	check_answer(&scene, "SELECT t0.a, t1500.a, t2999.a FROM t0, t1500, t2999", "0,1500,2999\n");
	check_answer(&scene, "PRAGMA integrity_check", "ok\n");
	end(&scene);
}

#endif

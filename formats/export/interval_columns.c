// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/intervals_internal.h"

#include <errno.h>
#include <string.h>

#define WHOLE(text)                                                                 \
	{                                                                           \
		.name = text, .form = COLUMN_INTEGER, .bits = 64, .is_signed = true \
	}
#define NUMBER(text)                                                                                  \
	{                                                                                             \
		.name = text, .form = COLUMN_INTEGER, .bits = 64, .is_signed = true, .optional = true \
	}
#define SMALL(text)                                                                                   \
	{                                                                                             \
		.name = text, .form = COLUMN_INTEGER, .bits = 32, .is_signed = true, .optional = true \
	}
#define TEXT(text)                                                     \
	{                                                              \
		.name = text, .form = COLUMN_OF_TEXT, .optional = true \
	}
#define NONE               \
	{                  \
		.name = "" \
	}

/* The tables of intervals begin with these. Times are in ns; a duration of null: it did not end in the file. */
static const struct column_shape common[] = {
	{ .name = "host", .form = COLUMN_OF_TEXT },
	WHOLE("recording"), /* the same for each file that weft makes of a recording, and of no other one */
	{ .name = "instance", .form = COLUMN_OF_TEXT },
	WHOLE("ts"),    /* by the trace's clock */
	NUMBER("wall"), /* the time of day, in ns since 1970; null: the file does not tell it */
	NUMBER("dur"),
	TEXT("end"), /* "lost": it may have lasted longer; "open": it goes on; null: it has ended */
	SMALL("cpu"),
	SMALL("pid"),
	SMALL("tgid"),
	TEXT("comm"),
};

/* clang-format off */
static const struct column_shape own[INTERVAL_TABLES][INTERVAL_COLUMNS_MAX] = {
	[INTERVAL_RUN] = { TEXT("end_state"), SMALL("priority"), NONE },
	[INTERVAL_STATE] = { TEXT("state"), TEXT("letter"), SMALL("waker_pid"), NONE },
	[INTERVAL_WAKEUP] = {
		NUMBER("enqueue"), NUMBER("queued"), SMALL("priority"), SMALL("waker_pid"), SMALL("first"), NONE
	},
	[INTERVAL_SYSCALL] = { SMALL("number"), TEXT("name"), NUMBER("ret"), NONE },
	[INTERVAL_IRQ] = { SMALL("number"), TEXT("name"), NONE },
	[INTERVAL_SOFTIRQ] = { SMALL("number"), TEXT("name"), NONE },
	[INTERVAL_BLOCK] = {
		NUMBER("dev"), NUMBER("sector"), NUMBER("sectors"), TEXT("operation"), SMALL("error"), NONE
	},
	[INTERVAL_LOCK] = { NUMBER("address"), SMALL("ret"), NONE },
	[INTERVAL_FUNCTION] = { TEXT("name"), SMALL("depth"), NONE },
	[INTERVAL_MARK] = { TEXT("name"), TEXT("kind"), TEXT("track"), SMALL("depth"), NUMBER("cookie"), NONE },
	[INTERVAL_GAP] = { NUMBER("lost"), NONE },
	[INTERVAL_ROLLUP] = {
		TEXT("kind"), TEXT("key"), TEXT("detail"), NUMBER("middle"), NUMBER("count"), NUMBER("sum"),
		NUMBER("min"), NUMBER("began"), NONE
	},
	[INTERVAL_RECORDING] = {
		TEXT("clock"), NUMBER("wall_bound"), TEXT("release"), TEXT("machine"), SMALL("cpus"), NUMBER("events"),
		NUMBER("gaps"), NUMBER("lost"), TEXT("file"), TEXT("kernel"), TEXT("recorder"), NUMBER("booted"),
		NUMBER("weight"), NUMBER("clock_error"), NONE
	},
};
/* clang-format on */

static const char *const names[INTERVAL_TABLES] = {
	[INTERVAL_RUN] = "run",
	[INTERVAL_STATE] = "state",
	[INTERVAL_WAKEUP] = "wakeup",
	[INTERVAL_SYSCALL] = "syscall",
	[INTERVAL_IRQ] = "irq",
	[INTERVAL_SOFTIRQ] = "softirq",
	[INTERVAL_BLOCK] = "block",
	[INTERVAL_LOCK] = "lock",
	[INTERVAL_FUNCTION] = "function",
	[INTERVAL_MARK] = "mark",
	[INTERVAL_GAP] = "gap",
	[INTERVAL_ROLLUP] = "rollup",
	[INTERVAL_RECORDING] = "recording",
};

_Static_assert(array_size(common) == INTERVAL_COMMON, "all tables begin with these");

const char *interval_table_name(enum interval_table table)
{
	return names[table];
}

const char *interval_tables_name(size_t index)
{
	return index < INTERVAL_TABLES ? names[index] : NULL;
}

size_t interval_columns(enum interval_table table, struct column_shape ret[INTERVAL_COLUMNS_MAX])
{
	size_t nr = array_size(common);

	memcpy(ret, common, sizeof(common));
	for (const struct column_shape *shape = own[table]; *shape->name; shape++)
		ret[nr++] = *shape;
	return nr;
}

int interval_table_find(const char *name, struct column_shape ret[INTERVAL_COLUMNS_MAX], size_t *ret_nr)
{
	for (unsigned i = 0; i < INTERVAL_TABLES; i++)
		if (!strcmp(names[i], name)) {
			*ret_nr = interval_columns(i, ret);
			return 0;
		}
	return -ENOENT;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * As event_hist_trigger_print(), hist_trigger_print_key() and hist_trigger_print_val() of
 * kernel/trace/trace_events_hist.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/answers/tally/tally_calls_internal.h"
#include "lib/answers/tally/tally_internal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/comms.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/names/symbols.h"
#include "lib/meaning/schema/value_names.h"

enum { SYM_WIDTH = 45, SYM_OFFSET_WIDTH = 55, BAR_WIDTH = 20, PERCENT = 10000, ADDRESS_TEXT = 600 };

struct writer {
	const struct tally *tally;
	const struct context *context;
	struct buf *buf;
	struct out symbol; /* the text of one address */
	struct value_names
		*names[TALLY_COLUMNS_MAX]; /* of the keys whose values the print fmt names; NULL: of others */
	uint64_t totals[TALLY_COLUMNS_MAX + 1], max[TALLY_COLUMNS_MAX + 1];
	bool ok;
};

static const char *how_text(const struct tally_column *column)
{
	static const char *const names[] = {
		[TALLY_PLAIN] = "",
		[TALLY_HEX] = ".hex",
		[TALLY_SYM] = ".sym",
		[TALLY_SYM_OFFSET] = ".sym-offset",
		[TALLY_EXECNAME] = ".execname",
		[TALLY_SYSCALL] = ".syscall",
		[TALLY_LOG2] = ".log2",
		[TALLY_BUCKETS] = ".buckets",
		[TALLY_USECS] = ".usecs",
		[TALLY_PERCENT] = ".percent",
		[TALLY_GRAPH] = ".graph",
		[TALLY_MIN] = ".min",
		[TALLY_MAX] = ".max",
	};

	if (column->how == TALLY_QUANTILE)
		return column->per_mille == 500 ? ".p50" :
		       column->per_mille == 900 ? ".p90" :
		       column->per_mille == 990 ? ".p99" :
						  ".p999";
	return names[column->how];
}

static void put_column(struct writer *writer, const struct tally_column *column)
{
	writer->ok &= buf_addf(writer->buf, "%s%s", column->name, how_text(column));
	if (column->how == TALLY_BUCKETS)
		writer->ok &= buf_addf(writer->buf, "=%" PRIu64, column->buckets);
}

static void put(struct writer *writer, const char *text)
{
	writer->ok &= buf_add_str(writer->buf, text);
}

static void put_sorts(struct writer *writer)
{
	const struct tally_program *program = &writer->tally->program;

	for (size_t i = 0; i < program->nr_sorts; i++) {
		size_t column = program->sorts[i].column;

		put(writer, i ? "," : ":sort=");
		if (!column)
			put(writer, "hitcount");
		else
			put_column(writer, column <= program->nr_values ?
						   &program->values[column - 1] :
						   &program->keys[column - 1 - program->nr_values]);
		if (program->sorts[i].descending)
			put(writer, ".descending");
	}
}

static void put_trigger(struct writer *writer)
{
	const struct tally_program *program = &writer->tally->program;

	put(writer, "# event histogram\n#\n# trigger info: hist:keys=");
	for (size_t i = 0; i < program->nr_keys; i++) {
		put(writer, i ? "," : "");
		put_column(writer, &program->keys[i]);
	}
	put(writer, ":vals=hitcount");
	for (size_t i = 0; i < program->nr_values; i++) {
		put(writer, ",");
		put_column(writer, &program->values[i]);
	}
	put_sorts(writer);
	writer->ok &= buf_addf(writer->buf, ":size=%zu", writer->tally->rows.max);
	if (program->timestamps)
		put(writer, ":clock=global");
	if (writer->tally->wanted.filter)
		writer->ok &= buf_addf(writer->buf, " if %s", writer->tally->wanted.filter);
	put(writer, " [active]\n#\n\n");
}

/* Like printk's %ps and %pS: an address without a symbol is printed as a number. */
static const char *symbol_text(struct writer *writer, uint64_t address, char how)
{
	out_clear(&writer->symbol);
	if (!symbols_print(writer->context->symbols, address, how, &writer->symbol)) {
		out_str(&writer->symbol, "0x");
		out_hex(&writer->symbol, address);
	}
	out_char(&writer->symbol, '\0');
	return writer->symbol.start;
}

static void put_stack(struct writer *writer, const struct tally_column *column, const struct tally_part *part)
{
	writer->ok &= buf_addf(writer->buf, "%s:\n", column->name);
	for (size_t at = 0; at + 8 <= part->len; at += 8) {
		uint64_t address;

		memcpy(&address, part->at + at, 8);
		if (!address)
			break;
		writer->ok &= buf_addf(writer->buf, "%9c%s\n", ' ', symbol_text(writer, address, 'S'));
	}
}

/* The kernel looks for a function even where the event's own text has a name for the number. */
static bool put_value_name(struct writer *writer, const struct tally_column *column, uint64_t value)
{
	struct value_names *names = writer->names[column - writer->tally->program.keys];
	const char *name;
	size_t len;

	if (!names || !value_names_find(names, value, &name, &len))
		return false;
	writer->ok &= buf_addf(writer->buf, "%s: [%" PRIx64 "] %-*.*s", column->name, value, SYM_WIDTH, (int)len, name);
	return true;
}

static void put_address(struct writer *writer, const struct tally_column *column, uint64_t value)
{
	bool offset = column->how == TALLY_SYM_OFFSET;

	if (put_value_name(writer, column, value))
		return;
	writer->ok &= buf_addf(writer->buf, "%s: [%" PRIx64 "] %-*s", column->name, value,
			       offset ? SYM_OFFSET_WIDTH : SYM_WIDTH, symbol_text(writer, value, offset ? 'S' : 's'));
}

static bool put_number(struct writer *writer, const struct tally_column *column, uint64_t value)
{
	struct buf *buf = writer->buf;
	char name[TALLY_CALL_SIZE];

	switch (column->how) {
	case TALLY_HEX:
		return buf_addf(buf, "%s: %" PRIx64, column->name, value);
	case TALLY_SYM:
	case TALLY_SYM_OFFSET:
		put_address(writer, column, value);
		return true;
	case TALLY_EXECNAME:
		return buf_addf(buf, "%s: %-16s[%10" PRIu64 "]", column->name,
				context_comm(writer->context, (int32_t)value, COMMS_LAST).text, value);
	case TALLY_SYSCALL:
		return buf_addf(buf, "%s: %-30s[%3" PRIu64 "]", column->name,
				tally_call_name(writer->context, value, name), value);
	case TALLY_LOG2:
		return buf_addf(buf, "%s: ~ 2^%-2" PRIu64, column->name, value);
	case TALLY_BUCKETS:
		return buf_addf(buf, "%s: ~ %" PRIu64 "-%" PRIu64, column->name, value, value + column->buckets - 1);
	case TALLY_PLAIN:
	case TALLY_USECS:
	case TALLY_PERCENT:
	case TALLY_GRAPH:
	case TALLY_MIN:
	case TALLY_MAX:
	case TALLY_QUANTILE:
		break;
	}
	return buf_addf(buf, "%s: %10" PRIu64, column->name, value);
}

static void put_keys(struct writer *writer, const struct tally_row *row)
{
	const struct tally_program *program = &writer->tally->program;
	const uint8_t *at = row->key;
	size_t left = row->len;
	struct tally_part part;

	put(writer, "{ ");
	for (size_t i = 0; i < program->nr_keys && tally_key_part(program, &at, &left, i, &part); i++) {
		const struct tally_column *column = &program->keys[i];

		put(writer, i ? ", " : "");
		if (column->of == TALLY_STACK)
			put_stack(writer, column, &part);
		else if (column->of == TALLY_STRING || column->of == TALLY_TASK)
			writer->ok &= buf_addf(writer->buf, "%s: %-50.*s", column->name, (int)part.len,
					       (const char *)part.at);
		else
			writer->ok &= put_number(writer, column, part.number);
	}
	put(writer, program->stacks ? "}" : " }");
}

/* As __get_percentage(): hundredths of a percent; UINT32_MAX: there is none. */
static uint32_t percentage(uint64_t value, uint64_t total)
{
	if (total && value < UINT64_MAX / PERCENT)
		return (uint32_t)(value * PERCENT / total);
	total /= PERCENT;
	return total ? (uint32_t)(value / total) : value ? UINT32_MAX : 0;
}

static void put_bar(struct writer *writer, uint64_t value, uint64_t max)
{
	uint32_t percent = percentage(value, max);
	char bar[BAR_WIDTH + 1];
	size_t len = (size_t)percent * BAR_WIDTH / PERCENT;

	if (percent == UINT32_MAX) {
		writer->ok &= buf_addf(writer->buf, "%20s", "[ERROR]");
		return;
	}
	if (len > BAR_WIDTH)
		len = BAR_WIDTH;
	memset(bar, ' ', BAR_WIDTH);
	memset(bar, '#', len);
	bar[BAR_WIDTH] = '\0';
	put(writer, bar);
}

static void put_value(struct writer *writer, const struct tally_column *column, const struct tally_row *row,
		      size_t index)
{
	uint64_t value = tally_value(writer->tally, row, index);
	uint32_t percent = percentage(value, writer->totals[index]);
	const char *suffix = tally_is_of_samples(column) ? how_text(column) : "";

	if (column->how == TALLY_PERCENT && percent == UINT32_MAX) {
		writer->ok &= buf_addf(writer->buf, "  %s (%%):[ERROR]", column->name);
	} else if (column->how == TALLY_PERCENT) {
		writer->ok &= buf_addf(writer->buf, "  %s (%%): %3u.%02u", column->name, percent / 100, percent % 100);
	} else if (column->how == TALLY_GRAPH) {
		writer->ok &= buf_addf(writer->buf, "  %s: ", column->name);
		put_bar(writer, value, writer->max[index]);
	} else if (column->how == TALLY_HEX) {
		writer->ok &= buf_addf(writer->buf, "  %s: %10" PRIx64, column->name, value);
	} else if (!tally_value_known(writer->tally, row, index)) {
		writer->ok &= buf_addf(writer->buf, "  %s%s: %10s", column->name, suffix, "-");
	} else {
		writer->ok &= buf_addf(writer->buf, "  %s%s: %10" PRIu64, column->name, suffix, value);
	}
}

static void put_row(struct writer *writer, const struct tally_row *row)
{
	const struct tally_program *program = &writer->tally->program;

	put_keys(writer, row);
	writer->ok &= buf_addf(writer->buf, " hitcount: %10" PRIu64, row->sums[0]);
	for (size_t i = 0; i < program->nr_values; i++)
		put_value(writer, &program->values[i], row, i + 1);
	put(writer, "\n");
}

static void sum_up(struct writer *writer)
{
	const struct tally_map *map = &writer->tally->rows;

	for (size_t i = 0; i < map->nr; i++)
		for (size_t j = 0; j < map->nr_values; j++) {
			uint64_t value = map->rows[i].sums[j];

			writer->totals[j] += value;
			if (value > writer->max[j])
				writer->max[j] = value;
		}
}

static int compare(const void *a, const void *b, void *tally)
{
	return tally_compare(tally, a, b);
}

static int find_names(struct writer *writer, const struct tally_buffer *buffer, struct fail *fail)
{
	const struct tally_program *program = &writer->tally->program;
	const struct context *context = writer->context;
	int err = 0;

	for (size_t i = 0; !err && i < program->nr_keys; i++) {
		const struct tally_column *column = &program->keys[i];
		const struct format *format =
			schema_format(context->schema, column->of_first ? buffer->first.id : buffer->last.id, NULL);
		const struct field *field = format ? format_field(format, column->name) : NULL;

		if (field && column->how == TALLY_SYM)
			err = value_names_new(&context->abi, &context->env, format, field, &writer->names[i], fail);
	}
	return err;
}

int tally_text(struct tally *tally, struct buf *buf, struct fail *fail)
{
	size_t owner = tally->owner == SIZE_MAX ? 0 : tally->owner;
	struct writer writer = {
		.tally = tally, .buf = buf, .context = tally->buffers[owner].last.context, .ok = true
	};
	int err;

	tally_stack_end(tally);
	if (tally->failed || tally->rows.failed || tally->begun.failed || tally->budget.failed ||
	    !out_init(&writer.symbol, ADDRESS_TEXT))
		return fail_memory(fail);
	err = find_names(&writer, &tally->buffers[owner], fail);
	if (tally->rows.nr > 1)
		qsort_r(tally->rows.rows, tally->rows.nr, sizeof(*tally->rows.rows), compare, tally);
	sum_up(&writer);
	put_trigger(&writer);
	for (size_t i = 0; !err && i < tally->rows.nr && writer.ok; i++)
		put_row(&writer, &tally->rows.rows[i]);
	writer.ok &= buf_addf(buf, "\nTotals:\n    Hits: %" PRIu64 "\n    Entries: %zu\n    Dropped: %" PRIu64 "\n",
			      tally->rows.hits, tally->rows.nr, tally->rows.dropped);
	out_release(&writer.symbol);
	for (size_t i = 0; i < array_size(writer.names); i++)
		value_names_free(writer.names[i]);
	return err ? err : writer.ok ? 0 : fail_memory(fail);
}

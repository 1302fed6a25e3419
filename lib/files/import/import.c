// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/import/import.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/files/import/document_internal.h"
#include "lib/files/import/import_internal.h"
#include "lib/files/import/kinds_internal.h"
#include "lib/files/rewrite/binder.h"
#include "lib/ground/base/fail.h"
#include "lib/pages/ring/page.h"
#include "lib/pages/trace/writer.h"

int import_new(struct trace *formats, const struct recast_options *form, struct import **ret, struct fail *fail)
{
	const struct page_shape shape = { .size = IMPORT_PAGE_SIZE,
					  .long_size = 8,
					  .swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ };
	struct import *import = calloc(1, sizeof(*import));
	struct writer_options as;
	int r;

	if (!import)
		return fail_memory(fail);
	import->form = *form;
	import->formats = formats;
	import_names_init(&import->names);
	import_graph_init(&import->graph);
	column_layout_init(&import->shape);
	as = import_form(import);
	r = binder_new(&shape, form->temporaries, &import->binder, fail);
	if (!r)
		r = binder_pack(import->binder, &as, fail);
	if (r)
		import_free(import);
	else
		*ret = import;
	return r;
}

void import_free(struct import *import)
{
	if (!import)
		return;
	import_kinds_free(import->kinds);
	import_names_release(&import->names);
	import_graph_release(&import->graph);
	column_layout_release(&import->shape);
	buf_release(&import->held.raw);
	latency_lookahead_release(&import->lookahead);
	buf_release(&import->trace_cmd.body);
	buf_release(&import->tabs);
	buf_release(&import->caller);
	buf_release(&import->waiting.bytes);
	binder_free(import->binder);
	buf_release(&import->more);
	buf_release(&import->mark);
	buf_release(&import->record);
	free(import);
}

enum { CUT_LINES = 3 };

struct import_counts import_counts(const struct import *import)
{
	struct import_counts counts = import->counts;

	counts.guessed = import->graph.guessed;
	/* The ends of functions are placed by their durations. */
	if (import->graph.seen)
		counts.backwards = 0;
	import_graph_partial(&import->graph, import->shape.has_plain, counts.partial, sizeof(counts.partial));
	/* One event of an unknown form may have the longest lines by chance. */
	if (import->longest.nr >= CUT_LINES && import->longest.others && !import->longest.whole)
		counts.cut_at = import->longest.len;
	counts.no_flags = import->shape.has_no_flags && !import->shape.has_flags;
	column_layout_partial_flags(&import->shape, counts.partial_flags, sizeof(counts.partial_flags));
	counts.mixed_times = import->shape.has_latency && import->shape.has_plain && import->shape.has_unit;
	counts.events += import->is_open != OPEN_NOTHING;
	return counts;
}

static int take_line(void *arg, char *line, size_t len, struct fail *fail)
{
	int r;

	/*
	 * The parsers return false both for a text that does not fit and when memory runs out. errno, which malloc()
	 * sets, tells which it was.
	 */
	errno = 0;
	r = import_take_line(arg, line, len, fail);
	return !r && errno == ENOMEM ? fail_memory(fail) : r;
}

/* The two ends of a document: where it is read from, and the import that gets its lines. */
struct ends {
	struct import *import;
	const struct import_source *source;
};

static int read_source(void *arg, uint8_t *to, size_t size, struct fail *fail)
{
	const struct ends *ends = arg;

	return ends->source->read(ends->source->arg, to, size, fail);
}

static int line_of_source(void *arg, char *line, size_t len, struct fail *fail)
{
	const struct ends *ends = arg;

	return take_line(ends->import, line, len, fail);
}

int import_read(struct import *import, const struct import_source *source, struct fail *fail)
{
	struct ends ends = { .import = import, .source = source };
	const struct document_ends document = { .read = read_source, .line = line_of_source, .arg = &ends };
	int r = document_read(&document, fail);

	return r ? r : import_take_rest(import, fail);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/hist_saved.h"

#include "cmd/analyse.h"
#include "cmd/command.h"
#include "cmd/options/reading.h"
#include "cmd/terminal/terminal.h"
#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/base/out.h"
#include "lib/measure/hist.h"
#include "lib/measure/hist_text.h"
#include "lib/reader/batches.h"
#include "lib/reader/reader.h"
#include "lib/tally/hist_table.h"
#include "lib/tally/tally.h"

#include <errno.h>
#include <inttypes.h>

int hist_print(const struct hist_text *hist, const struct hist_title *title, enum hist_format format, struct fail *fail)
{
	/* Blocks on a terminal whose locale has them. */
	struct hist_shape shape = { .width = terminal_width(), .blocks = terminal_width() && terminal_utf8() };
	struct out out;
	int err = 0;

	if (!out_init(&out, 1 << 16))
		return fail_memory(fail);
	if (format == HIST_AS_JSON)
		hist_table_json(hist, title, &out);
	else
		err = hist_table_text(hist, title, &shape, &out, fail);
	if (!err && hist->dropped && format == HIST_AS_TABLE)
		out_str(&out, "hits were dropped because all rows were in use: raise --size\n");
	if (!err)
		err = terminal_flush(&out, fail);
	out_release(&out);
	return err;
}

struct saved {
	const struct hist_wanted *wanted;
	struct hist_title title;
	enum hist_format format;
	bool *empty; /* set: no event was selected */
};

static int show_parsed(const struct saved *saved, const struct tally *tally, const char *text, struct fail *fail)
{
	struct hist_text hist;
	int r = hist_text_next(&text, &hist, fail);

	if (r <= 0)
		return r ? r : fail_set(fail, -EBADMSG, "the histogram has no title");
	for (size_t i = 0; i < hist.nr_keys; i++) {
		hist.keys[i].is_signed = tally_key_is_signed(tally, i);
		hist.keys[i].is_narrow = tally_key_is_narrow(tally, i);
	}
	for (size_t i = 0; i < hist.nr_values; i++)
		hist.values[i].is_signed = tally_value_is_signed(tally, i);
	r = hist_print(&hist, &saved->title, saved->format, fail);
	hist_text_release(&hist);
	return r;
}

static int show(struct saved *saved, struct tally *tally, struct fail *fail)
{
	cleanup_buf struct buf text = BUF_INIT;
	int r = tally_text(tally, &text, fail);

	if (r)
		return r;
	saved->title.time_ns = tally_span(tally);
	if (saved->format != HIST_AS_KERNEL)
		return show_parsed(saved, tally, buf_str(&text), fail);
	r = command_write(text.data, text.len, fail);
	return r ? r : command_flush(fail);
}

static void tell_limits(const struct tally *tally)
{
	if (tally_losses(tally))
		command_warn("events were lost %" PRIu64 " time%s while it was recorded, and are in no row",
			     tally_losses(tally), tally_losses(tally) == 1 ? "" : "s");
	if (tally_lacks_stacks(tally))
		command_warn("the file has no stacks of these events: record with -T");
	if (tally_is_rough(tally))
		command_warn("there are so many values that percentiles are up to 0.8 %% too large");
}

static int tell(struct saved *saved, struct tally *tally, struct fail *fail)
{
	int r = show(saved, tally, fail);

	if (!r)
		tell_limits(tally);
	return r;
}

static struct tally_wanted wishes(const struct saved *saved)
{
	const struct hist_wanted *from = saved->wanted;

	return (struct tally_wanted){
		.event = from->event,
		.second = from->second,
		.match = from->match,
		.keys = from->keys,
		.values = from->values,
		.sort = from->sort,
		.filter = from->filter,
		.size = from->size,
		.ns = from->ns,
	};
}

static int count_slices(void *arg, struct reader *reader, struct fail *fail)
{
	struct saved *saved = arg;
	const struct tally_wanted wanted = wishes(saved);
	struct tally_sum sum = { .wanted = &wanted };
	int r = tally_new(reader, &wanted, &sum.tally, fail);

	/* What is wrong with the wishes is told by counting in order. */
	r = !r && tally_can_join(sum.tally) ? reading_share(reader, &tally_shares, &sum) : -EAGAIN;
	if (!r) {
		*saved->empty = !tally_has_events(sum.tally);
		r = tell(saved, sum.tally, fail);
	}
	tally_free(sum.tally);
	return r;
}

static int count(void *arg, struct reader *reader, struct fail *fail)
{
	struct saved *saved = arg;
	const struct tally_wanted wanted = wishes(saved);
	struct tally *tally = NULL;
	const char *damage, *path;
	int r;

	if (!reader_is_merged(reader))
		return fail_set(fail, -EINVAL,
				"the clocks of the instances differ, so that their events have no common order; "
				"choose one with -B");
	r = tally_new(reader, &wanted, &tally, fail);
	if (!r)
		r = batches_run(reader, &(struct reader_consumer){ tally_see, tally }, fail);
	if (!r)
		r = tell(saved, tally, fail);
	*saved->empty = !reader_count(reader);
	damage = reader_damage(reader, &path);
	if (!r && damage)
		r = fail_set(fail, -EBADMSG, "'%s' is damaged: %s", path, damage);
	tally_free(tally);
	return r;
}

int hist_saved_run(const struct analyse *file, const struct hist_wanted *wanted, const struct hist_title *title,
		   enum hist_format format)
{
	struct saved saved = { .wanted = wanted, .title = *title, .format = format };
	struct analyse in_batches = *file;
	struct fail fail = FAIL_INIT;
	int r;

	saved.empty = &in_batches.empty;
	in_batches.in_batches = true;
	in_batches.in_slices = count_slices;
	reading_tell_left_behind(file->input);
	r = analyse_read(&in_batches, count, &saved, &fail);
	return r < 0 ? command_failed(&fail) : EXIT_OK;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/flight/left_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/fail.h"
#include "lib/base/json.h"
#include "lib/base/now.h"
#include "lib/base/text.h"
#include "lib/flight/budget.h"
#include "lib/flight/log_writer_internal.h"
#include "lib/flight/persistent.h"
#include "lib/flight/tell_internal.h"
#include "lib/record/berth.h"
#include "lib/record/extraction.h"
#include "lib/record/recovery.h"

static const char trigger[] = "left";
static const char killed[] = "the previous flight ended without closing";

/* A file of this trigger, and the line beside it. */
struct left {
	const char *reason;
	int64_t unix_ns;
	char *path, *beside; /* owned */
	uint64_t size, raw;
	bool complete;
};

static void release(struct left *left)
{
	free(left->path);
	free(left->beside);
}

static int name(const struct left_options *options, struct left *left, struct fail *fail)
{
	cleanup_free char *base = NULL;
	int err;

	left->unix_ns = now_unix_ns();
	err = log_file_name(options->dir, left->unix_ns, trigger, &base, fail);
	if (err)
		return err;
	if (asprintf(&left->path, "%s.dat", base) < 0)
		left->path = NULL;
	if (asprintf(&left->beside, "%s.json", base) < 0)
		left->beside = NULL;
	return left->path && left->beside ? 0 : fail_memory(fail);
}

static void put_facts(struct json *json, const void *arg)
{
	const struct left *left = arg;

	json_object(json);
	json_key(json, "file");
	json_put_text(json, strrchr(left->path, '/') + 1);
	json_key(json, "trigger");
	json_put_text(json, trigger);
	json_key(json, "reason");
	json_put_text(json, left->reason);
	json_key(json, "unix_time");
	json_put_decimal(json, left->unix_ns, 9);
	json_key(json, "size");
	json_put_u64(json, left->size);
	json_key(json, "raw");
	json_put_u64(json, left->raw);
	json_key(json, "complete");
	json_put_bool(json, left->complete);
	json_end(json);
}

static int take_over(const struct left_options *options, const char *parts, struct left *left,
		     struct recovery *recovery, struct fail *fail)
{
	int err = name(options, left, fail);

	if (!err)
		err = recovery_take_over(parts, left->path, options->mode, recovery, fail);
	if (err)
		return err;
	left->size = recovery->file_size;
	left->raw = recovery->raw;
	left->complete = !recovery->unread && !recovery->torn && !recovery->gaps;
	return log_file_beside(left->beside, options->mode, put_facts, left, fail);
}

static int save_parts(const char *parts, void *data)
{
	const struct left_options *options = *(const struct left_options **)data;
	struct recovery recovery = { .output = NULL };
	struct left left = { .reason = killed };
	struct fail fail = FAIL_INIT;
	char raw[TEXT_HUMAN], drained[TEXT_HUMAN];
	int err = take_over(options, parts, &left, &recovery, &fail);

	/* -ENODATA: the flight was killed before it began. */
	if (!err)
		tell_line(options->tell, "%s: %s; %s of pages, %s of them were still in the kernel", left.path, killed,
			  text_size(raw, recovery.raw), text_size(drained, recovery.drained));
	else if (err != -ENODATA)
		tell_line(options->tell, "%s, and is not saved: %s; 'weft recover %s' can try again", killed, fail.text,
			  parts);
	recovery_release(&recovery);
	release(&left);
	return 0;
}

void left_save(const struct left_options *options)
{
	(void)!berth_each(options->name, save_parts, &options);
}

static int extract(const struct left_options *options, const struct persistent *persistent, struct left *left,
		   struct fail *fail)
{
	const char *instance = persistent->name;
	struct extraction extraction;
	struct extraction_options how;
	int err = name(options, left, fail);

	if (!err)
		err = budget_check(options->dir, persistent->size, fail);
	if (err)
		return err;
	how = extraction_alone(&instance, left->path, options->mode);
	err = extraction_run(&how, &extraction, fail);
	if (err && extraction.parts)
		tell_line(options->tell, "'weft recover %s' makes a file of what was taken out of it",
			  extraction.parts);
	left->size = extraction.file_size;
	left->raw = extraction.raw;
	left->complete = !extraction.went_on;
	extraction_release(&extraction);
	return err ? err : log_file_beside(left->beside, options->mode, put_facts, left, fail);
}

int left_save_persistent(const struct left_options *options, const char *instance, struct fail *fail)
{
	struct persistent persistent;
	struct left left = { .complete = false };
	char raw[TEXT_HUMAN];
	int err = persistent_find(instance, &persistent, fail);

	if (err)
		return err;
	left.reason = persistent.current ? "the instance was in use before" : "the machine's last boot ended";
	err = extract(options, &persistent, &left, fail);
	if (!err)
		tell_line(options->tell, "%s: %s; %s of pages were in the instance '%s'", left.path, left.reason,
			  text_size(raw, left.raw), instance);
	else if (err != -ENODATA && err != -EBUSY)
		fail_in(fail, err, "%s, and what it has left cannot be saved ('weft extract -B %s' tries it, too)",
			left.reason, instance);
	release(&left);
	persistent_release(&persistent);
	return err == -ENODATA ? 0 : err;
}

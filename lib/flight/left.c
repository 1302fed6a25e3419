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
#include "lib/flight/log_writer_internal.h"
#include "lib/record/berth.h"
#include "lib/record/recovery.h"

static const char trigger[] = "left";
static const char reason[] = "the previous flight ended without closing";

struct saved {
	const struct recovery *recovery;
	int64_t unix_ns;
};

static void put_facts(struct json *json, const void *arg)
{
	const struct saved *saved = arg;
	const struct recovery *recovery = saved->recovery;

	json_object(json);
	json_key(json, "file");
	json_put_text(json, strrchr(recovery->output, '/') + 1);
	json_key(json, "trigger");
	json_put_text(json, trigger);
	json_key(json, "reason");
	json_put_text(json, reason);
	json_key(json, "unix_time");
	json_put_decimal(json, saved->unix_ns, 9);
	json_key(json, "size");
	json_put_u64(json, recovery->file_size);
	json_key(json, "raw");
	json_put_u64(json, recovery->raw);
	json_key(json, "complete");
	json_put_bool(json, !recovery->unread && !recovery->torn);
	json_end(json);
}

static int save(const struct left_options *options, const char *parts, struct recovery *recovery, struct fail *fail)
{
	struct saved saved = { .recovery = recovery, .unix_ns = now_unix_ns() };
	cleanup_free char *base = NULL, *path = NULL, *beside = NULL;
	int err = log_file_name(options->dir, saved.unix_ns, trigger, &base, fail);

	if (err)
		return err;
	if (asprintf(&path, "%s.dat", base) < 0)
		path = NULL;
	if (asprintf(&beside, "%s.json", base) < 0)
		beside = NULL;
	if (!path || !beside)
		return fail_memory(fail);
	err = recovery_take_over(parts, path, options->mode, recovery, fail);
	return err ? err : log_file_beside(beside, options->mode, put_facts, &saved, fail);
}

static int save_parts(const char *parts, void *data)
{
	const struct left_options *options = *(const struct left_options **)data;
	struct recovery recovery = { .output = NULL };
	struct fail fail = FAIL_INIT;
	char text[sizeof(fail.text) + 256], raw[TEXT_HUMAN], drained[TEXT_HUMAN];
	int err = save(options, parts, &recovery, &fail);

	/* It was killed before it began. */
	if (err == -ENODATA)
		return 0;
	if (err)
		snprintf(text, sizeof(text), "%s, and is not saved: %s; 'weft recover %s' can try again", reason,
			 fail.text, parts);
	else
		snprintf(text, sizeof(text), "%s: %s; %s of pages, %s of them were still in the kernel",
			 recovery.output, reason, text_size(raw, recovery.raw), text_size(drained, recovery.drained));
	options->tell(text);
	recovery_release(&recovery);
	return 0;
}

void left_save(const struct left_options *options)
{
	(void)!berth_each(options->name, save_parts, &options);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* weft_file_redact: a recording without what identifies anybody (lib/files/rewrite/redact.h). */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "lib/api/api_internal.h"
#include "lib/files/rewrite/redact.h"

static int take_key(const struct weft_redact_options *options, struct siphash_key *ret, struct fail *fail)
{
	if (options->key)
		memcpy(ret, options->key, sizeof(*ret));
	else if (getrandom(ret, sizeof(*ret), 0) != sizeof(*ret))
		return fail_set(fail, -EIO, "the kernel gives no random numbers: %s", strerror(errno));
	return 0;
}

static int write_redacted(const weft_file *file, int fd, const struct weft_redact_options *options,
			  struct redacted *done, struct fail *fail)
{
	struct redact_options known = {
		.form = { .version = options->version ? options->version : 7,
			  .compress = !options->plain && options->version != 6,
			  .level = 3 },
		.keep = options->keep,
		.nr_keep = options->nr_keep,
		.pids = options->pids,
		.check = options->check,
	};
	int r = known.form.version == 6 || known.form.version == 7 ?
			0 :
			fail_set(fail, -EINVAL, "there is no version %u of a trace.dat: 6 and 7 are", options->version);

	if (!r)
		r = take_key(options, &known.key, fail);
	return r ? r : redact(file->trace, &known, fd, done, fail);
}

int weft_file_redact(const weft_file *file, int fd, const struct weft_redact_options *options,
		     struct weft_redacted *ret, struct weft_error *error)
{
	struct weft_redact_options known;
	struct redacted done = { .names = 0 };
	struct fail fail = FAIL_INIT;
	int r = api_options(options, &known, sizeof(known), &fail);

	if (!r)
		r = write_redacted(file, fd, &known, &done, &fail);
	if (!r && ret)
		api_fill(ret,
			 &(struct weft_redacted){ .names = done.names,
						  .kept = done.kept,
						  .records = done.records,
						  .emptied = done.emptied,
						  .bytes = done.size },
			 sizeof(*ret));
	redacted_release(&done);
	return api_result(error, r, &fail);
}

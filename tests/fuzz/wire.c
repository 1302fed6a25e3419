// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hostile machine sends to `weft record --on`, or to `weft serve`. The first byte of the input chooses: frames
 * that are only taken apart (0), or a whole connection whose recording is then made into a file (1). Nothing outside of
 * the parts may appear, and each failure has a text.
 */
#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/record/arrival.h"
#include "lib/kernel/record/recovery.h"
#include "lib/kernel/record/result.h"
#include "lib/kernel/remote/outcome.h"
#include "lib/kernel/remote/receiver_internal.h"
#include "lib/kernel/remote/wire_internal.h"
#include "lib/meaning/clock/pings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { ANSWERS_BOUND = 8 << 20 };

static char root[] = "/dev/shm/weft-fuzz-wire-XXXXXX";
static char output[64], made[64];

static int forget(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return at->level ? remove(path) : 0;
}

static void clean(void)
{
	nftw(root, forget, 8, FTW_DEPTH | FTW_PHYS);
	rmdir(root);
}

static void prepare(void)
{
	if (*output)
		return;
	if (!mkdtemp(root))
		abort();
	snprintf(output, sizeof(output), "%s/k.dat", root);
	snprintf(made, sizeof(made), "%s.made", root);
	atexit(clean);
}

static void use(struct bytes body)
{
	struct record_result result = { .has_status = false };
	struct buf again = BUF_INIT;
	struct fail fail = FAIL_INIT;

	if (outcome_take(body, &result, &fail) && !*fail.text)
		abort();
	if (!outcome_add(&again, &result))
		abort();
	record_result_release(&result);
	buf_release(&again);
}

static void take_apart(struct bytes in)
{
	struct wire_greeting greeting;
	struct wire_frame frame;
	struct fail fail = FAIL_INIT;
	struct bytes line = in;
	int r;

	if (wire_take_greeting(&line, &greeting, &fail) < 0 && !*fail.text)
		abort();
	while ((r = wire_take(&in, &frame, &fail)) > 0) {
		char **words;
		int nr;

		if (frame.body.left > WIRE_BODY_MAX || frame.body.at + frame.body.left != in.at)
			abort();
		if (!wire_words(&frame, &words, &nr, &fail)) {
			size_t sum = 0;

			for (int i = 0; i < nr; i++)
				sum += strlen(words[i]) + 1;
			if (sum != frame.body.left || words[nr])
				abort();
			free(words);
		}
		use(frame.body);
	}
	if (r < 0 && !*fail.text)
		abort();
}

static int ignore(void *arg, bool on_stderr, const void *text, size_t len)
{
	(void)arg;
	(void)on_stderr;
	(void)text;
	(void)len;
	return 0;
}

static int keep_clock(void *arg, const struct receiver_clock *clock, struct fail *fail)
{
	const struct receiver *receiver = arg;
	struct ping ping = { .lo = clock->before, .hi = clock->before + clock->after % 1000000, .far = clock->far };

	snprintf(ping.clock, sizeof(ping.clock), "%s", clock->clock);
	return arrival_ping(receiver->arrival, &ping, fail);
}

/* The folder has the parts, and they have nothing but the metadata and spools. */
static void look_around(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (*entry->d_name != '.' && strcmp(entry->d_name, "metadata") != 0 &&
		    entry->d_name[strspn(entry->d_name, "0123456789.")])
			abort();
	if (dir)
		closedir(dir);
}

static void finish(struct arrival *arrival)
{
	bool has_begun = arrival_has_begun(arrival);
	struct fail fail = FAIL_INIT;
	struct recovery recovery;
	char *path = strdup(arrival_path(arrival));

	if (!path)
		abort();
	look_around(path);
	arrival_free(arrival);
	if (has_begun && !recovery_run(path, made, 0600, &recovery, &fail))
		recovery_release(&recovery);
	else if (has_begun && !*fail.text)
		abort();
	unlink(made);
	free(path);
	nftw(root, forget, 8, FTW_DEPTH | FTW_PHYS);
}

static void receive(struct bytes in)
{
	struct record_result result = { .has_status = false };
	struct buf answers = BUF_INIT;
	struct receiver receiver = {
		.print = ignore, .clock = keep_clock, .arg = &receiver, .result = &result, .answers = &answers
	};
	struct fail fail = FAIL_INIT;
	int err;

	if (arrival_new(&(struct arrival_options){ output, NULL, "far" }, &receiver.arrival, &fail) ||
	    receiver_init(&receiver, &fail))
		abort();
	err = receiver_take(&receiver, &in, &fail);
	if ((err && !*fail.text) || answers.len > ANSWERS_BOUND)
		abort();
	finish(receiver.arrival);
	receiver_release(&receiver);
	record_result_release(&result);
	buf_release(&answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (!len)
		return 0;
	prepare();
	if (*data & 1)
		receive(wire_bytes(data + 1, len - 1));
	else
		take_apart(wire_bytes(data + 1, len - 1));
	return 0;
}

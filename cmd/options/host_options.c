// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/options/host_options.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/guest/host.h"

static void take_vcpus(const struct option_row *row, void *input, char *arg, struct argp_state *state)
{
	struct guest_host *host = input;
	const char *list = arg;
	struct text_word word;

	(void)row;
	while (text_next_word(&list, ",", &word)) {
		struct fail fail = FAIL_INIT;
		uint64_t pid = 0;
		char text[32];

		snprintf(text, sizeof(text), "%.*s", (int)(word.len < sizeof(text) ? word.len : sizeof(text) - 1),
			 word.at);
		option_taken("--vcpus", text_parse_range(text, 1, INT32_MAX, &pid, &fail), &fail, state);
		if (host->nr_threads == GUEST_HOST_THREADS)
			argp_error(state, "--vcpus: more than %d", GUEST_HOST_THREADS);
		host->threads[host->nr_threads++] = (int32_t)pid;
	}
}

static error_t parse_host(int key, char *arg, struct argp_state *state)
{
	const struct guest_host *host = state->input;

	(void)arg;
	if (key != ARGP_KEY_END)
		return ARGP_ERR_UNKNOWN;
	if (host->nr_threads && !host->buffer)
		argp_error(state, "--vcpus needs --host");
	return 0;
}

static const struct option_row host_rows[] = {
	{ "host", 0, "BUFFER", 0,
	  "In a file that weft merge made of a guest (-B) and its host: also show what the host, whose buffer this is, "
	  "did with the guest's CPUs",
	  95, OPTION_TEXT(struct guest_host, buffer) },
	{ "vcpus", 0, "PID,PID...", 0,
	  "With --host: the threads there that are the guest's CPUs 0, 1... (default: those of kvm_entry, or that are "
	  "called 'CPU 0/KVM')",
	  95, OPTION_TAKE(take_vcpus) },
	{ 0 },
};

const struct options host_options = { .rows = host_rows, .parser = parse_host };

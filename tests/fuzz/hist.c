// SPDX-License-Identifier: GPL-2.0-only
/*
 * Input: any text as the kernel's files `hist`, `error_log`, `format` and `dynamic_events`, and any bytes as the
 * kernel's type information.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/kernel/measure/hist_text.h"
#include "lib/kernel/probe/btf_internal.h"
#include "lib/kernel/refusals/error_log.h"
#include "lib/kernel/refusals/probe.h"
#include "lib/kernel/tracefs/event_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void take_histograms(const char *text)
{
	struct hist_text hist;

	while (hist_text_next(&text, &hist, NULL) > 0) {
		for (size_t i = 0; i < hist.nr; i++)
			for (size_t j = 0; j < hist.nr_keys; j++) {
				const char *at = hist.rows[i].keys[j].text.at;
				size_t left = hist.rows[i].keys[j].text.len;
				struct text_word line;

				while (hist.rows[i].keys[j].stack && hist_stack_line(&at, &left, &line))
					if (!line.len)
						__builtin_trap();
			}
		if (hist.nr_keys > HIST_COLUMNS_MAX || hist.nr_values > HIST_COLUMNS_MAX)
			__builtin_trap();
		hist_text_release(&hist);
	}
}

static void find_error(const char *text)
{
	cleanup_buf struct buf buf = BUF_INIT;
	struct error_entry entry;
	char word[32];

	if (!error_log_find("", text, "hist:keys=a", &entry))
		return;
	if (entry.caret > entry.command.len || !error_entry_print(&entry, &buf))
		__builtin_trap();
	error_entry_culprit(&entry, word, sizeof(word));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct event_fields fields = { .nr = 0 };
	char *text = strndup((const char *)data, len);
	struct prototype prototype;
	struct probe probe;

	if (!text)
		return 0;
	take_histograms(text);
	find_error(text);
	if (!event_fields_parse(&fields, text, NULL))
		event_fields_release(&fields);
	if (!probe_parse(text, &probe, NULL))
		probe_release(&probe);
	if (prototype_parse(data, len, "f", &prototype, NULL) > 0 && prototype.nr > PROTOTYPE_PARAMETERS)
		__builtin_trap();
	free(text);
	return 0;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/status_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/flight_recording.h"

static uint64_t span_of(const struct flight_recording_cpu *cpu, uint64_t now)
{
	return now > cpu->since ? now - cpu->since : 0;
}

static uint64_t kernel_bytes(const struct flight_recording_cpus *cpus)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < cpus->nr; i++)
		bytes += cpus->at[i].kernel;
	return bytes;
}

static bool print_cpus(const struct flight_recording_cpus *cpus, uint64_t now, struct buf *text)
{
	char span[TEXT_HUMAN], bytes[TEXT_HUMAN], raw[TEXT_HUMAN], kernel[TEXT_HUMAN], lost[TEXT_HUMAN];
	bool ok = buf_addf(text, "%-16s %4s %12s %12s %12s %12s %12s\n", "INSTANCE", "CPU", "REACHES BACK", "HELD",
			   "AS PAGES", "IN KERNEL", "LOST");

	for (size_t i = 0; ok && i < cpus->nr; i++) {
		const struct flight_recording_cpu *cpu = &cpus->at[i];

		ok = buf_addf(text, "%-16s %4u %12s %12s %12s %12s %12s\n", *cpu->instance ? cpu->instance : "-",
			      cpu->cpu, text_time(span, span_of(cpu, now)), text_size(bytes, cpu->bytes),
			      text_size(raw, cpu->raw), text_size(kernel, cpu->kernel), text_count(lost, cpu->lost));
	}
	return ok;
}

bool status_print(const struct status *status, struct flight_recording *recording, struct buf *text)
{
	char keep[TEXT_HUMAN], max[TEXT_HUMAN], held[TEXT_HUMAN], bytes[TEXT_HUMAN], time[TEXT_HUMAN];
	const char *mode = status->persistent ? "persistent" : status->in_kernel ? "kernel" : "ring";
	char triggers[TEXT_HUMAN], skipped[TEXT_HUMAN], files[TEXT_HUMAN];
	uint64_t now = flight_recording_now(recording);
	struct flight_recording_cpus cpus = { .nr = 0 };
	bool ok;

	if (flight_recording_look(recording, &cpus, NULL))
		return false;
	ok = buf_addf(text, "flying for %s: %s asked for, %s of %s held in %s (mode %s)\n",
		      text_time(time, now - status->begin), text_time(keep, status->keep_ns),
		      text_size(held, status->in_kernel ? kernel_bytes(&cpus) : flight_recording_bytes(&cpus)),
		      text_size(max, status->max_memory), status->in_kernel ? "the kernel's buffers" : "memory", mode);
	ok = ok && buf_addf(text, "%s trigger%s, %s more only counted; %s file%s of %s in %s\n",
			    text_count(triggers, status->triggers), text_plural(status->triggers),
			    text_count(skipped, status->skipped), text_count(files, status->files),
			    text_plural(status->files), text_size(bytes, status->bytes), status->dir);
	if (ok && status->failed)
		ok = buf_addf(text, "%" PRIu64 " could not be written\n", status->failed);
	if (ok && (status->uploads || status->uploads_failed))
		ok = buf_addf(text, "%" PRIu64 " uploaded, %" PRIu64 " not\n", status->uploads, status->uploads_failed);
	ok = ok && print_cpus(&cpus, now, text);
	free(cpus.at);
	return ok;
}

bool status_reach(const struct status *status, struct flight_recording *recording, struct status_reach *ret)
{
	uint64_t now = flight_recording_now(recording);
	struct flight_recording_cpus cpus = { .nr = 0 };

	if (flight_recording_look(recording, &cpus, NULL))
		return false;
	*ret = (struct status_reach){ .span = UINT64_MAX, .crowded = cpus.nr ? cpus.at[0].crowded : 0 };
	for (size_t i = 0; i < cpus.nr; i++)
		if (span_of(&cpus.at[i], now) < ret->span)
			ret->span = span_of(&cpus.at[i], now);
	free(cpus.at);
	ret->is_short = now - status->begin >= status->keep_ns && ret->span < status->keep_ns;
	return true;
}

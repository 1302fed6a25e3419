// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/status_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/json.h"
#include "lib/ground/base/out.h"
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

static const char *mode_of(const struct status *status)
{
	return status->persistent ? "persistent" : status->in_kernel ? "kernel" : "ring";
}

static uint64_t held_bytes(const struct status *status, const struct flight_recording_cpus *cpus)
{
	return status->in_kernel ? kernel_bytes(cpus) : flight_recording_bytes(cpus);
}

bool status_print(const struct status *status, struct flight_recording *recording, struct buf *text)
{
	char keep[TEXT_HUMAN], max[TEXT_HUMAN], held[TEXT_HUMAN], bytes[TEXT_HUMAN], time[TEXT_HUMAN];
	char triggers[TEXT_HUMAN], skipped[TEXT_HUMAN], files[TEXT_HUMAN];
	uint64_t now = flight_recording_now(recording);
	struct flight_recording_cpus cpus = { .nr = 0 };
	bool ok;

	if (flight_recording_look(recording, &cpus, NULL))
		return false;
	ok = buf_addf(text, "flying for %s: %s asked for, %s of %s held in %s (mode %s)\n",
		      text_time(time, now - status->begin), text_time(keep, status->keep_ns),
		      text_size(held, held_bytes(status, &cpus)), text_size(max, status->max_memory),
		      status->in_kernel ? "the kernel's buffers" : "memory", mode_of(status));
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

static void put_number(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_put_u64(json, value);
}

static void put_text(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_put_text(json, text);
}

static void put_cpus(const struct flight_recording_cpus *cpus, uint64_t now, struct json *json)
{
	json_key(json, "cpus");
	json_array(json);
	for (size_t i = 0; i < cpus->nr; i++) {
		const struct flight_recording_cpu *cpu = &cpus->at[i];

		json_object(json);
		put_text(json, "instance", cpu->instance);
		put_number(json, "cpu", cpu->cpu);
		put_number(json, "reaches_back_ns", span_of(cpu, now));
		put_number(json, "held_bytes", cpu->bytes);
		put_number(json, "as_pages_bytes", cpu->raw);
		put_number(json, "in_kernel_bytes", cpu->kernel);
		put_number(json, "lost", cpu->lost);
		json_end(json);
	}
	json_end(json);
}

static void put_status(const struct status *status, const struct flight_recording_cpus *cpus, uint64_t now,
		       struct out *out)
{
	struct json json;

	json_init(&json, out);
	json_object(&json);
	put_number(&json, "version", 1);
	put_text(&json, "flight", status->name);
	put_text(&json, "mode", mode_of(status));
	put_number(&json, "lasted_ns", now - status->begin);
	put_number(&json, "keep_ns", status->keep_ns);
	put_number(&json, "held_bytes", held_bytes(status, cpus));
	put_number(&json, "max_memory_bytes", status->max_memory);
	put_number(&json, "triggers", status->triggers);
	put_number(&json, "only_counted", status->skipped);
	put_text(&json, "directory", status->dir);
	put_number(&json, "files", status->files);
	put_number(&json, "files_bytes", status->bytes);
	put_number(&json, "failed", status->failed);
	put_number(&json, "uploaded", status->uploads);
	put_number(&json, "uploads_failed", status->uploads_failed);
	put_cpus(cpus, now, &json);
	json_end(&json);
	json_line(&json);
}

bool status_print_json(const struct status *status, struct flight_recording *recording, struct buf *text)
{
	uint64_t now = flight_recording_now(recording);
	struct flight_recording_cpus cpus = { .nr = 0 };
	struct out out;
	bool ok;

	if (flight_recording_look(recording, &cpus, NULL))
		return false;
	ok = out_init(&out, 4096);
	if (ok) {
		put_status(status, &cpus, now, &out);
		ok = !out.failed && buf_add(text, out.start, out_len(&out));
		out_release(&out);
	}
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

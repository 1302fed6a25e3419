// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/guest/host.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/ground/base/fail.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/reader/reader.h"
#include "lib/meaning/state/vcpus.h"
#include "lib/pages/trace/trace.h"

enum { ASK_EACH = 4096 };

int guest_host_find(const struct guest_host *host, const struct trace *trace, size_t guest, size_t *ret,
		    struct fail *fail)
{
	if (!trace_find_buffer(trace, host->buffer, ret))
		return fail_set(fail, -ENOENT, "--host: '%s' has no buffer '%s'", trace_path(trace), host->buffer);
	if (*ret == guest)
		return fail_set(fail, -EINVAL, "--host: '%s' is the guest itself: choose the guest with -B",
				host->buffer);
	return 0;
}

int guest_find(const struct guest_host *host, const struct trace *trace, const char *name, size_t *ret,
	       struct fail *fail)
{
	size_t of_host = SIZE_MAX, found = 0;
	int r = guest_host_find(host, trace, SIZE_MAX, &of_host, fail);

	if (r)
		return r;
	if (name) {
		if (!trace_find_buffer(trace, name, ret))
			return fail_set(fail, -ENOENT, "'%s' has no buffer '%s'", trace_path(trace), name);
		return guest_host_find(host, trace, *ret, &of_host, fail);
	}
	for (size_t i = 0; i < trace_buffers(trace); i++) {
		const struct trace_buffer *buffer = trace_buffer(trace, i);

		if (i == of_host || own_buffer(buffer->name.text) || !buffer->nr_cpus)
			continue;
		*ret = i;
		found++;
	}
	return found == 1 ? 0 : fail_set(fail, -EINVAL, "--host: choose the guest with -B");
}

struct guest_host_reading {
	struct reader reader;
	struct vcpus *vcpus;
	bool (*stops)(void *arg);
	void *arg;
	unsigned count;
	bool known;
};

static void see(void *arg, const struct event *event)
{
	struct guest_host_reading *reading = arg;

	vcpus_see(reading->vcpus, event);
	if (++reading->count % ASK_EACH == 0 && reading->stops && reading->stops(reading->arg))
		reader_stop(&reading->reader);
}

static int open_host(struct guest_host_reading *reading, const struct guest_host *host, const struct context *guest,
		     struct fail *fail)
{
	struct vcpus_options options = { .threads = host->threads, .nr_threads = host->nr_threads };
	const struct context *context;
	size_t buffer;
	int r = guest_host_find(host, guest->trace, guest->buffer, &buffer, fail);

	if (!r)
		r = reader_add(&reading->reader, guest->trace, buffer, fail);
	if (r)
		return r;
	context = reading->reader.buffers[0].context;
	options.exact = context->compared && guest->compared;
	options.error_ns = options.exact ? context->clock_error_ns + guest->clock_error_ns : 0;
	r = vcpus_new(&options, context, &reading->vcpus, fail);
	return r ? r : reader_start(&reading->reader, &(struct reader_options){ .tells_ends = true }, fail);
}

int guest_host_begin(const struct guest_host *host, const struct context *guest, struct guest_host_reading **ret,
		     struct fail *fail)
{
	struct guest_host_reading *reading = calloc(1, sizeof(*reading));
	int r;

	if (!reading)
		return fail_memory(fail);
	reader_init(&reading->reader);
	r = open_host(reading, host, guest, fail);
	if (r)
		guest_host_end(reading);
	else
		*ret = reading;
	return r;
}

int guest_host_run(struct guest_host_reading *reading, bool (*stops)(void *arg), void *arg, struct fail *fail)
{
	int r;

	reading->stops = stops;
	reading->arg = arg;
	r = reader_run(&reading->reader, &(struct reader_consumer){ see, reading }, 1, fail);
	if (!r)
		r = vcpus_end(reading->vcpus, fail);
	reading->known = !r;
	return r == -ENOENT || r == -EEXIST ? fail_hint(fail, r, "; --vcpus tells them") : r;
}

const struct vcpus *guest_host_vcpus(const struct guest_host_reading *reading)
{
	return reading && reading->known ? reading->vcpus : NULL;
}

void guest_host_end(struct guest_host_reading *reading)
{
	if (!reading)
		return;
	reader_release(&reading->reader);
	vcpus_free(reading->vcpus);
	free(reading);
}

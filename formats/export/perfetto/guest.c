// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A guest beside its host. Below the track of each thread of the host that is a CPU of the guest are three others: the
 * guest's tasks, and inside their slices the times in which the thread did not run; what the thread did; and the times
 * of which the clocks do not say which side of a change they belong to. What it did is lib/meaning/state/vcpus.h's.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "formats/export/perfetto/perfetto_internal.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/state/state.h"
#include "lib/meaning/state/vcpus.h"
#include "lib/meaning/timeline/timeline.h"

enum { NAME = 96 };

static struct perfetto_buffer *host_of(const struct perfetto *perfetto)
{
	return &perfetto->buffers[perfetto->guest->host];
}

static void put(struct perfetto *perfetto, uint32_t cpu, unsigned what, unsigned type, uint64_t ts, const char *name)
{
	struct perfetto_buffer *host = host_of(perfetto);

	perfetto_put_track_event(perfetto, perfetto_machine_of(host, FAMILY_CALLS),
				 perfetto_track_uuid(host, cpu, what), type, ts, name, name ? strlen(name) : 0);
}

/* Describes the tracks of a CPU. False: its thread is not known. */
static bool describe(struct perfetto *perfetto, uint32_t cpu)
{
	static const struct {
		unsigned what;
		const char *name;
	} tracks[] = { { TRACK_GUEST_TASKS, "tasks of the guest" },
		       { TRACK_VCPU, "what the thread did" },
		       { TRACK_UNSURE, "unsure" } };
	struct perfetto_buffer *host = host_of(perfetto);
	const struct perfetto_machine *machine = perfetto_machine_of(host, FAMILY_CALLS);
	const char *guest = perfetto->buffers[perfetto->guest->guest].context->recording;
	int32_t pid = vcpus_thread(perfetto->guest->vcpus, cpu);
	uint8_t *known = pid ? u64_map_add(&perfetto->guest_cpus, cpu) : NULL;
	uint64_t own = perfetto_track_uuid(host, cpu, TRACK_GUEST), parent, error;
	char name[NAME];

	(void)vcpus_error(perfetto->guest->vcpus, &error);
	if (!pid || !known) {
		if (pid)
			export_no_memory(&perfetto->export);
		return false;
	}
	if (*known)
		return true;
	*known = 1;
	parent = perfetto_task_track(perfetto, host, pid);
	snprintf(name, sizeof(name), "CPU %" PRIu32 " of %.60s", cpu, guest ? guest : "the guest");
	perfetto_describe(perfetto, machine, own, parent, name, 0);
	for (unsigned i = 0; i < array_size(tracks) && (tracks[i].what != TRACK_UNSURE || error); i++)
		perfetto_describe(perfetto, machine, perfetto_track_uuid(host, cpu, tracks[i].what), own,
				  tracks[i].name, i + 1);
	return true;
}

/* Writes what the thread did between two times as slices; `only_off`: only what the guest's kernel does not know. */
static void put_spans(struct perfetto *perfetto, uint32_t cpu, unsigned what, uint64_t from, uint64_t to, bool only_off)
{
	const struct vcpus *vcpus = perfetto->guest->vcpus;
	char text[VCPU_SPAN_NAME];

	while (from < to) {
		struct vcpu_span span = vcpus_span(vcpus, cpu, from);
		uint64_t until = span.to < to ? span.to : to;

		if (!only_off || (span.mode != VCPU_RAN && span.mode != VCPU_UNKNOWN)) {
			put(perfetto, cpu, what, SLICE_BEGIN, from, vcpu_span_name(vcpus, &span, text));
			put(perfetto, cpu, what, SLICE_END, until, NULL);
		}
		from = until;
	}
}

void perfetto_guest_run(struct perfetto *perfetto, struct perfetto_buffer *buffer, const struct timeline_slice *slice)
{
	char text[TIMELINE_NAME], name[NAME];
	const char *comm;
	size_t len;

	if (buffer->index != perfetto->guest->guest || timeline_state(buffer->timeline)->tasks[slice->task].idle ||
	    !describe(perfetto, slice->cpu))
		return;
	comm = timeline_name(buffer->timeline, slice, text, &len);
	snprintf(name, sizeof(name), "%.*s-%" PRId32, (int)(len < 64 ? len : 64), comm, slice->pid);
	put(perfetto, slice->cpu, TRACK_GUEST_TASKS, SLICE_BEGIN, slice->start, name);
	put_spans(perfetto, slice->cpu, TRACK_GUEST_TASKS, slice->start, slice->to, true);
	put(perfetto, slice->cpu, TRACK_GUEST_TASKS, SLICE_END, slice->to, NULL);
}

static void put_unsure(struct perfetto *perfetto, uint32_t cpu, uint64_t error)
{
	uint64_t from = perfetto->first, begin, end;
	char text[TEXT_HUMAN], name[NAME];

	snprintf(name, sizeof(name), "the clocks agree to +-%s", text_time(text, error));
	while (vcpus_unsure(perfetto->guest->vcpus, cpu, from, perfetto->last, &begin, &end)) {
		put(perfetto, cpu, TRACK_UNSURE, SLICE_BEGIN, begin, name);
		put(perfetto, cpu, TRACK_UNSURE, SLICE_END, end, NULL);
		from = end;
	}
}

void perfetto_guest_end(struct perfetto *perfetto)
{
	const struct vcpus *vcpus = perfetto->guest->vcpus;
	uint64_t error;
	bool exact = vcpus_error(vcpus, &error);

	for (uint32_t cpu = 0; cpu < vcpus_count(vcpus); cpu++) {
		if (!describe(perfetto, cpu))
			continue;
		put_spans(perfetto, cpu, TRACK_VCPU, perfetto->first, perfetto->last, false);
		put_unsure(perfetto, cpu, error);
	}
	if (!exact)
		export_note(
			&perfetto->export,
			"nobody knows how exactly the times of host and guest agree, so what the guest's CPUs did may "
			"be shown as much too early or too late");
	if (!vcpus_have_exits(vcpus))
		export_note(&perfetto->export,
			    "without kvm_entry and kvm_exit, exits are part of what the guest's CPUs ran, and those "
			    "whose thread sleeps are halted");
}

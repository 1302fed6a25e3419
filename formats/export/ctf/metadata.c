// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/ctf/ctf_internal.h"
#include "formats/export/ctf/kind_internal.h"
#include "lib/base/xxh64.h"
#include "lib/event/context.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NS_PER_S = 1000000000, CLOCK_NAME = 40 };

#define U32 "integer { size = 32; align = 8; signed = false; "
#define U64 "integer { size = 64; align = 8; signed = false; "

static void put_trace(const struct context *context, struct out *out)
{
	out_f(out, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = %s;\n",
	      context->abi.big_endian ? "be" : "le");
	out_str(out,
		"\tpacket.header := struct {\n\t\t" U32 "base = 16; } magic;\n\t\t" U32 "} stream_id;\n\t};\n};\n");
}

static void put_fact(struct out *out, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	out_f(out, "\t%s = ", key);
	ctf_string(out, value);
	out_str(out, ";\n");
}

/* Written as perf does: Trace Compass then looks for the kernel's own names of events and fields. */
static void put_environment(const struct context *context, struct out *out)
{
	out_str(out, "\nenv {\n\tdomain = \"kernel\";\n\ttracer_name = \"perf\";\n\tsysname = \"Linux\";\n");
	put_fact(out, "release", context->release);
	put_fact(out, "machine", context->machine);
	put_fact(out, "clock", context->clock);
	put_fact(out, "tracer", context->tracer);
	put_fact(out, "instance", context->instance);
	out_str(out, "\texporter = \"weft\";\n};\n");
}

static void clock_name(const struct context *context, char into[CLOCK_NAME])
{
	snprintf(into, CLOCK_NAME, "trace_%.30s", context->clock ? context->clock : "clock");
	for (char *at = into; *at; at++)
		if (!isalnum((unsigned char)*at))
			*at = '_';
}

static uint64_t frequency(const struct context *context)
{
	if (context->unit == CLOCK_UNIT_COUNT && context->clock && !strcmp(context->clock, "uptime") && context->hz)
		return context->hz;
	return NS_PER_S;
}

/* Without a date, readers compare only times of one clock: so all instances of a file have the same clock. */
static void put_clock_uuid(const struct ctf *ctf, const char *name, struct out *out)
{
	uint64_t first = ctf->first;
	uint64_t high = xxh64(name, strlen(name)), low = xxh64(&first, sizeof(first));

	out_f(out, "\tuuid = \"%08x-%04x-4%03x-8%03x-%012" PRIx64 "\";\n", (uint32_t)(high >> 32),
	      (uint32_t)(high >> 16) & 0xffff, (uint32_t)high & 0xfff, (uint32_t)(low >> 48) & 0xfff,
	      low & 0xffffffffffff);
}

static void put_clock(const struct ctf *ctf, const struct context *context, const char *name, struct out *out)
{
	bool date = ctf->has_date && context->unit == CLOCK_UNIT_NS;
	int64_t s = ctf->date_offset / NS_PER_S, ns = ctf->date_offset % NS_PER_S;

	out_f(out, "\nclock {\n\tname = %s;\n", name);
	if (!date)
		put_clock_uuid(ctf, name, out);
	out_str(out, "\tdescription = ");
	ctf_string(out, context->clock ? context->clock : "");
	out_f(out, ";\n\tfreq = %" PRIu64 ";\n", frequency(context));
	if (date)
		out_f(out, "\toffset_s = %" PRId64 ";\n\toffset = %" PRId64 ";\n", ns < 0 ? s - 1 : s,
		      ns < 0 ? ns + NS_PER_S : ns);
	out_f(out, "\tabsolute = %s;\n};\n", date ? "TRUE" : "FALSE");
}

static void put_stream(const char *clock, struct out *out)
{
	out_str(out, "\nstream {\n\tid = 0;\n\tpacket.context := struct {\n");
	out_f(out,
	      "\t\t" U64 "map = clock.%s.value; } timestamp_begin;\n\t\t" U64
	      "map = clock.%s.value; } timestamp_end;\n",
	      clock, clock);
	out_str(out, "\t\t" U64 "} content_size;\n\t\t" U64 "} packet_size;\n\t\t" U64 "} events_discarded;\n\t\t" U32
		     "} cpu_id;\n\t};\n");
	out_str(out, "\tevent.header := struct {\n\t\tinteger { size = 16; align = 8; signed = false; } id;\n");
	out_f(out, "\t\t" U64 "map = clock.%s.value; } timestamp;\n\t};\n", clock);
	out_str(out, "\tevent.context := struct {\n\t\tstring _procname;\n\t};\n};\n");
}

void ctf_put_metadata(struct ctf *ctf, size_t buffer)
{
	const struct context *context = ctf->buffers[buffer].context;
	const struct kinds_buffer *kinds = &ctf->kinds.buffers[buffer];
	struct out *out = &ctf->metadata;
	char clock[CLOCK_NAME];

	out_clear(out);
	clock_name(context, clock);
	put_trace(context, out);
	put_environment(context, out);
	put_clock(ctf, context, clock, out);
	put_stream(clock, out);
	for (size_t i = 0; i < kinds->nr; i++)
		if (kinds->at[i])
			ctf_kind_declare(kinds->at[i], out);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/plugin/decoder_internal.h"

#include "lib/base/bytes.h"
#include "lib/base/out.h"
#include "lib/plugin/decoded.h"
#include "lib/schema/format.h"
#include "lib/uapi/arguments.h"
#include "lib/uapi/names.h"

#include <string.h>

/* The room in which the arguments of an event become text: made when an argument needs it. */
struct scratch {
	struct out out;
	bool failed; /* there was no memory for it, and the event has lost an argument */
};

struct weft_record {
	const struct decoder *decoder;
	const uint8_t *data;
	size_t len;
	struct scratch *scratch;
};

enum { ARGUMENT_TEXT = 512 }; /* room for the names of an argument of a system call */

struct weft_output {
	decoded_fn *put;
	void *arg;
};

static bool record_field(const struct weft_record *record, unsigned index, const struct field **ret,
			 struct bytes *ret_bytes)
{
	const struct decoder *decoder = record->decoder;
	const uint8_t *at;
	size_t len;

	if (index >= decoder->nr_fields || !decoder->fields[index] ||
	    !field_bytes(decoder->fields[index], decoder->abi, record->data, record->len, &at, &len))
		return false;
	*ret = decoder->fields[index];
	*ret_bytes = bytes_of(at, len, decoder->abi->swap);
	return true;
}

static uint64_t host_integer(const struct weft_record *record, unsigned index, size_t element)
{
	const struct field *field;
	struct field single;
	struct bytes bytes;

	if (!record_field(record, index, &field, &bytes) || !field->elem_size ||
	    element >= bytes.left / field->elem_size)
		return 0;
	single = (struct field){ .size = field->elem_size, .flags = field->flags & FIELD_SIGNED };
	return field_int(&single, record->decoder->abi, bytes.at + element * single.size, single.size);
}

static size_t host_count(const struct weft_record *record, unsigned index)
{
	const struct field *field;
	struct bytes bytes;

	if (!record_field(record, index, &field, &bytes) || !field->elem_size)
		return 0;
	return bytes.left / field->elem_size;
}

static const void *host_bytes(const struct weft_record *record, unsigned index, size_t *ret_len)
{
	const struct field *field;
	struct bytes bytes;

	if (!record_field(record, index, &field, &bytes))
		return NULL;
	*ret_len = bytes.left;
	return bytes.at;
}

static const char *host_machine(const struct weft_record *record)
{
	return record->decoder->machine;
}

static const char *host_system_call(const struct weft_record *record, int64_t number)
{
	return system_call_name(record->decoder->machine, number);
}

static const char *host_error(const struct weft_record *record, int64_t error)
{
	return error_name(record->decoder->machine, error);
}

static size_t host_argument(const struct weft_record *record, const char *call, const char *argument, uint64_t value,
			    char *text, size_t size)
{
	struct scratch *scratch = record->scratch;
	struct out *out = &scratch->out;

	if (!out->start && !out_init(out, ARGUMENT_TEXT)) {
		scratch->failed = true;
		return 0;
	}
	out_clear(out);
	if (!argument_put(record->decoder->machine, call, argument, value, out))
		return 0;
	scratch->failed |= out->failed;
	if (out->failed || out_len(out) > size)
		return 0;
	memcpy(text, out->start, out_len(out));
	return out_len(out);
}

static void host_put_text(struct weft_output *output, const char *name, const char *text, size_t len)
{
	output->put(output->arg, &(struct decoded){ .name = name, .kind = DECODED_TEXT, .text = text, .len = len });
}

static void host_put_integer(struct weft_output *output, const char *name, int64_t value)
{
	output->put(output->arg, &(struct decoded){ .name = name, .kind = DECODED_INTEGER, .value = (uint64_t)value });
}

static void host_put_hex(struct weft_output *output, const char *name, uint64_t value)
{
	output->put(output->arg, &(struct decoded){ .name = name, .kind = DECODED_HEX, .value = value });
}

static const char call_prefix[] = "sys_enter_";

/* The name of the system call; NULL: the event is not its beginning. */
static const char *call_of(const struct format *format)
{
	size_t len = strlen(call_prefix);

	return strncmp(format->name, call_prefix, len) ? NULL : format->name + len;
}

/*
 * Returns the next argument that is a number, from index *at on, and steps behind it. NULL after the last, and if the
 * event has none.
 */
static const struct field *next_argument(const struct format *format, size_t *at)
{
	if (!*at)
		while (*at < format->nr_fields && strcmp(format->fields[(*at)++].name, "__syscall_nr"))
			;
	while (call_of(format) && *at < format->nr_fields) {
		const struct field *field = &format->fields[(*at)++];

		if (!(field->flags & (FIELD_DYNAMIC | FIELD_ARRAY | FIELD_POINTER)))
			return field;
	}
	return NULL;
}

/* The arguments follow __syscall_nr; in kernel 6.18 and later data of user space follows them (trace_syscalls.c). */
static void host_put_arguments(const struct weft_record *record, struct weft_output *output)
{
	const struct format *format = record->decoder->format;
	char text[ARGUMENT_TEXT];
	size_t at = 0;

	for (const struct field *field; (field = next_argument(format, &at));) {
		size_t len = host_argument(record, call_of(format), field->name,
					   field_int(field, record->decoder->abi, record->data, record->len), text,
					   sizeof(text));

		/* A mode or flags of 0 say nothing. */
		if (len && !(len == 1 && *text == '0'))
			host_put_text(output, field->name, text, len);
	}
}

static const struct weft_host host = {
	.size = sizeof(host),
	.integer = host_integer,
	.count = host_count,
	.bytes = host_bytes,
	.machine = host_machine,
	.put_text = host_put_text,
	.put_integer = host_put_integer,
	.put_hex = host_put_hex,
	.system_call = host_system_call,
	.error = host_error,
	.argument = host_argument,
	.put_arguments = host_put_arguments,
};

bool decoder_each(const struct decoder *decoder, const uint8_t *data, size_t len, decoded_fn *fn, void *arg)
{
	struct scratch scratch = { .failed = false };
	struct weft_record record = { .decoder = decoder, .data = data, .len = len, .scratch = &scratch };
	struct weft_output output = { .put = fn, .arg = arg };

	decoder->handler->format(&host, &record, &output);
	out_release(&scratch.out);
	return !scratch.failed;
}

static bool is_for(const struct weft_handler *handler, const char *event)
{
	size_t len = strlen(handler->event);

	if (len && handler->event[len - 1] == '*')
		return !strncmp(handler->event, event, len - 1);
	return !strcmp(handler->event, event);
}

static void add_name(struct decoder *decoder, const char *name, bool is_number)
{
	if (decoder->nr_names < DECODER_NAMES && !decoder_find(decoder, name))
		decoder->names[decoder->nr_names++] = (struct decoded_name){ .name = name, .is_number = is_number };
}

static void add_names(struct decoder *decoder, const char *const *facts)
{
	for (; facts && *facts; facts++) {
		bool is_number = **facts == '#';
		const struct field *field;
		size_t at = 0;

		if (strcmp(*facts, "*"))
			add_name(decoder, *facts + is_number, is_number);
		else
			while ((field = next_argument(decoder->format, &at)))
				if (argument_known(decoder->machine, call_of(decoder->format), field->name))
					add_name(decoder, field->name, false);
	}
}

const struct decoded_name *decoder_name(const struct decoder *decoder, size_t index)
{
	return index < decoder->nr_names ? &decoder->names[index] : NULL;
}

const struct decoded_name *decoder_find(const struct decoder *decoder, const char *name)
{
	for (size_t i = 0; i < decoder->nr_names; i++)
		if (!strcmp(decoder->names[i].name, name))
			return &decoder->names[i];
	return NULL;
}

bool decoder_bind(const struct weft_handler *handler, const char *const *facts, const struct format *format,
		  const struct schema_abi *abi, const char *machine, struct decoder *ret)
{
	struct decoder decoder = { .handler = handler, .format = format, .abi = abi, .machine = machine };

	if (!is_for(handler, format->name))
		return false;
	for (const char *const *name = handler->fields; name && *name; name++) {
		bool optional = **name == '?';
		const struct field *field = format_field(format, *name + optional);

		if (decoder.nr_fields == DECODER_FIELDS || (!field && !optional))
			return false;
		decoder.fields[decoder.nr_fields++] = field;
	}
	add_names(&decoder, facts);
	*ret = decoder;
	return true;
}

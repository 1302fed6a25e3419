// SPDX-License-Identifier: GPL-2.0-only
#include "lib/plugin/decoder.h"

#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/out.h"
#include "lib/plugin/plugins.h"
#include "lib/schema/format.h"
#include "lib/uapi/names.h"

#include <string.h>

struct weft_record {
	const struct decoder *decoder;
	const uint8_t *data;
	size_t len;
};

struct weft_output {
	struct out *out;
	bool json;
	bool any;
};

static bool record_field(const struct weft_record *record, unsigned index, const struct field **ret, struct bytes *ret_bytes)
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
	struct bytes bytes;
	bool is_signed;

	if (!record_field(record, index, &field, &bytes) || !field->elem_size ||
	    element >= bytes.left / field->elem_size)
		return 0;
	bytes.at += element * field->elem_size;
	is_signed = field->flags & FIELD_SIGNED;
	switch (field->elem_size) {
	case 1:
		return is_signed ? (uint64_t)(int64_t)(int8_t)*bytes.at : *bytes.at;
	case 2:
		return is_signed ? (uint64_t)(int64_t)(int16_t)load_u16(bytes.at, bytes.swap) :
				   load_u16(bytes.at, bytes.swap);
	case 4:
		return is_signed ? (uint64_t)(int64_t)(int32_t)load_u32(bytes.at, bytes.swap) :
				   load_u32(bytes.at, bytes.swap);
	case 8:
		return load_u64(bytes.at, bytes.swap);
	}
	return 0;
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

static void put_name(struct weft_output *output, const char *name)
{
	bool first = !output->any;

	output->any = true;
	if (output->json) {
		out_str(output->out, first ? ",\"decoded\":{" : ",");
		json_text(output->out, name);
		out_char(output->out, ':');
		return;
	}
	out_str(output->out, first ? " {" : " ");
	out_str(output->out, name);
	out_char(output->out, '=');
}

static void host_put_text(struct weft_output *output, const char *name, const char *text, size_t len)
{
	put_name(output, name);
	if (output->json) {
		json_string(output->out, text, len);
		return;
	}
	/* The bytes may come from the file: one event stays one line. */
	for (size_t i = 0; i < len; i++)
		out_char(output->out, (unsigned char)text[i] < ' ' ? '?' : text[i]);
}

static void host_put_integer(struct weft_output *output, const char *name, int64_t value)
{
	put_name(output, name);
	out_s64(output->out, value);
}

static void host_put_hex(struct weft_output *output, const char *name, uint64_t value)
{
	put_name(output, name);
	if (output->json) {
		out_u64(output->out, value);
		return;
	}
	out_str(output->out, "0x");
	out_hex(output->out, value);
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
};

static void run(const struct decoder *decoder, const uint8_t *data, size_t len, bool json, struct out *out)
{
	struct weft_record record = { .decoder = decoder, .data = data, .len = len };
	struct weft_output output = { .out = out, .json = json };

	decoder->handler->format(&host, &record, &output);
	if (output.any)
		out_char(out, '}');
}

void decoder_run(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out)
{
	run(decoder, data, len, false, out);
}

void decoder_run_json(const struct decoder *decoder, const uint8_t *data, size_t len, struct out *out)
{
	run(decoder, data, len, true, out);
}

static bool is_for(const struct weft_handler *handler, const char *event)
{
	size_t len = strlen(handler->event);

	if (len && handler->event[len - 1] == '*')
		return !strncmp(handler->event, event, len - 1);
	return !strcmp(handler->event, event);
}

bool decoder_bind(const struct weft_handler *handler, const struct format *format, const struct schema_abi *abi,
		  const char *machine, struct decoder *ret)
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
	*ret = decoder;
	return true;
}

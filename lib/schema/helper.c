// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/schema/helper_internal.h"

#include "lib/base/out.h"
#include "lib/schema/arena_internal.h"
#include "lib/schema/format.h"
#include "lib/schema/make_internal.h"
#include "lib/schema/token_internal.h"

static const struct helper helpers[] = {
	{ "scsi_trace_parse_cdb", "pmn", text_scsi_cdb },
	{ "libata_trace_parse_status", "pn", text_ata_status },
	{ "libata_trace_parse_host_stat", "pn", text_ata_host_stat },
	{ "libata_trace_parse_eh_action", "pn", text_ata_eh_action },
	{ "libata_trace_parse_eh_err_mask", "pn", text_ata_eh_err_mask },
	{ "libata_trace_parse_qc_flags", "pn", text_ata_qc_flags },
	{ "libata_trace_parse_tf_flags", "pn", text_ata_tf_flags },
	{ "libata_trace_parse_subcmd", "pnnn", text_ata_subcmd },
	{ "cper_severity_str", "n", text_cper_severity },
	{ "cper_mem_err_type_str", "n", text_cper_mem_type },
	{ "cper_mem_err_unpack", "pm", text_cper_mem },
	{ "xen_hypercall_name", "n", text_xen_hypercall },
	{ "decode_prq_descriptor", "mnnnnn", text_prq_descriptor },
	{ "__trace_print_untrusted_str", "pmn", text_untrusted },
	{ "nvme_trace_disk_name", "pm", text_nvme_disk },
	{ "nvmet_trace_disk_name", "pm", text_nvme_disk },
	{ "nvmet_trace_ctrl_id", "pn", text_nvmet_controller },
};

const struct helper *helper_find(const struct token *name)
{
	for (size_t i = 0; i < array_size(helpers); i++)
		if (token_named(name, helpers[i].name))
			return &helpers[i];
	return NULL;
}

static const struct expr *parse_argument(struct expr_parser *parser, char what)
{
	const struct expr *value = parse_assignment(parser);

	if (value && what == 'm' && !expr_is_place(value))
		return make_fail(parser, "it prints memory outside the record");
	if (value && what == 'n' && (expr_is_place(value) || expr_is_text(value)))
		return make_fail(parser, "it calls a function with an argument that is not a number");
	return value;
}

const struct expr *parse_helper(struct expr_parser *parser, const struct helper *helper)
{
	struct expr *expr = make_node(parser, EXPR_HELPER, (struct ctype){ .size = 1, .stars = 1 });
	const struct expr **args = arena_array(parser->arena, EXPR_ARGS_MAX, sizeof(*args));
	size_t count = 0;

	if (!expr || !args)
		return NULL;
	for (const char *what = helper->takes; *what; what++) {
		if (what != helper->takes && !parse_mark(parser, ','))
			return NULL;
		if (*what == 'p') {
			tokens_next(parser->tokens);
			continue;
		}
		args[count] = parse_argument(parser, *what);
		if (!args[count++])
			return NULL;
	}
	expr->args = args;
	/* Kernels before 6.11 do not know this command. */
	expr->value = strstr(parser->format->print_fmt, "WRITE_ATOMIC_16") != NULL;
	expr->helper = helper;
	return make_done(parser, expr);
}

bool helper_choice(const struct token *name, const char **ret_yes, const char **ret_no)
{
	static const struct {
		const char *name, *yes, *no;
	} choices[] = {
		{ "str_assert_deassert", "assert", "deassert" },
		{ "str_deassert_assert", "deassert", "assert" },
		{ "str_enable_disable", "enable", "disable" },
		{ "str_disable_enable", "disable", "enable" },
		{ "str_enabled_disabled", "enabled", "disabled" },
		{ "str_disabled_enabled", "disabled", "enabled" },
		{ "str_hi_lo", "hi", "lo" },
		{ "str_lo_hi", "lo", "hi" },
		{ "str_high_low", "high", "low" },
		{ "str_low_high", "low", "high" },
		{ "str_input_output", "input", "output" },
		{ "str_output_input", "output", "input" },
		{ "str_on_off", "on", "off" },
		{ "str_off_on", "off", "on" },
		{ "str_read_write", "read", "write" },
		{ "str_write_read", "write", "read" },
		{ "str_true_false", "true", "false" },
		{ "str_false_true", "false", "true" },
		{ "str_up_down", "up", "down" },
		{ "str_down_up", "down", "up" },
		{ "str_yes_no", "yes", "no" },
		{ "str_no_yes", "no", "yes" },
	};

	for (size_t i = 0; i < array_size(choices); i++) {
		if (!token_named(name, choices[i].name))
			continue;
		*ret_yes = choices[i].yes;
		*ret_no = choices[i].no;
		return true;
	}
	return false;
}

uint8_t place_byte(struct place place, size_t at)
{
	return at < place.len ? place.at[at] : 0;
}

uint64_t place_be(struct place place, size_t at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | place_byte(place, at + i);
	return value;
}

uint64_t place_number(struct place place, size_t at, size_t size, const struct run *run)
{
	uint64_t value = 0;

	if (run->abi->big_endian)
		return place_be(place, at, size);
	for (size_t i = size; i-- > 0;)
		value = value << 8 | place_byte(place, at + i);
	return value;
}

void text_bit_names(uint32_t value, const struct bit_name *names, size_t count, struct out *out)
{
	for (size_t i = 0; i < count; i++) {
		if (!(value & names[i].mask))
			continue;
		out_str(out, names[i].name);
		out_char(out, ' ');
	}
}

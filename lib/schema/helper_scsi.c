// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/cleanup.h"
#include "lib/base/out.h"
#include "lib/schema/helper_internal.h"

/*
 * drivers/scsi/scsi_trace.c: the fields of a command, in the layout that its first byte selects. Codes are those of
 * include/scsi/scsi_proto.h.
 */
struct action {
	uint16_t code;
	const char *name;
};

static void put_number(struct out *out, const char *before, uint64_t value)
{
	out_str(out, before);
	out_u64(out, value);
}

/* Prints the name of the command's service action; false, and UNKNOWN printed, when there is none. */
static bool put_action(struct out *out, unsigned code, const struct action *actions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (actions[i].code != code)
			continue;
		out_str(out, actions[i].name);
		return true;
	}
	out_str(out, "UNKNOWN");
	return false;
}

static void put_rw6(struct place cdb, struct out *out)
{
	put_number(out, "lba=", place_be(cdb, 1, 3) & 0x1fffff);
	put_number(out, " txlen=", place_byte(cdb, 4) ? place_byte(cdb, 4) : 256);
}

/* READ, WRITE, VERIFY and WRITE SAME of 10, 12 and 16 bytes. */
static void put_rw(struct place cdb, size_t lba_size, size_t txlen_at, size_t txlen_size, struct out *out)
{
	put_number(out, "lba=", place_be(cdb, 2, lba_size));
	put_number(out, " txlen=", place_be(cdb, txlen_at, txlen_size));
	put_number(out, " protect=", place_byte(cdb, 1) >> 5);
	if (place_byte(cdb, 0) == 0x41 || place_byte(cdb, 0) == 0x93)
		put_number(out, " unmap=", place_byte(cdb, 1) >> 3 & 1);
}

static void put_varlen(struct place cdb, struct out *out)
{
	static const struct action actions[] = {
		{ 9, "READ_32" }, { 10, "VERIFY_32" }, { 11, "WRITE_32" }, { 13, "WRITE_SAME_32" }
	};
	unsigned code = (unsigned)place_be(cdb, 8, 2);

	if (code != 9 && code != 10 && code != 11 && code != 13) {
		out_char(out, '-');
		return;
	}
	put_action(out, code, actions, array_size(actions));
	put_number(out, " lba=", place_be(cdb, 12, 8));
	put_number(out, " txlen=", place_be(cdb, 28, 4));
	put_number(out, " protect=", place_byte(cdb, 10) >> 5);
	put_number(out, " ei_lbrt=", place_be(cdb, 20, 4));
	if (code == 13)
		put_number(out, " unmap=", place_byte(cdb, 10) >> 3 & 1);
}

static void put_service_action_in(struct place cdb, struct out *out)
{
	static const struct action actions[] = { { 0x10, "READ_CAPACITY_16" }, { 0x12, "GET_LBA_STATUS" } };

	if (!put_action(out, place_byte(cdb, 1) & 0x1f, actions, array_size(actions)))
		return;
	put_number(out, " lba=", place_be(cdb, 2, 8));
	put_number(out, " alloc_len=", place_be(cdb, 10, 4));
}

static void put_maintenance(struct place cdb, bool in, struct out *out)
{
	static const struct action ins[] = {
		{ 0x05, "REPORT_IDENTIFYING_INFORMATION" },
		{ 0x0a, "REPORT_TARGET_PORT_GROUPS" },
		{ 0x0b, "REPORT_ALIASES" },
		{ 0x0c, "REPORT_SUPPORTED_OPERATION_CODES" },
		{ 0x0d, "REPORT_SUPPORTED_TASK_MANAGEMENT_FUNCTIONS" },
		{ 0x0e, "REPORT_PRIORITY" },
		{ 0x0f, "REPORT_TIMESTAMP" },
		{ 0x10, "MANAGEMENT_PROTOCOL_IN" },
	};
	static const struct action outs[] = {
		{ 0x06, "SET_IDENTIFYING_INFORMATION" },
		{ 0x0a, "SET_TARGET_PORT_GROUPS" },
		{ 0x0b, "CHANGE_ALIASES" },
		{ 0x0e, "SET_PRIORITY" },
		{ 0x0f, "SET_TIMESTAMP" },
		{ 0x10, "MANAGEMENT_PROTOCOL_OUT" },
	};
	unsigned code = place_byte(cdb, 1) & 0x1f;

	if (put_action(out, code, in ? ins : outs, in ? array_size(ins) : array_size(outs)))
		put_number(out, " alloc_len=", place_be(cdb, 6, 4));
}

static void put_zbc_in(struct place cdb, struct out *out)
{
	static const struct action actions[] = { { 0, "REPORT_ZONES" } };

	if (!put_action(out, place_byte(cdb, 1) & 0x1f, actions, array_size(actions)))
		return;
	put_number(out, " zone=", place_be(cdb, 2, 8));
	put_number(out, " alloc_len=", place_be(cdb, 10, 4));
	put_number(out, " options=", place_byte(cdb, 14) & 0x3f);
	put_number(out, " partial=", place_byte(cdb, 14) >> 7);
}

static void put_zbc_out(struct place cdb, struct out *out)
{
	static const struct action actions[] = {
		{ 1, "CLOSE_ZONE" },
		{ 2, "FINISH_ZONE" },
		{ 3, "OPEN_ZONE" },
		{ 4, "RESET_WRITE_POINTER" },
	};

	if (!put_action(out, place_byte(cdb, 1) & 0x1f, actions, array_size(actions)))
		return;
	put_number(out, " zone=", place_be(cdb, 2, 8));
	put_number(out, " all=", place_byte(cdb, 14) & 1);
}

/* Only for kernels whose table of commands has it: 6.11 and later. */
static void put_write_atomic(struct place cdb, struct out *out)
{
	put_number(out, "lba=", place_be(cdb, 2, 8));
	put_number(out, " txlen=", place_be(cdb, 12, 2));
	put_number(out, " boundary_size=", place_be(cdb, 10, 2));
}

void text_scsi_cdb(const struct expr *expr, const struct run *run, struct out *out)
{
	struct place cdb = expr_place(expr->args[0], run);

	switch (place_byte(cdb, 0)) {
	case 0x08:
	case 0x0a:
		return put_rw6(cdb, out);
	case 0x28:
	case 0x2a:
	case 0x2f:
	case 0x41:
		return put_rw(cdb, 4, 7, 2, out);
	case 0xa8:
	case 0xaa:
	case 0xaf:
		return put_rw(cdb, 4, 6, 4, out);
	case 0x88:
	case 0x8a:
	case 0x8f:
	case 0x93:
		return put_rw(cdb, 8, 10, 4, out);
	case 0x42:
		return put_number(out, "regions=", ((uint32_t)place_be(cdb, 7, 2) - 8) / 16);
	case 0x9e:
		return put_service_action_in(cdb, out);
	case 0x7f:
		return put_varlen(cdb, out);
	case 0xa3:
	case 0xa4:
		return put_maintenance(cdb, place_byte(cdb, 0) == 0xa3, out);
	case 0x95:
		return put_zbc_in(cdb, out);
	case 0x94:
		return put_zbc_out(cdb, out);
	case 0x9c:
		if (expr->value)
			return put_write_atomic(cdb, out);
		break;
	default:
		break;
	}
	out_char(out, '-');
}

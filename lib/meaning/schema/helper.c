// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/schema/helper_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/digits.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/schema/arena_internal.h"
#include "lib/meaning/schema/format.h"
#include "lib/meaning/schema/make_internal.h"
#include "lib/meaning/schema/token_internal.h"

/* The name of a bit of a value, printed with a blank after it. */
struct bit_name {
	uint32_t mask;
	const char *name;
};

static void text_bit_names(uint32_t value, const struct bit_name *names, size_t count, struct out *out)
{
	for (size_t i = 0; i < count; i++) {
		if (!(value & names[i].mask))
			continue;
		out_str(out, names[i].name);
		out_char(out, ' ');
	}
}

/*
 * A byte at a place; bytes beyond the end of the record are 0. `be`: big-endian, as in the kernel's
 * get_unaligned_be*().
 */
static uint8_t place_byte(struct place place, size_t at)
{
	return at < place.len ? place.at[at] : 0;
}

static uint64_t place_be(struct place place, size_t at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value = value << 8 | place_byte(place, at + i);
	return value;
}

/* A number in the byte order of the traced kernel. */
static uint64_t place_number(struct place place, size_t at, size_t size, const struct run *run)
{
	uint64_t value = 0;

	if (run->abi->big_endian)
		return place_be(place, at, size);
	for (size_t i = size; i-- > 0;)
		value = value << 8 | place_byte(place, at + i);
	return value;
}

/* drivers/ata/libata-trace.c. Bits are from include/linux/ata.h and include/linux/libata.h. */
static void put_set(uint32_t value, const struct bit_name *names, size_t count, struct out *out)
{
	out_str(out, "{ ");
	text_bit_names(value, names, count, out);
	out_char(out, '}');
}

/* Prints the value, and the names of its bits if any is known. */
static void put_value_and_set(uint32_t value, const struct bit_name *names, size_t count, struct out *out)
{
	out_need(out, DIGITS_MAX);
	out->at = digits_put_hex(out->at, value);
	if (value)
		put_set(value, names, count, out);
}

static uint32_t argument(const struct expr *expr, const struct run *run)
{
	return (uint32_t)expr_number(expr->args[0], run);
}

static void text_ata_status(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 0x80, "BUSY" }, { 0x40, "DRDY" }, { 0x20, "DF" }, { 0x10, "DSC" },
		{ 8, "DRQ" },     { 4, "CORR" },    { 2, "SENSE" }, { 1, "ERR" },
	};

	put_set(argument(expr, run), names, array_size(names), out);
}

static void text_ata_host_stat(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = { { 4, "INTR" }, { 2, "ERR" }, { 1, "ACTIVE" } };

	put_set(argument(expr, run), names, array_size(names), out);
}

static void text_ata_eh_action(const struct expr *expr, const struct run *run, struct out *out)
{
	/* Both kinds of reset have one name. */
	static const struct bit_name names[] = {
		{ 1, "REVALIDATE" }, { 6, "RESET" }, { 8, "ENABLE_LINK" }, { 0x20, "PARK" }
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

static void text_ata_eh_err_mask(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 1, "DEV" },        { 2, "HSM" },
		{ 4, "TIMEOUT" },    { 8, "MEDIA" },
		{ 0x10, "ATA_BUS" }, { 0x20, "HOST_BUS" },
		{ 0x40, "SYSTEM" },  { 0x80, "INVALID" },
		{ 0x100, "OTHER" },  { 0x200, "NODEV_HINT" },
		{ 0x400, "NCQ" },
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

static void text_ata_qc_flags(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 1, "ACTIVE" },
		{ 2, "DMAMAP" },
		{ 8, "IO" },
		{ 0x10, "RESULT_TF" },
		{ 0x20, "CLEAR_EXCL" },
		{ 0x40, "QUIET" },
		{ 0x80, "RETRY" },
		{ 0x10000, "FAILED" },
		{ 0x20000, "SENSE_VALID" },
		{ 0x40000, "EH_SCHEDULED" },
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

static void text_ata_tf_flags(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct bit_name names[] = {
		{ 1, "LBA48" },  { 2, "ISADDR" }, { 4, "DEV" },     { 8, "WRITE" },
		{ 0x10, "LBA" }, { 0x20, "FUA" }, { 0x40, "POLL" },
	};

	put_value_and_set(argument(expr, run), names, array_size(names), out);
}

/* (command, feature, hob_nsect): the name of the subcommand that some commands contain. */
static void text_ata_subcmd(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct {
		uint8_t command, code;
		bool of_nsect; /* the code is in hob_nsect, else in feature */
		const char *name;
	} names[] = {
		{ 0x65, 1, true, " READ_LOG_DMA_EXT" },
		{ 0x65, 2, true, " ZAC_MGMT_IN" },
		{ 0x64, 2, true, " WRITE_LOG_DMA_EXT" },
		{ 0x64, 0, true, " DATASET_MANAGEMENT" },
		{ 0x63, 0, false, " ABORT_QUEUE" },
		{ 0x63, 5, false, " SET_FEATURES" },
		{ 0x63, 6, false, " ZERO_EXT" },
		{ 0x63, 7, false, " ZAC_MGMT_OUT" },
		{ 0x4a, 0, false, " REPORT_ZONES" },
		{ 0x9f, 1, false, " CLOSE_ZONE" },
		{ 0x9f, 2, false, " FINISH_ZONE" },
		{ 0x9f, 3, false, " OPEN_ZONE" },
		{ 0x9f, 4, false, " RESET_WRITE_POINTER" },
	};
	uint8_t command = (uint8_t)argument(expr, run), feature = (uint8_t)expr_number(expr->args[1], run);
	uint8_t nsect = (uint8_t)expr_number(expr->args[2], run) & 0x5f;

	for (size_t i = 0; i < array_size(names); i++)
		if (names[i].command == command && names[i].code == (names[i].of_nsect ? nsect : feature))
			return out_str(out, names[i].name);
}

/*
 * include/trace/events/landlock.h of 7.3. The bytes that the kernel's buffer of two 4 KiB pages leaves for an untrusted
 * text.
 */
enum { UNTRUSTED_MAX = 6117 };

/* lib/string_helpers.c: string_escape_mem(), one byte with the flags that landlock gives it. */
static size_t escape(uint8_t c, char text[4])
{
	static const char plain[] = "\n\r\t\v\f\\\a\033\"", letters[] = "nrtvf\\ae\"";
	const char *special = c ? strchr(plain, c) : NULL;

	if (c >= ' ' && c < 0x7f && !strchr(" ='\"\\", c)) {
		text[0] = (char)c;
		return 1;
	}
	text[0] = '\\';
	if (special) {
		text[1] = letters[special - plain];
		return 2;
	}
	text[1] = (char)('0' + (c >> 6));
	text[2] = (char)('0' + (c >> 3 & 7));
	text[3] = (char)('0' + (c & 7));
	return 4;
}

static size_t escaped_len(struct place place)
{
	size_t len = 0;
	char text[4];

	for (size_t i = 0; i < place.len; i++)
		len += escape(place.at[i], text);
	return len;
}

/* (text, length) */
static void text_untrusted(const struct expr *expr, const struct run *run, struct out *out)
{
	static const char marker[] = "\xe2\x80\xa6";
	struct place place = expr_place(expr->args[0], run);
	uint64_t len = expr_number(expr->args[1], run);
	size_t room = UNTRUSTED_MAX - 1, size, done = 0;
	bool cut;
	char text[4];

	if (len < place.len)
		place.len = (size_t)len;
	cut = escaped_len(place) > room;
	if (cut)
		room -= sizeof(marker) - 1;
	for (size_t i = 0; i < place.len; i++) {
		size = escape(place.at[i], text);
		if (size > room - done)
			break;
		out_mem(out, text, size);
		done += size;
	}
	if (cut)
		out_mem(out, marker, sizeof(marker) - 1);
}

/* expr->a is the array, expr->b its number of elements of expr->size bytes, expr->table their names. */
void text_layers(const struct expr *expr, const struct run *run, struct out *out)
{
	struct place place = expr_place(expr->a, run);
	uint64_t count = expr_number(expr->b, run);

	out_char(out, '{');
	for (size_t at = 0; at < count && (at + 1) * expr->size <= place.len; at++) {
		uint64_t mask = place_number(place, at * expr->size, expr->size, run);
		bool first = true;

		if (at)
			out_char(out, ',');
		for (uint32_t i = 0; mask && i < expr->table->nr; i++) {
			const struct expr_entry *entry = &expr->table->entries[i];

			if ((mask & entry->value) != entry->value)
				continue;
			if (!first)
				out_char(out, '|');
			first = false;
			out_mem(out, entry->name, entry->len);
			mask &= ~entry->value;
		}
	}
	out_char(out, '}');
}

/* drivers/firmware/efi/cper.c: firmware's reports of memory errors. */
static void text_cper_severity(const struct expr *expr, const struct run *run, struct out *out)
{
	static const char *const names[] = { "recoverable", "fatal", "corrected", "info" };
	uint32_t severity = (uint32_t)expr_number(expr->args[0], run);

	out_str(out, severity < array_size(names) ? names[severity] : "unknown");
}

static void text_cper_mem_type(const struct expr *expr, const struct run *run, struct out *out)
{
	static const char *const names[] = {
		"unknown",
		"no error",
		"single-bit ECC",
		"multi-bit ECC",
		"single-symbol chipkill ECC",
		"multi-symbol chipkill ECC",
		"master abort",
		"target abort",
		"parity error",
		"watchdog timeout",
		"invalid address",
		"mirror Broken",
		"memory sparing",
		"scrub corrected error",
		"scrub uncorrected error",
		"physical memory map-out event",
	};
	uint32_t type = (uint32_t)expr_number(expr->args[0], run);

	out_str(out, type < array_size(names) ? names[type] : "unknown");
}

/* The kernel's buffer: text that does not fit is cut. */
struct location {
	char text[256];
	size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct location *location, const char *format, ...)
{
	size_t room = sizeof(location->text) - location->len;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(location->text + location->len, room, format, args);
	va_end(args);
	if (len > 0)
		location->len += (size_t)len < room ? (size_t)len : room - 1;
}

/* struct cper_mem_err_compact of include/linux/cper.h, which is packed. */
enum { CPER_VALID = 0, CPER_ROW = 18, CPER_HANDLE = 52, CPER_EXTENDED = 54 };

struct cper_field {
	uint32_t valid;
	uint8_t at, size;
	uint8_t shift;
	uint8_t mask; /* 0: the whole value */
	const char *name;
};

static const char *blank(const struct run *run)
{
	return run->abi->cper_blanks ? " " : "";
}

static void add_field(struct location *location, struct place place, const struct cper_field *field,
		      const struct run *run)
{
	uint64_t value = place_number(place, field->at, field->size, run) >> field->shift;

	if (field->mask)
		value &= field->mask;
	if (field->size == 8)
		add(location, "%s:%s0x%016llx ", field->name, blank(run), (unsigned long long)value);
	else
		add(location, "%s:%s%llu ", field->name, blank(run), (unsigned long long)value);
}

static void add_row(struct location *location, struct place place, uint32_t valid, const struct run *run)
{
	uint32_t row = (uint32_t)place_number(place, CPER_ROW, 2, run);

	if (valid & 0x40000)
		row |= (place_byte(place, CPER_EXTENDED) & 3u) << 16;
	add(location, "row:%s%u ", blank(run), row);
}

static void text_cper_mem(const struct expr *expr, const struct run *run, struct out *out)
{
	static const struct cper_field fields[] = {
		{ 0x8, 8, 2, 0, 0, "node" },
		{ 0x10, 10, 2, 0, 0, "card" },
		{ 0x20, 12, 2, 0, 0, "module" },
		{ 0x8000, 48, 2, 0, 0, "rank" },
		{ 0x40, 14, 2, 0, 0, "bank" },
		{ 0x80000, 14, 2, 8, 0, "bank_group" },
		{ 0x100000, 14, 2, 0, 0xff, "bank_address" },
		{ 0x80, 16, 2, 0, 0, "device" },
		{ 0x40100, CPER_ROW, 0, 0, 0, "row" },
		{ 0x200, 20, 2, 0, 0, "column" },
		{ 0x400, 22, 2, 0, 0, "bit_position" },
		{ 0x800, 24, 8, 0, 0, "requestor_id" },
		{ 0x1000, 32, 8, 0, 0, "responder_id" },
		{ 0x2000, 40, 8, 0, 0, "target_id" },
		{ 0x200000, CPER_EXTENDED, 1, 5, 0, "chip_id" },
	};
	struct place place = expr_place(expr->args[0], run);
	uint32_t valid = (uint32_t)place_number(place, CPER_VALID, 8, run);
	struct location location = { .len = 0 };

	for (size_t i = 0; i < array_size(fields); i++) {
		if (!(valid & fields[i].valid))
			continue;
		if (fields[i].size)
			add_field(&location, place, &fields[i], run);
		else
			add_row(&location, place, valid, run);
	}
	out_mem(out, location.text, location.len);
	/* These names are in the firmware's tables of the traced machine. */
	if (valid & 0x20000)
		out_f(out, "DIMM location: ? (DMI handle: 0x%.4x) ",
		      (unsigned)place_number(place, CPER_HANDLE, 2, run));
}

/* arch/x86/xen/trace.c, with the names that scripts/xen-hypercalls.sh takes from include/xen/interface. */
static void text_xen_hypercall(const struct expr *expr, const struct run *run, struct out *out)
{
	static const char *const names[] = {
		"set_trap_table",
		"mmu_update",
		"set_gdt",
		"stack_switch",
		"set_callbacks",
		"fpu_taskswitch",
		"sched_op_compat",
		"platform_op",
		"set_debugreg",
		"get_debugreg",
		"update_descriptor",
		NULL,
		"memory_op",
		"multicall",
		"update_va_mapping",
		"set_timer_op",
		"event_channel_op_compat",
		"xen_version",
		"console_io",
		"physdev_op_compat",
		"grant_table_op",
		"vm_assist",
		"update_va_mapping_otherdomain",
		"iret",
		"vcpu_op",
		"set_segment_base",
		"mmuext_op",
		"xsm_op",
		"nmi_op",
		"sched_op",
		"callback_op",
		"xenoprof_op",
		"event_channel_op",
		"physdev_op",
		"hvm_op",
		"sysctl",
		"domctl",
		"kexec_op",
		"tmem_op",
		"xc_reserved_op",
		"xenpmu_op",
		"dm_op",
		NULL,
		NULL,
		NULL,
		NULL,
		NULL,
		NULL,
		"mca",
		"arch_1",
		"arch_2",
		"arch_3",
		"arch_4",
		"arch_5",
		"arch_6",
		"arch_7",
	};
	uint32_t op = (uint32_t)expr_number(expr->args[0], run);

	if (op < array_size(names) && names[op])
		out_f(out, "(%s)", names[op]);
}

/* (buffer, its size, four words): drivers/iommu/intel/iommu.h, decode_prq_descriptor() */
static void text_prq_descriptor(const struct expr *expr, const struct run *run, struct out *out)
{
	uint64_t word[4], size = expr_number(expr->args[1], run);
	char text[256];
	int len;

	for (int i = 0; i < 4; i++)
		word[i] = expr_number(expr->args[2 + i], run);
	len = snprintf(text, sizeof(text), "rid=0x%llx addr=0x%llx %c%c%c%c%c pasid=0x%llx index=0x%llx",
		       (unsigned long long)(word[0] >> 16 & 0xffff), (unsigned long long)(word[1] >> 12),
		       word[1] & 1 ? 'r' : '-', word[1] & 2 ? 'w' : '-', word[0] >> 52 & 1 ? 'x' : '-',
		       word[0] >> 53 & 1 ? 'p' : '-', word[1] & 4 ? 'l' : '-',
		       (unsigned long long)(word[0] >> 32 & 0xfffff), (unsigned long long)(word[1] >> 3 & 0x1ff));
	if (word[0] >> 9 & 1 && len > 0 && (size_t)len < sizeof(text))
		snprintf(text + len, sizeof(text) - (size_t)len, " private=0x%llx/0x%llx\n",
			 (unsigned long long)word[2], (unsigned long long)word[3]);
	out_mem(out, text, strnlen(text, size && size <= sizeof(text) ? (size_t)size - 1 : sizeof(text)));
}

/* drivers/nvme/host/trace.c and target/trace.c */
static void text_nvme_disk(const struct expr *expr, const struct run *run, struct out *out)
{
	struct place name = expr_place(expr->args[0], run);

	if (!place_byte(name, 0))
		return;
	out_str(out, "disk=");
	out_mem(out, name.at, strnlen((const char *)name.at, name.len));
	out_str(out, ", ");
}

static void text_nvmet_controller(const struct expr *expr, const struct run *run, struct out *out)
{
	uint16_t id = (uint16_t)expr_number(expr->args[0], run);

	if (id)
		out_u64(out, id);
	else
		out_char(out, '_');
}

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

static void text_scsi_cdb(const struct expr *expr, const struct run *run, struct out *out)
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

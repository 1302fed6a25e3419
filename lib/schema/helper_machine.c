// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/base/cleanup.h"
#include "lib/base/out.h"
#include "lib/schema/format.h"
#include "lib/schema/helper_internal.h"
#include "lib/schema/text_internal.h"

#include <stdarg.h>
#include <stdio.h>

/* drivers/firmware/efi/cper.c: firmware's reports of memory errors. */
void text_cper_severity(const struct expr *expr, const struct run *run, struct out *out)
{
	static const char *const names[] = { "recoverable", "fatal", "corrected", "info" };
	uint32_t severity = (uint32_t)expr_number(expr->args[0], run);

	out_str(out, severity < array_size(names) ? names[severity] : "unknown");
}

void text_cper_mem_type(const struct expr *expr, const struct run *run, struct out *out)
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

void text_cper_mem(const struct expr *expr, const struct run *run, struct out *out)
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
void text_xen_hypercall(const struct expr *expr, const struct run *run, struct out *out)
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
void text_prq_descriptor(const struct expr *expr, const struct run *run, struct out *out)
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
void text_nvme_disk(const struct expr *expr, const struct run *run, struct out *out)
{
	struct place name = expr_place(expr->args[0], run);

	if (!place_byte(name, 0))
		return;
	out_str(out, "disk=");
	text_cstring(name, out);
	out_str(out, ", ");
}

void text_nvmet_controller(const struct expr *expr, const struct run *run, struct out *out)
{
	uint16_t id = (uint16_t)expr_number(expr->args[0], run);

	if (id)
		out_u64(out, id);
	else
		out_char(out, '_');
}

// SPDX-License-Identifier: LGPL-2.1-or-later
/* The texts of libtraceevent's plugins hrtimer, kmem, futex, tlb and mac80211. */
#include "formats/tracecmd/tracecmd_internal.h"

#include <string.h>

#include "lib/ground/base/bytes.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/names/symbols.h"

enum { TIMER, OLD_TIMER, NOW, FUNCTION, EXPIRES, SOFTEXPIRES };
enum { CALL_SITE };
enum { UADDR, OP, VAL, UTIME, UADDR2, VAL3 };
enum { PAGES, REASON };

static const char *const timer_fields[] = { "hrtimer", "timer", "now", "function", "expires", "softexpires", NULL };
static const char *const site_fields[] = { "call_site", NULL };
static const char *const futex_fields[] = { "uaddr", "op", "val", "utime", "uaddr2", "val3", NULL };
static const char *const tlb_fields[] = { "pages", "reason", NULL };

static uint64_t value(const struct tracecmd_binding *binding, unsigned place, const struct event *event)
{
	return place_u64(&binding->places[place], event);
}

static void put_hex(const char *before, uint64_t number, struct out *out)
{
	out_str(out, before);
	out_mem(out, "0x", 2);
	out_hex(out, number);
}

static void put_timer(const struct tracecmd_binding *binding, const struct event *event, struct out *out)
{
	put_hex("hrtimer=", value(binding, binding->places[OLD_TIMER].field ? OLD_TIMER : TIMER, event), out);
}

/* " function=name/0x0" */
static void put_handler(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			const struct event *event, struct out *out)
{
	uint64_t address = value(binding, FUNCTION, event);
	struct symbol symbol;

	if (!binding->places[FUNCTION].field)
		return;
	out_str(out, " function=");
	if (symbols_find(tracecmd->context->symbols, address, &symbol)) {
		out_mem(out, symbol.name, symbol.name_len);
		put_hex("/", symbol.address - address, out);
	} else {
		out_mem(out, "0x", 2);
		out_hex_pad(out, address, 8, '0');
	}
}

static bool text_expire(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
			const struct event *event, struct out *out)
{
	put_timer(binding, event, out);
	out_str(out, " now=");
	out_u64(out, value(binding, NOW, event));
	put_handler(tracecmd, binding, event, out);
	return true;
}

static bool text_start(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	put_timer(binding, event, out);
	put_handler(tracecmd, binding, event, out);
	out_str(out, " expires=");
	out_u64(out, value(binding, EXPIRES, event));
	out_str(out, " softexpires=");
	out_u64(out, value(binding, SOFTEXPIRES, event));
	return true;
}

/* "(function+0x12) ", before the print format's text */
static bool text_site(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		      const struct event *event, struct out *out)
{
	uint64_t address = value(binding, CALL_SITE, event);
	struct symbol symbol;

	if (!binding->places[CALL_SITE].field || !symbols_find(tracecmd->context->symbols, address, &symbol))
		return false;
	out_char(out, '(');
	out_mem(out, symbol.name, symbol.name_len);
	put_hex("+", (uint32_t)(address - symbol.address), out);
	out_mem(out, ") ", 2);
	return false;
}

/* How the arguments of an operation are printed: h hexadecimal, d decimal, - not at all: val, utime, uaddr2, val3. */
static const struct futex_op {
	const char *name, how[5];
} futex_ops[] = {
	{ "FUTEX_WAIT", "hh--" },           { "FUTEX_WAKE", "d---" },        { "FUTEX_FD", "d---" },
	{ "FUTEX_REQUEUE", "ddh-" },        { "FUTEX_CMP_REQUEUE", "ddhh" }, { "FUTEX_WAKE_OP", "ddhh" },
	{ "FUTEX_LOCK_PI", "-h--" },        { "FUTEX_UNLOCK_PI", "----" },   { "FUTEX_TRYLOCK_PI", "----" },
	{ "FUTEX_WAIT_BITSET", "hh-h" },    { "FUTEX_WAKE_BITSET", "d--h" }, { "FUTEX_WAIT_REQUEUE_PI", "hhhh" },
	{ "FUTEX_CMP_REQUEUE_PI", "ddhh" },
};

enum { FUTEX_PRIVATE = 128, FUTEX_REALTIME = 256 };

static void put_argument(const char *name, char how, uint64_t number, struct out *out)
{
	if (how == '-')
		return;
	out_char(out, ' ');
	out_str(out, name);
	if (how == 'h') {
		out_mem(out, "=0x", 3);
		out_hex_pad(out, number, 8, '0');
	} else {
		out_char(out, '=');
		out_u64(out, number);
	}
}

static bool text_futex(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	uint64_t op = value(binding, OP, event), command = op & ~(uint64_t)(FUTEX_PRIVATE | FUTEX_REALTIME);
	const struct futex_op *futex;

	(void)tracecmd;
	for (unsigned i = UADDR; i <= VAL3; i++)
		if (!binding->places[i].field)
			return false;
	if (command >= array_size(futex_ops))
		return false;
	futex = &futex_ops[command];
	out_str(out, "op=");
	out_str(out, futex->name);
	if (op & FUTEX_PRIVATE)
		out_str(out, "|FUTEX_PRIVATE_FLAG");
	if (op & FUTEX_REALTIME)
		out_str(out, "|FUTEX_CLOCK_REALTIME");
	put_argument("uaddr", 'h', value(binding, UADDR, event), out);
	put_argument("val", futex->how[0], value(binding, VAL, event), out);
	put_argument(futex->how[1] == 'd' ? "val2" : "utime", futex->how[1], value(binding, UTIME, event), out);
	put_argument("uaddr2", futex->how[2], value(binding, UADDR2, event), out);
	put_argument("val3", futex->how[3], value(binding, VAL3, event), out);
	return true;
}

static bool text_tlb(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		     struct out *out)
{
	static const char *const reasons[] = { "flush on task switch", "remote shootdown", "local shootdown",
					       "local mm shootdown" };
	uint64_t reason = value(binding, REASON, event);

	(void)tracecmd;
	out_str(out, "pages=");
	out_s64(out, (int64_t)value(binding, PAGES, event));
	out_str(out, " reason=");
	if (reason < array_size(reasons))
		out_str(out, reasons[reason]);
	out_mem(out, " (", 2);
	out_u64(out, reason);
	out_char(out, ')');
	return true;
}

/* The fields of struct blk_io_trace, and of blk_io_trace2 since 6.19: where they begin, and how large they are. */
static const struct blk_field {
	const char *name;
	uint8_t offset, size, offset_2, size_2;
} blk_fields[] = {
	{ "sector", 16, 8, 16, 8 }, { "bytes", 24, 4, 24, 4 }, { "action", 28, 4, 32, 8 }, { "pid", 32, 4, 28, 4 },
	{ "device", 36, 4, 40, 4 }, { "cpu", 40, 4, 44, 4 },   { "error", 44, 2, 48, 2 },  { "pdu_len", 46, 2, 50, 2 },
};

static uint64_t blk_value(const struct event *event, unsigned offset, unsigned size, bool swap)
{
	if (offset + size > event->len)
		return 0;
	return size == 8 ? load_u64(event->data + offset, swap) :
	       size == 4 ? load_u32(event->data + offset, swap) :
			   load_u16(event->data + offset, swap);
}

/* trace-cmd makes up a format for it: its text is the PID, that of -R the fields. */
static bool text_blk(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding, const struct event *event,
		     struct out *out)
{
	bool second = context_knows(tracecmd->context, 6, 19), swap = tracecmd->context->abi.swap;

	(void)binding;
	if (!tracecmd->options.raw) {
		out_s64(out, event->pid);
		return true;
	}
	for (size_t i = 0; i < array_size(blk_fields); i++) {
		const struct blk_field *field = &blk_fields[i];

		out_f(out, " %s=%llu", field->name,
		      (unsigned long long)blk_value(event, second ? field->offset_2 : field->offset,
						    second ? field->size_2 : field->size, swap));
	}
	out_str(out, " data=0");
	return true;
}

const struct tracecmd_text tracecmd_blk_text = { "ftrace", "blktrace", .text = text_blk };

/* clang-format off */
const struct tracecmd_text tracecmd_other_texts[] = {
	{ "timer", "hrtimer_expire_entry", .symbols = true, .fields = timer_fields, .text = text_expire },
	{ "timer", "hrtimer_start", .symbols = true, .fields = timer_fields, .text = text_start },
	{ "kmem", "kfree", .symbols = true, .fields = site_fields, .text = text_site },
	{ "kmem", "kmalloc", .symbols = true, .fields = site_fields, .text = text_site },
	{ "kmem", "kmalloc_node", .symbols = true, .fields = site_fields, .text = text_site },
	{ "kmem", "kmem_cache_alloc", .symbols = true, .fields = site_fields, .text = text_site },
	{ "kmem", "kmem_cache_alloc_node", .symbols = true, .fields = site_fields, .text = text_site },
	{ "kmem", "kmem_cache_free", .symbols = true, .fields = site_fields, .text = text_site },
	{ "syscalls", "sys_enter_futex", .fields = futex_fields, .text = text_futex },
	{ "tlb", "tlb_flush", .fields = tlb_fields, .text = text_tlb },
	{ 0 },
};
/* clang-format on */

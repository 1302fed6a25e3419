// SPDX-License-Identifier: LGPL-2.1-or-later
/* Mirrors kernel/trace/blktrace.c: print_one_line(), blk_trace_synthesize_old_trace(). */
#include "formats/kernel/renderers_internal.h"

#include <string.h>

#include "formats/kernel/ftrace.h"
#include "formats/kernel/raw_internal.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "lib/meaning/event/tasks.h"

/*
 * The record is a struct blk_io_trace, or blk_io_trace2 since 6.19, in the byte order of the kernel; this type has no
 * format file. The length of the payload has two bytes; the payload follows the structure.
 */
enum { SECTOR = 16, BYTES = 24, CGROUP_ID_SIZE = 8 };

struct blk_layout {
	uint8_t action, action_size, device, error, pdu_len, pdu;
};

static const struct blk_layout layout_1 = {
	.action = 28, .action_size = 4, .device = 36, .error = 44, .pdu_len = 46, .pdu = 48
};
static const struct blk_layout layout_2 = {
	.action = 32, .action_size = 8, .device = 40, .error = 48, .pdu_len = 50, .pdu = 64
};

static const struct blk_layout *layout_of_kernel(const struct ftrace *ftrace)
{
	return context_knows(ftrace->context, 6, 19) ? &layout_2 : &layout_1;
}

/* include/uapi/linux/blktrace_api.h */
enum {
	TC_WRITE = 1 << 1,
	TC_FLUSH = 1 << 2,
	TC_SYNC = 1 << 3,
	TC_PC = 1 << 9,
	TC_NOTIFY = 1 << 10,
	TC_AHEAD = 1 << 11,
	TC_META = 1 << 12,
	TC_DISCARD = 1 << 13,
	TC_FUA = 1 << 15,
	TC_WRITE_ZEROES = 1 << 22,
	TC_SHIFT = 16,
	CGROUP = 1 << 8,
	MESSAGE = 2 | TC_NOTIFY << TC_SHIFT,
};

/* A decoded entry; its payload ends after `len` bytes of `data`. */
struct blk {
	uint64_t sector;
	uint64_t action;
	uint32_t bytes, device;
	uint16_t error;
	uint64_t cgroup;
	bool has_cgroup;
	bool swap;
	const uint8_t *pdu;
	size_t pdu_len;
	struct task_name task;
};

typedef void print_fn(const struct blk *blk, struct out *out);

static bool blk_read(const struct ftrace *ftrace, const struct event *event, struct blk *ret)
{
	const struct blk_layout *layout = layout_of_kernel(ftrace);
	bool swap = ftrace->context->abi.swap;
	const uint8_t *data = event->data;
	size_t left;

	if (event->len < layout->pdu)
		return false;
	*ret = (struct blk){
		.sector = load_u64(data + SECTOR, swap),
		.bytes = load_u32(data + BYTES, swap),
		.action = layout->action_size == 8 ? load_u64(data + layout->action, swap) :
						     load_u32(data + layout->action, swap),
		.device = load_u32(data + layout->device, swap),
		.error = load_u16(data + layout->error, swap),
		.swap = swap,
		.pdu = data + layout->pdu,
		.pdu_len = load_u16(data + layout->pdu_len, swap),
		.task = task_name(ftrace->context->tasks, event->pid),
	};
	left = event->len - layout->pdu;
	if (ret->pdu_len > left)
		ret->pdu_len = left;
	ret->has_cgroup = ret->action & CGROUP && ret->pdu_len >= CGROUP_ID_SIZE;
	if (ret->has_cgroup) {
		ret->cgroup = load_u64(ret->pdu, swap);
		ret->pdu += CGROUP_ID_SIZE;
		ret->pdu_len -= CGROUP_ID_SIZE;
	}
	return true;
}

/* Numbers in the payload are big-endian on every kernel. */
static uint64_t pdu_be64(const struct blk *blk, size_t offset)
{
	if (blk->pdu_len < offset + sizeof(uint64_t))
		return 0;
	return load_u64(blk->pdu + offset, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static uint32_t pdu_be32(const struct blk *blk, size_t offset)
{
	if (blk->pdu_len < offset + sizeof(uint32_t))
		return 0;
	return load_u32(blk->pdu + offset, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

static bool is_message(const struct blk *blk)
{
	return (blk->action & ~(uint64_t)CGROUP) == MESSAGE;
}

/* fill_rwbs(), right-aligned in three characters. */
static void print_rwbs(const struct blk *blk, struct out *out)
{
	uint32_t tc = (uint32_t)(blk->action >> TC_SHIFT);
	char text[8];
	size_t len = 0;

	if (is_message(blk)) {
		out_mem(out, "  N ", 4);
		return;
	}
	if (tc & TC_FLUSH)
		text[len++] = 'F';
	text[len++] = tc & TC_DISCARD ? 'D' : tc & (TC_WRITE | TC_WRITE_ZEROES) ? 'W' : blk->bytes ? 'R' : 'N';
	if (tc & TC_WRITE_ZEROES && !(tc & TC_DISCARD))
		text[len++] = 'Z';
	if (tc & TC_FUA)
		text[len++] = 'F';
	if (tc & TC_AHEAD)
		text[len++] = 'A';
	if (tc & TC_SYNC)
		text[len++] = 'S';
	if (tc & TC_META)
		text[len++] = 'M';
	if (len < 3)
		out_fill(out, ' ', 3 - len);
	out_mem(out, text, len);
	out_char(out, ' ');
}

static void print_task(const struct blk *blk, struct out *out)
{
	out_char(out, '[');
	out_mem(out, blk->task.text, blk->task.len);
	out_char(out, ']');
}

/* blk_log_dump_pdu(): of the zeros at the end only the first is printed. */
static void print_pdu(const struct blk *blk, struct out *out)
{
	size_t end = blk->pdu_len;

	if (!blk->pdu_len)
		return;
	while (end && !blk->pdu[end - 1])
		end--;
	out_char(out, '(');
	for (size_t i = 0; i < blk->pdu_len; i++) {
		if (i)
			out_char(out, ' ');
		out_hex_pad(out, blk->pdu[i], 2, '0');
		if (i == end && end != blk->pdu_len - 1) {
			out_mem(out, " ..) ", 5);
			return;
		}
	}
	out_mem(out, ") ", 2);
}

static void print_generic(const struct blk *blk, struct out *out)
{
	if (blk->action >> TC_SHIFT & TC_PC) {
		out_u64(out, blk->bytes);
		out_char(out, ' ');
		print_pdu(blk, out);
	} else if (blk->bytes >> 9) {
		out_u64(out, blk->sector);
		out_mem(out, " + ", 3);
		out_u64(out, blk->bytes >> 9);
		out_char(out, ' ');
	}
	print_task(blk, out);
}

static void print_with_error(const struct blk *blk, struct out *out)
{
	if (blk->action >> TC_SHIFT & TC_PC) {
		print_pdu(blk, out);
	} else {
		out_u64(out, blk->sector);
		if (blk->bytes >> 9) {
			out_mem(out, " + ", 3);
			out_u64(out, blk->bytes >> 9);
		}
		out_char(out, ' ');
	}
	out_char(out, '[');
	out_u64(out, blk->error);
	out_char(out, ']');
}

static void print_device(uint32_t device, struct out *out)
{
	out_f(out, "%u,%u", device >> 20, device & 0xfffff);
}

static void print_remap(const struct blk *blk, struct out *out)
{
	out_u64(out, blk->sector);
	out_mem(out, " + ", 3);
	out_u64(out, blk->bytes >> 9);
	out_mem(out, " <- (", 5);
	print_device(pdu_be32(blk, 0), out);
	out_mem(out, ") ", 2);
	out_u64(out, pdu_be64(blk, 8));
}

static void print_unplug(const struct blk *blk, struct out *out)
{
	print_task(blk, out);
	out_char(out, ' ');
	out_u64(out, pdu_be64(blk, 0));
}

static void print_split(const struct blk *blk, struct out *out)
{
	out_u64(out, blk->sector);
	out_mem(out, " / ", 3);
	out_u64(out, pdu_be64(blk, 0));
	out_char(out, ' ');
	print_task(blk, out);
}

static void print_message(const struct blk *blk, struct out *out)
{
	out_mem(out, blk->pdu, blk->pdu_len);
}

/* what2act[] */
static const struct {
	const char *brief, *verbose;
	print_fn *print;
} actions[] = {
	[1] = { "Q", "queue", print_generic },
	[2] = { "M", "backmerge", print_generic },
	[3] = { "F", "frontmerge", print_generic },
	[4] = { "G", "getrq", print_generic },
	[5] = { "S", "sleeprq", print_generic },
	[6] = { "R", "requeue", print_with_error },
	[7] = { "D", "issue", print_generic },
	[8] = { "C", "complete", print_with_error },
	[9] = { "P", "plug", print_task },
	[10] = { "U", "unplug_io", print_unplug },
	[11] = { "UT", "unplug_timer", print_unplug },
	[12] = { "I", "insert", print_generic },
	[13] = { "X", "split", print_split },
	[14] = { "B", "bounce", print_generic },
	[15] = { "A", "remap", print_remap },
};

static void print_action(const struct ftrace *ftrace, const struct blk *blk, const char *action, struct out *out)
{
	out_f(out, "%3u,%-3u ", blk->device >> 20, blk->device & 0xfffff);
	/* Only the traced kernel knows the path of a cgroup; the kernel prints a removed cgroup like this. */
	if (blk->has_cgroup && context_option(ftrace->context, OPTION_BLK_CGNAME))
		out_str(out, "<...> ");
	else if (blk->has_cgroup)
		out_f(out, "%x,%-x ", (uint32_t)blk->cgroup, (uint32_t)(blk->cgroup >> 32));
	out_f(out, "%2s ", action);
	print_rwbs(blk, out);
}

static void print_action_classic(const struct event *event, const struct blk *blk, const char *action, struct out *out)
{
	out_f(out, "%3u,%-3u %2d %5u.%09llu %5u %2s ", blk->device >> 20, blk->device & 0xfffff, event->cpu,
	      (unsigned)(event->ts / NS_PER_S), (unsigned long long)(event->ts % NS_PER_S), (unsigned)event->pid,
	      action);
	print_rwbs(blk, out);
}

static void print_line(const struct ftrace *ftrace, const struct event *event, bool classic, struct out *out)
{
	bool verbose = ftrace_option(ftrace, OPTION_VERBOSE);
	const char *action;
	print_fn *print;
	struct blk blk;
	unsigned what;

	if (!blk_read(ftrace, event, &blk)) {
		out_str(out, "Unknown action 0\n");
		return;
	}
	what = (unsigned)blk.action & 0xffff & ~(unsigned)CGROUP;
	if (is_message(&blk)) {
		action = verbose ? "message" : "m";
		print = print_message;
	} else if (what < array_size(actions) && what) {
		action = verbose ? actions[what].verbose : actions[what].brief;
		print = actions[what].print;
	} else {
		out_f(out, "Unknown action %x\n", what);
		return;
	}
	if (classic)
		print_action_classic(event, &blk, action, out);
	else
		print_action(ftrace, &blk, action, out);
	print(&blk, out);
	out_char(out, '\n');
}

static void format(const struct ftrace *ftrace, const struct binding *binding, const struct event *event,
		   struct out *out)
{
	(void)binding;
	print_line(ftrace, event, false, out);
}

/*
 * The binary form that old blktrace programs read: the start of struct blk_io_trace is synthesized, the rest is as
 * recorded; for blk_io_trace2 as many bytes as the old structure had.
 */
static void bin(const struct ftrace *ftrace, const struct binding *binding, const struct event *event, struct out *out)
{
	enum { MAGIC = 0x65617400, VERSION = 7, OLD_SIZE = 48 };
	const struct blk_layout *layout = layout_of_kernel(ftrace);
	size_t left;

	(void)binding;
	if (event->len < layout->pdu)
		return;
	put_bin(ftrace, MAGIC | VERSION, 4, out);
	put_bin(ftrace, 0, 4, out);
	put_bin(ftrace, event->ts, 8, out);
	left = load_u16(event->data + layout->pdu_len, ftrace->context->abi.swap);
	if (left > event->len - OLD_SIZE)
		left = event->len - OLD_SIZE;
	out_mem(out, event->data + SECTOR, OLD_SIZE - SECTOR + left);
}

static bool usual(const struct ftrace *ftrace, const struct binding *binding)
{
	return !context_option(ftrace->context, OPTION_BLK_CLASSIC) || binding->renderer != &blk_renderer;
}

static bool line(const struct ftrace *ftrace, const struct event *event, struct out *out)
{
	if (usual(ftrace, ftrace_binding(ftrace, event)))
		return false;
	print_line(ftrace, event, true, out);
	return true;
}

static void header(const struct ftrace *ftrace, struct out *out)
{
	if (context_option(ftrace->context, OPTION_BLK_CLASSIC))
		out_str(out, "# DEV   CPU TIMESTAMP     PID ACT FLG\n"
			     "#  |     |     |           |   |   |\n");
}

const struct renderer blk_renderer = { .format_name = "blk", .format = format, .bin = bin };

const struct tracer blk_tracer = { .name = "blk", .header = header, .line = line, .usual = usual };

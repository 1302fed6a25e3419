// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/schema/enumerators_internal.h"
#include "lib/schema/make_internal.h"
#include "lib/schema/token_internal.h"

#include <stdio.h>

struct known_name {
	const char *name;
	uint64_t value;
};

/*
 * Names that the kernel's compiler resolved and that its print fmt shows as names (no TRACE_DEFINE_ENUM). Only those
 * whose value has been the same since 5.4; each line names the header.
 */
static const struct known_name known_names[] = {
	{ "NULL", 0 },
	{ "false", 0 },
	{ "true", 1 },
	/* linux/interrupt.h */
	{ "HI_SOFTIRQ", 0 },
	{ "TIMER_SOFTIRQ", 1 },
	{ "NET_TX_SOFTIRQ", 2 },
	{ "NET_RX_SOFTIRQ", 3 },
	{ "BLOCK_SOFTIRQ", 4 },
	{ "IRQ_POLL_SOFTIRQ", 5 },
	{ "TASKLET_SOFTIRQ", 6 },
	{ "SCHED_SOFTIRQ", 7 },
	{ "HRTIMER_SOFTIRQ", 8 },
	{ "RCU_SOFTIRQ", 9 },
	/* uapi/linux/ioprio.h */
	{ "IOPRIO_CLASS_NONE", 0 },
	{ "IOPRIO_CLASS_RT", 1 },
	{ "IOPRIO_CLASS_BE", 2 },
	{ "IOPRIO_CLASS_IDLE", 3 },
	{ "IOPRIO_CLASS_INVALID", 7 },
	/* net/tcp_states.h */
	{ "TCP_ESTABLISHED", 1 },
	{ "TCP_SYN_SENT", 2 },
	{ "TCP_SYN_RECV", 3 },
	{ "TCP_FIN_WAIT1", 4 },
	{ "TCP_FIN_WAIT2", 5 },
	{ "TCP_TIME_WAIT", 6 },
	{ "TCP_CLOSE", 7 },
	{ "TCP_CLOSE_WAIT", 8 },
	{ "TCP_LAST_ACK", 9 },
	{ "TCP_LISTEN", 10 },
	{ "TCP_CLOSING", 11 },
	{ "TCP_NEW_SYN_RECV", 12 },
	/* linux/hrtimer.h */
	{ "HRTIMER_MODE_ABS", 0 },
	{ "HRTIMER_MODE_REL", 1 },
	{ "HRTIMER_MODE_ABS_PINNED", 2 },
	{ "HRTIMER_MODE_REL_PINNED", 3 },
	{ "HRTIMER_MODE_ABS_SOFT", 4 },
	{ "HRTIMER_MODE_REL_SOFT", 5 },
	{ "HRTIMER_MODE_ABS_PINNED_SOFT", 6 },
	{ "HRTIMER_MODE_REL_PINNED_SOFT", 7 },
	{ "HRTIMER_MODE_ABS_HARD", 8 },
	{ "HRTIMER_MODE_REL_HARD", 9 },
	{ "HRTIMER_MODE_ABS_PINNED_HARD", 10 },
	{ "HRTIMER_MODE_REL_PINNED_HARD", 11 },
	/* linux/pm_qos.h */
	{ "PM_QOS_ADD_REQ", 0 },
	{ "PM_QOS_UPDATE_REQ", 1 },
	{ "PM_QOS_REMOVE_REQ", 2 },
	{ "DEV_PM_QOS_RESUME_LATENCY", 1 },
	{ "DEV_PM_QOS_FLAGS", 5 },
	/* linux/mm_types.h: enum vm_fault_reason and enum fault_flag */
	{ "VM_FAULT_OOM", 0x1 },
	{ "VM_FAULT_SIGBUS", 0x2 },
	{ "VM_FAULT_MAJOR", 0x4 },
	{ "VM_FAULT_WRITE", 0x8 },
	{ "VM_FAULT_HWPOISON", 0x10 },
	{ "VM_FAULT_HWPOISON_LARGE", 0x20 },
	{ "VM_FAULT_SIGSEGV", 0x40 },
	{ "VM_FAULT_NOPAGE", 0x100 },
	{ "VM_FAULT_LOCKED", 0x200 },
	{ "VM_FAULT_RETRY", 0x400 },
	{ "VM_FAULT_FALLBACK", 0x800 },
	{ "VM_FAULT_DONE_COW", 0x1000 },
	{ "VM_FAULT_NEEDDSYNC", 0x2000 },
	{ "VM_FAULT_COMPLETED", 0x4000 },
	{ "FAULT_FLAG_WRITE", 0x1 },
	{ "FAULT_FLAG_MKWRITE", 0x2 },
	{ "FAULT_FLAG_ALLOW_RETRY", 0x4 },
	{ "FAULT_FLAG_RETRY_NOWAIT", 0x8 },
	{ "FAULT_FLAG_KILLABLE", 0x10 },
	{ "FAULT_FLAG_TRIED", 0x20 },
	{ "FAULT_FLAG_USER", 0x40 },
	{ "FAULT_FLAG_REMOTE", 0x80 },
	{ "FAULT_FLAG_INSTRUCTION", 0x100 },
	{ "FAULT_FLAG_INTERRUPTIBLE", 0x200 },
	{ "FAULT_FLAG_VMA_LOCK", 0x1000 },
	/* linux/mmzone.h: enum vmscan_throttle_state */
	{ "VMSCAN_THROTTLE_WRITEBACK", 0 },
	{ "VMSCAN_THROTTLE_ISOLATED", 1 },
	{ "VMSCAN_THROTTLE_NOPROGRESS", 2 },
	{ "VMSCAN_THROTTLE_CONGESTED", 3 },
	/* vdso/clocksource.h */
	{ "VDSO_CLOCKMODE_NONE", 0 },
	{ "VDSO_CLOCKMODE_TSC", 1 },
	/* linux/nfs4.h, uapi/linux/in.h, linux/writeback.h, uapi/linux/nl80211.h */
	{ "NFS4_VERIFIER_SIZE", 8 },
	{ "IPPROTO_UDP", 17 },
	{ "WB_SYNC_ALL", 1 },
	{ "NL80211_BAND_2GHZ", 0 },
	/*
	 * trace/trace_events.h: the variable of the function around the print fmt, which then holds TRACE_TYPE_HANDLED
	 */
	{ "ret", 1 },
	/* linux/mm.h of 7.0 and later; VM_SHARED has always been this bit */
	{ "VMA_SHARED_BIT", 3 },
	/* fs/btrfs/delayed-ref.h */
	{ "BTRFS_ADD_DELAYED_REF", 1 },
	{ "BTRFS_DROP_DELAYED_REF", 2 },
	{ "BTRFS_ADD_DELAYED_EXTENT", 3 },
	/* ext4/extents_status.h, before TRACE_DEFINE_ENUM() gave the values to the format */
	{ "ES_WRITTEN_B", 0 },
	{ "ES_UNWRITTEN_B", 1 },
	{ "ES_DELAYED_B", 2 },
	{ "ES_HOLE_B", 3 },
	{ "ES_REFERENCED_B", 4 },
	{ "BTRFS_UPDATE_DELAYED_HEAD", 4 },
	/* trace/events/xen.h and asm/paravirt_types.h */
	{ "XEN_MC_FL_NONE", 0 },
	{ "XEN_MC_FL_BATCH", 1 },
	{ "XEN_MC_FL_ARGS", 2 },
	{ "XEN_MC_FL_CALLBACK", 3 },
	{ "XEN_MC_XE_OK", 0 },
	{ "XEN_MC_XE_BAD_OP", 1 },
	{ "XEN_MC_XE_NO_SPACE", 2 },
	{ "PARAVIRT_LAZY_NONE", 0 },
	{ "PARAVIRT_LAZY_MMU", 1 },
	{ "PARAVIRT_LAZY_CPU", 2 },
	/* linux/platform_data/cros_ec_commands.h */
	{ "EC_RES_SUCCESS", 0 },
	{ "EC_RES_INVALID_COMMAND", 1 },
	{ "EC_RES_ERROR", 2 },
	{ "EC_RES_INVALID_PARAM", 3 },
	{ "EC_RES_ACCESS_DENIED", 4 },
	{ "EC_RES_INVALID_RESPONSE", 5 },
	{ "EC_RES_INVALID_VERSION", 6 },
	{ "EC_RES_INVALID_CHECKSUM", 7 },
	{ "EC_RES_IN_PROGRESS", 8 },
	{ "EC_RES_UNAVAILABLE", 9 },
	{ "EC_RES_TIMEOUT", 10 },
	{ "EC_RES_OVERFLOW", 11 },
	{ "EC_RES_INVALID_HEADER", 12 },
	{ "EC_RES_REQUEST_TRUNCATED", 13 },
	{ "EC_RES_RESPONSE_TOO_BIG", 14 },
	{ "EC_RES_BUS_ERROR", 15 },
	{ "EC_RES_BUSY", 16 },
	{ "EC_RES_INVALID_HEADER_VERSION", 17 },
	{ "EC_RES_INVALID_HEADER_CRC", 18 },
	{ "EC_RES_INVALID_DATA_CRC", 19 },
	{ "EC_RES_DUP_UNAVAILABLE", 20 },
};

/* Symbols set by the linker: they are looked up when the program runs. */
static const char *const addresses[] = { "_stext", "_text", "_etext" };

static const struct expr *parse_address(struct expr_parser *parser, const struct token *name)
{
	struct expr *expr;

	for (size_t i = 0; i < array_size(addresses); i++) {
		if (!token_named(name, addresses[i]))
			continue;
		expr = make_node(parser, EXPR_SYMBOL_ADDRESS, (struct ctype){ .size = 1, .stars = 1 });
		if (expr)
			expr->text = addresses[i];
		return expr;
	}
	return NULL;
}

/*
 * Kernel variables that hold the address of the array of struct page, by machine: no file has their values, unless it
 * comes from a dump. They are used for %p only, so while pointers are hashed any address does, except those that stand
 * for errors.
 */
static bool parse_page_base(struct expr_parser *parser, const struct token *name, const struct expr **ret)
{
	static const char *const arrays[] = { "vmemmap", "mem_map" };
	static const char *const numbers[] = { "vmemmap_base", "memstart_addr", "kernel_map", "__pv_phys_pfn_offset",
					       "__pv_phys_offset" };
	uint64_t start = parser->abi->page_array ?: parser->abi->long_size == 8 ? 0xffffea0000000000 : 0xc0000000;
	bool known = false;

	for (size_t i = 0; i < array_size(arrays); i++)
		if (token_named(name, arrays[i]))
			known = (*ret = make_cast(parser, make_const(parser, start, parser->abi->long_size, false),
						  (struct ctype){ .size = 0, .stars = 1 }));
	for (size_t i = 0; i < array_size(numbers) && !known; i++)
		if (token_named(name, numbers[i]))
			known = (*ret = make_const(parser, i ? 0 : start, parser->abi->long_size, false));
	/* Its members are also unknown. */
	if (known && tokens_take(parser->tokens, '.'))
		tokens_next(parser->tokens);
	parser->unknown_address = parser->unknown_address || (known && !parser->abi->page_array);
	return known;
}

const struct expr *parse_known_name(struct expr_parser *parser, const struct token *name)
{
	const struct expr *address = parse_address(parser, name), *base;
	int len = (int)(name->len < 60 ? name->len : 60);
	uint64_t value;
	uint32_t known;

	if (address)
		return address;
	for (size_t i = 0; i < array_size(known_names); i++)
		if (token_named(name, known_names[i].name))
			return make_const(parser, known_names[i].value, 4, true);
	if (parse_page_base(parser, name, &base))
		return base;
	if (parser->abi->enumerator && parser->abi->enumerator(parser->abi->enumerators, name->text, name->len, &value))
		return make_const(parser, value, value <= INT32_MAX || value >= (uint64_t)INT32_MIN ? 4 : 8, true);
	if (enumerator_find(name, &known))
		return make_const(parser, known, 4, true);
	/* The time of printing, and a variable of ppc64: no trace has them. */
	if (token_named(name, "jiffies") || token_named(name, "pageblock_order")) {
		parser->unknowable = true;
		return make_const(parser, 0, parser->abi->long_size, false);
	}
	snprintf(parser->unknown, sizeof(parser->unknown), "%.*s", len, name->text);
	return make_fail(parser, "the value of '%s' is unknown", parser->unknown);
}

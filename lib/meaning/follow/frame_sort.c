// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/frame_sort.h"

#include <stdio.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/follow/stack.h"
#include "lib/meaning/names/symbols.h"

static const struct {
	const char *glob;
	enum frame_sort sort;
} sorts[] = {
	{ "trace_event_raw_event_*", FRAME_TRACING },
	{ "trace_event_buffer_*", FRAME_TRACING },
	{ "__traceiter_*", FRAME_TRACING },
	{ "__trace_event_*", FRAME_TRACING },
	{ "ftrace_*", FRAME_TRACING },
	{ "__ftrace_*", FRAME_TRACING },
	{ "perf_trace_*", FRAME_TRACING },
	{ "trace_stack*", FRAME_TRACING },
	{ "do_trace_event_raw_event_*", FRAME_TRACING },
	{ "__schedule*", FRAME_SCHEDULER },
	{ "schedule", FRAME_SCHEDULER },
	{ "schedule_*", FRAME_SCHEDULER },
	{ "preempt_schedule*", FRAME_SCHEDULER },
	{ "*cond_resched*", FRAME_SCHEDULER },
	{ "io_schedule*", FRAME_SCHEDULER },
	{ "timerlat_*", FRAME_TIMERLAT },
	{ "*hrtimer_run_queues*", FRAME_TIMER },
	{ "hrtimer_interrupt", FRAME_TIMER },
	{ "tick_*", FRAME_TIMER },
	{ "timer_interrupt", FRAME_TIMER },
	{ "*sysvec_*", FRAME_TIMER },
	{ "*common_interrupt", FRAME_TIMER },
	{ "handle_irq_event*", FRAME_TIMER },
	{ "__handle_irq_event_percpu", FRAME_TIMER },
	{ "handle_edge_irq", FRAME_TIMER },
	{ "handle_level_irq", FRAME_TIMER },
	{ "handle_fasteoi_irq", FRAME_TIMER },
	{ "handle_irq_desc", FRAME_TIMER },
	{ "xen_timer_interrupt", FRAME_TIMER },
	{ "xen_evtchn_do_upcall", FRAME_TIMER },
	{ "asm_exc_xen_hypervisor_callback", FRAME_TIMER },
	{ "*apic_timer_interrupt", FRAME_TIMER },
	{ "asm_call_irq_on_stack", FRAME_TIMER },
	{ "arch_timer_handler_*", FRAME_TIMER },
	{ "handle_percpu_devid_irq", FRAME_TIMER },
	{ "generic_handle_domain_irq", FRAME_TIMER },
	{ "gic_handle_irq", FRAME_TIMER },
	{ "call_on_irq_stack", FRAME_TIMER },
	{ "do_interrupt_handler", FRAME_TIMER },
	{ "el1_interrupt", FRAME_TIMER },
	{ "el1h_64_irq*", FRAME_TIMER },
	{ "el0_interrupt", FRAME_TIMER },
	{ "el0t_64_irq*", FRAME_TIMER },
	{ "__el0_irq_handler_common", FRAME_TIMER },
	{ "*exc_page_fault", FRAME_FAULT },
	{ "async_page_fault", FRAME_FAULT },
	{ "page_fault", FRAME_FAULT },
	{ "*do_page_fault", FRAME_FAULT },
	{ "do_user_addr_fault", FRAME_FAULT },
	{ "do_kern_addr_fault", FRAME_FAULT },
	{ "handle_page_fault", FRAME_FAULT },
	{ "do_mem_abort", FRAME_FAULT },
	{ "do_translation_fault", FRAME_FAULT },
	{ "el0_da", FRAME_FAULT },
	{ "el0_ia", FRAME_FAULT },
	{ "el1_abort", FRAME_FAULT },
	{ "el0t_64_sync*", FRAME_FAULT },
	{ "el1h_64_sync*", FRAME_FAULT },
	{ "ret_from_exception", FRAME_FAULT },
};

enum frame_sort frame_sort(const struct symbol *symbol)
{
	char name[128];

	snprintf(name, sizeof(name), "%.*s", (int)symbol->name_len, symbol->name);
	for (size_t i = 0; i < array_size(sorts); i++)
		if (text_glob(sorts[i].glob, name))
			return sorts[i].sort;
	return FRAME_OTHER;
}

bool frame_is_event(enum frame_sort sort, bool *timer)
{
	*timer |= sort == FRAME_TIMERLAT;
	return sort == FRAME_TRACING || sort == FRAME_TIMERLAT || (sort == FRAME_TIMER && *timer);
}

size_t frames_of_timer(const struct symbols *symbols, const uint64_t *addresses, size_t nr)
{
	struct symbol symbol;
	bool timer = true;
	size_t at = 0;

	while (at < nr && stack_symbol(symbols, addresses[at], &symbol) && frame_is_event(frame_sort(&symbol), &timer))
		at++;
	return at;
}

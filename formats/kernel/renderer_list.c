// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/kernel/renderers_internal.h"

#include <string.h>

#include "formats/kernel/ftrace.h"

/* The types of entries that the kernel prints in C. */
static const struct renderer *const renderers[] = {
	&function_renderer,     &graph_entry_renderer,   &graph_retaddr_renderer,  &graph_exit_renderer,
	&kernel_stack_renderer, &user_stack_renderer,    &print_renderer,          &bputs_renderer,
	&bprint_renderer,       &raw_data_renderer,      &context_switch_renderer, &wakeup_renderer,
	&func_repeats_renderer, &hwlat_renderer,         &osnoise_renderer,        &timerlat_renderer,
	&mmiotrace_rw_renderer, &mmiotrace_map_renderer, &branch_renderer,         &text_line_renderer,
};

const struct renderer *renderer_of(const struct format *format)
{
	const struct renderer *renderer;

	if (strcmp(format->system, "ftrace")) {
		renderer = syscall_renderer(format);
		if (!renderer)
			renderer = synth_renderer(format);
		return renderer ? renderer : probe_renderer(format);
	}
	for (size_t i = 0; i < array_size(renderers); i++)
		if (!strcmp(renderers[i]->format_name, format->name))
			return renderers[i];
	return NULL;
}

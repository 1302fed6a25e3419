/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_EVENT_LAST_BOOT_H
#define WEFT_EVENT_LAST_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_text;

/*
 * How far the kernel, and each module, lies from where it lay when the buffer was written: by the kernel before the one that it was extracted
 * from (trace_instance=NAME@MEMORY). kernel/trace/trace.c: tracing_last_boot_read() of Linux 6.12, last_boot_seq_ops of 6.15 and later,
 * trace_adjust_address(). All zero: the buffer is of the kernel whose symbols are known.
 */
struct last_boot {
	uint64_t delta;     /* of the kernel, modulo 2^64: now minus then */
	uint64_t text_then; /* of _text; 0 when the delta itself was told */
	struct last_boot_module {
		uint64_t then, delta;
	} * modules; /* ascending by `then`; the delta is 0 where the module is not loaded now */
	size_t nr;
};

/* From the texts of last_boot_info and of /proc/modules; either may be absent. False: no memory. */
bool last_boot_read(struct last_boot *boot, struct trace_text info, struct trace_text modules);
void last_boot_release(struct last_boot *boot);

/* Where _text is now; 0: unknown, then nothing is moved. */
void last_boot_text_now(struct last_boot *boot, uint64_t text_now);

/* What is to be added to an address of then that no symbol of the kernel covers: that of the module at or below it. */
uint64_t last_boot_module_delta(const struct last_boot *boot, uint64_t then);

#endif

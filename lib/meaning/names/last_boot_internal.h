/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_NAMES_LAST_BOOT_INTERNAL_H
#define WEFT_MEANING_NAMES_LAST_BOOT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trace_text;

/*
 * The distance between the present addresses of the kernel and its modules and their addresses when the buffer was
 * written by the kernel of the previous boot (trace_instance=NAME@MEMORY). kernel/trace/trace.c:
 * tracing_last_boot_read() of Linux 6.12, last_boot_seq_ops of 6.15 and later, trace_adjust_address(). All zero: the
 * buffer is of the kernel whose symbols are known.
 */
struct last_boot {
	uint64_t delta;     /* for the kernel: present address minus old address, modulo 2^64 */
	uint64_t text_then; /* the old address of _text; 0 when the file has the delta itself */
	struct last_boot_module {
		uint64_t then, delta;
		/* ascending by `then`, the old address; the delta is 0 if the module is not loaded now */
	} * modules;
	size_t nr;
};

/* Reads the texts of last_boot_info and of /proc/modules; either may be absent. False: no memory. */
bool last_boot_read(struct last_boot *boot, struct trace_text info, struct trace_text modules);
void last_boot_release(struct last_boot *boot);

/* Sets the present address of _text; 0: unknown, then no address is converted. */
void last_boot_text_now(struct last_boot *boot, uint64_t text_now);

/* The delta of an old address that no symbol of the kernel covers: the delta of the module at or below it. */
uint64_t last_boot_module_delta(const struct last_boot *boot, uint64_t then);

#endif

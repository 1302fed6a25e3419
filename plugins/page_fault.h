/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PLUGINS_PAGE_FAULT_H
#define WEFT_PLUGINS_PAGE_FAULT_H

#include <stdbool.h>

#include "plugins/words.h"

static const char *const page_fault_facts[] = { "access", "memory", "mode", "why", NULL };

/*
 * Says what the error code of a page fault of x86 means: the access, whose it was, and why it failed. The bits are
 * those of enum x86_pf_error_code, arch/x86/include/asm/trap_pf.h.
 */
static inline void put_page_fault(const struct weft_host *host, uint64_t code, struct weft_output *output)
{
	enum {
		PROTECTION = 1,
		WRITE = 2,
		USER = 4,
		RESERVED = 8,
		FETCH = 16,
		KEY = 32,
		SHADOW_STACK = 64,
		SGX = 1 << 15
	};
	const char *why = !(code & PROTECTION) ? "not-present" : "protection";

	if (code & RESERVED)
		why = "reserved-bit";
	else if (code & KEY)
		why = "protection-key";
	else if (code & SGX)
		why = "sgx";
	put_string(host, "access", code & FETCH ? "execute" : code & WRITE ? "write" : "read", output);
	if (code & SHADOW_STACK)
		put_string(host, "memory", "shadow-stack", output);
	put_string(host, "mode", code & USER ? "user" : "kernel", output);
	put_string(host, "why", why, output);
}

/* Whether the traced machine is an x86; where the file does not say, it may be one. */
static inline bool may_be_x86(const char *machine)
{
	return !*machine || !strcmp(machine, "x86_64") || (*machine == 'i' && !strcmp(machine + 2, "86"));
}

#endif

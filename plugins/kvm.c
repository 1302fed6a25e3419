// SPDX-License-Identifier: GPL-2.0-only
/*
 * What numbers of KVM's events on x86 mean: registers (asm/msr-index.h), error codes of page faults, and the exit
 * qualification of Intel's EPT violations and port accesses (arch/x86/include/asm/vmx.h).
 */
#include "include/weft/plugin.h"
#include "plugins/msr_names.h"
#include "plugins/page_fault.h"

enum { FIRST, ISA, INFO1 };

/* enum of arch/x86/kvm/trace.h: KVM_ISA_VMX; arch/x86/include/uapi/asm/vmx.h: the reasons. */
enum { ISA_VMX = 1, REASON_IO = 30, REASON_EPT_VIOLATION = 48 };

static const char *const msr_fields[] = { "ecx", NULL };
static const char *const fault_fields[] = { "error_code", NULL };
static const char *const exit_fields[] = { "exit_reason", "isa", "info1", NULL };
static const char *const msr_facts[] = { "register", NULL };
static const char *const exit_facts[] = { "access", "allowed", "why", "#port", "#size", NULL };

static void format_msr(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_string(host, "register", msr_name(host->integer(record, FIRST, 0)), output);
}

static void format_fault(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	if (may_be_x86(host->machine(record)))
		put_page_fault(host, host->integer(record, FIRST, 0), output);
}

static void put_ept_violation(const struct weft_host *host, uint64_t qualification, struct weft_output *output)
{
	static const struct word accesses[] = { { 1, "read" }, { 2, "write" }, { 4, "execute" } };
	static const struct word allowed[] = { { 8, "read" }, { 16, "write" }, { 32, "execute" } };

	put_flags(host, "access", WORDS(accesses), qualification & 7, output);
	put_flags(host, "allowed", WORDS(allowed), qualification & 0x38, output);
	if (!(qualification & 0x38))
		put_string(host, "why", "not-present", output);
}

static void put_port(const struct weft_host *host, uint64_t qualification, struct weft_output *output)
{
	put_string(host, "access", qualification & 8 ? "in" : "out", output);
	host->put_hex(output, "port", qualification >> 16 & 0xffff);
	host->put_integer(output, "size", (int64_t)(qualification & 7) + 1);
}

static void format_exit(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	uint64_t reason = host->integer(record, FIRST, 0) & 0xffff, info = host->integer(record, INFO1, 0);

	if (host->integer(record, ISA, 0) != ISA_VMX)
		return;
	if (reason == REASON_EPT_VIOLATION)
		put_ept_violation(host, info, output);
	else if (reason == REASON_IO)
		put_port(host, info, output);
}

static const struct weft_handler handlers[] = {
	{ "kvm_msr", msr_fields, format_msr, msr_facts },
	{ "kvm_page_fault", fault_fields, format_fault, page_fault_facts },
	{ "kvm_exit", exit_fields, format_exit, exit_facts },
	{ "kvm_nested_vmexit", exit_fields, format_exit, exit_facts },
};

WEFT_PLUGIN("kvm", handlers);

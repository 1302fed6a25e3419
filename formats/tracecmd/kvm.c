// SPDX-License-Identifier: LGPL-2.1-or-later
/* The texts of libtraceevent's plugin kvm. */
#include "formats/tracecmd/tracecmd_internal.h"

#include "lib/ground/base/out.h"

enum { VCPU, RIP };

static const char *const entry_fields[] = { "vcpu_id", "rip", NULL };

static bool text_entry(const struct tracecmd *tracecmd, const struct tracecmd_binding *binding,
		       const struct event *event, struct out *out)
{
	(void)tracecmd;
	if (!binding->places[RIP].field)
		return false;
	out_str(out, " vcpu ");
	out_u64(out, place_u64(&binding->places[VCPU], event));
	out_str(out, " rip 0x");
	out_hex(out, place_u64(&binding->places[RIP], event));
	return true;
}

const struct tracecmd_text tracecmd_kvm_texts[] = {
	{ "kvm", "kvm_entry", .fields = entry_fields, .text = text_entry },
	{ 0 },
};

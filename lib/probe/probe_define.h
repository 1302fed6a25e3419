/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_PROBE_PROBE_DEFINE_H
#define WEFT_PROBE_PROBE_DEFINE_H

#include "lib/base/cleanup.h"
#include "lib/explain/probe.h"

#include <stdbool.h>

struct fail;
struct instance;

/*
 * What a user writes for a probe, made into what the kernel takes. Two syntaxes:
 *	the kernel's own        p:NAME do_sys_openat2 name=+0($arg2):ustring
 *	weft's                  [NAME=]PLACE [ARGUMENT...]
 * PLACE: FUNCTION[+OFFSET], MODULE:FUNCTION, SYSTEM:EVENT, BINARY:FUNCTION[+OFFSET], BINARY:0xOFFSET, fprobe:FUNCTION,
 *	tracepoint:NAME; %return behind a function is its return. A BINARY has a slash in its name.
 * ARGUMENT: NAME[:TYPE], a parameter of the function (or a field of the event), ret (what the function returns), argN (the Nth
 *	parameter), comm; NEW=NAME[:TYPE] with a name of one's own; or whatever the kernel takes. string and ustring
 *	follow the pointer.
 * In both: a function of a BINARY is looked up in its symbols, and who says no group gets PROBE_GROUP, no name one after
 * the place.
 */
#define PROBE_GROUP "weft"

/*
 * Nothing is written. -ENOENT, -EEXIST, -EOPNOTSUPP (with the option that the kernel lacks): in words. `synthetic`: the text is
 * "NAME TYPE FIELD; TYPE FIELD..."
 */
int must_check probe_define(const struct instance *top, const char *text, bool synthetic, struct probe *ret,
			    struct fail *fail);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_PROBE_PROBE_DEFINE_H
#define WEFT_KERNEL_PROBE_PROBE_DEFINE_H

#include <stdbool.h>

#include "lib/ground/base/cleanup.h"
#include "lib/kernel/refusals/probe.h"

struct fail;
struct instance;

/*
 * Converts the text that a user writes for a probe to the kernel's form. There are two syntaxes:
 *    the kernel's own        p:NAME do_sys_openat2 name=+0($arg2):ustring
 *    weft's                  [NAME=]PLACE [ARGUMENT...]
 * PLACE: FUNCTION[+OFFSET], MODULE:FUNCTION, SYSTEM:EVENT, BINARY:FUNCTION[+OFFSET], BINARY:0xOFFSET,
 * fprobe:FUNCTION, tracepoint:NAME, usdt:BINARY:NAME, usdt:BINARY:PROVIDER:NAME (usdt.h; without arguments). %return
 * after a function means its return. A BINARY has a slash in its name, but for usdt.
 *
 * ARGUMENT: NAME[:TYPE], which is a parameter of the function or a field of the event; ret, the return value of the
 * function; argN, the Nth parameter; comm; NEW=NAME[:TYPE] to choose another name; or any text that the kernel accepts.
 * The types string and ustring follow the pointer.
 *
 * In both syntaxes, a function of a BINARY is looked up in its symbols. A probe without a group gets PROBE_GROUP, and a
 * probe without a name gets one made from its place.
 */
#define PROBE_GROUP "weft"

/*
 * Writes nothing to the kernel. -ENOENT, -EEXIST, -EOPNOTSUPP: the text says why, and names the option that the kernel
 * lacks. With `synthetic` the text is "NAME TYPE FIELD; TYPE FIELD...".
 */
int must_check probe_define(const struct instance *top, const char *text, bool synthetic, struct probe *ret,
			    struct fail *fail);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_PAGES_TRACE_CARRIED_H
#define WEFT_PAGES_TRACE_CARRIED_H

#include "lib/ground/base/cleanup.h"
#include "lib/pages/trace/writer_metadata.h"

struct fail;
struct trace;

/*
 * Everything in a trace except its pages, in the form that a writer takes: for a file that is made from another one. It
 * borrows the trace's texts. It owns the lists, whose items the caller may change.
 */
struct carried {
	struct trace *trace;
	struct writer_metadata metadata;
	struct writer_format *formats;
	struct writer_setting *settings;
	const char *cpustats;
};

/* Call carried_release() also after a failure. */
int must_check carried_init(struct carried *carried, struct trace *trace, struct fail *fail);
void carried_release(struct carried *carried);

#endif

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "formats/export/export.h"

#include "formats/export/exports_internal.h"
#include "lib/event/context.h"
#include "lib/reader/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EXPORT_ENTRY(name) &name##_export,

static const struct export_ops *const exports[] = { EXPORTS(EXPORT_ENTRY) };

const struct export_ops *export_at(size_t index)
{
	return index < array_size(exports) ? exports[index] : NULL;
}

const struct export_ops *export_find(const char *name)
{
	for (size_t i = 0; i < array_size(exports); i++)
		if (!strcmp(exports[i]->name, name))
			return exports[i];
	return NULL;
}

int export_new(const struct export_ops *ops, const struct export_input *input, struct out *out, struct export **ret,
	       struct fail *fail)
{
	struct export *export = NULL;
	int r;

	r = ops->create(input, &export, fail);
	if (r)
		return r;
	export->ops = ops;
	export->reader = input->reader;
	export->out = out;
	*ret = export;
	return 0;
}

void export_free(struct export *export)
{
	if (!export)
		return;
	buf_release(&export->notes);
	export->ops->free(export);
}

void export_failed(struct export *export, int error, const struct fail *failure)
{
	if (export->error)
		return;
	export->error = error;
	export->failure = *failure;
}

void export_no_memory(struct export *export)
{
	struct fail fail = FAIL_INIT;

	export_failed(export, fail_memory(&fail), &fail);
}

void export_note(struct export *export, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (!buf_addf(&export->notes, "%s\n", text))
		export_no_memory(export);
}

const struct context *export_context(const struct export *export, const struct event *event)
{
	return reader_context(export->reader, event);
}

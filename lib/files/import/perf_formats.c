// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/import/perf_internal.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/schema/format.h"
#include "lib/pages/perf/perf_data.h"
#include "lib/pages/trace/trace.h"

static int add_text(struct perf_import *import, const char *system, size_t system_len, const char *text, size_t len,
		    struct fail *fail)
{
	struct writer_format *added = vec_push(import->texts, import->nr_texts);
	struct fail ignored = FAIL_INIT;

	if (!added)
		return fail_memory(fail);
	*added = (struct writer_format){ .system = system, .text = text, .len = len };
	/* A format that cannot be read is kept; no event has it. */
	(void)!schema_add(import->schema, system, system_len, text, len, &ignored);
	return 0;
}

static int take_formats(struct perf_import *import, struct fail *fail)
{
	const struct perf_formats *formats = perf_data_formats(import->data);
	const struct writer_format *own = formats->formats;
	size_t nr = formats->nr_formats;
	struct schema_abi abi;
	int r = 0;

	import->big_endian = formats->big_endian;
	import->long_size = formats->long_size;
	if (!nr && !import->formats) {
		/* There are samples only; they have addresses of 64 bits on any machine. */
		import->big_endian = perf_data_swaps(import->data) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
		import->long_size = sizeof(uint64_t);
	} else if (!nr) {
		const struct trace_info *info = trace_info(import->formats);

		r = carried_init(&import->carried, import->formats, fail);
		own = import->carried.metadata.formats;
		nr = r ? 0 : import->carried.metadata.nr_formats;
		import->big_endian = info->big_endian;
		import->long_size = info->long_size;
	}
	if (!r && import->long_size != 4 && import->long_size != 8)
		r = fail_set(fail, -EBADMSG, "its formats are of a machine with words of %u bytes", import->long_size);
	import->swap = import->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (!r && import->swap != perf_data_swaps(import->data))
		r = fail_set(fail, -EBADMSG, "its records and its formats have different byte orders");
	abi = (struct schema_abi){ .swap = import->swap,
				   .big_endian = import->big_endian,
				   .long_size = import->long_size };
	if (!r)
		r = schema_new(&abi, &import->schema, fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = add_text(import, own[i].system, strlen(own[i].system), own[i].text, own[i].len, fail);
	return r;
}

/* The common fields, as the format of another event has them. */
static bool common_of(const struct perf_import *import, const struct format **ret, const char **ret_text,
		      size_t *ret_len)
{
	for (size_t i = 0; i < import->nr_texts; i++) {
		const struct writer_format *text = &import->texts[i];
		const char *begin = memmem(text->text, text->len, "format:\n", 8), *end, *system, *name;
		int32_t id;

		if (!begin)
			continue;
		begin += 8;
		end = memmem(begin, (size_t)(text->text + text->len - begin), "\n\n", 2);
		if (!end)
			continue;
		*ret = NULL;
		for (size_t at = 0; !*ret && schema_at(import->schema, at, &id, &system, &name); at++) {
			const struct format *format = schema_format(import->schema, id, NULL);

			*ret = format && format->nr_common ? format : NULL;
		}
		*ret_text = begin;
		*ret_len = (size_t)(end + 1 - begin);
		return *ret;
	}
	return false;
}

/* What the formats of all kernels begin with, for a file that has none. */
static const char usual[] = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
			    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

/* The name of an attribute as that of an event: "cycles:u" is cycles_u. */
static void name_sample(const struct perf_attr *attr, char *to, size_t size)
{
	snprintf(to, size, "%s", attr->name && *attr->name ? attr->name : "sample");
	for (; *to; to++)
		if (!(*to >= '0' && *to <= '9') && !(*to >= 'a' && *to <= 'z') && !(*to >= 'A' && *to <= 'Z'))
			*to = '_';
}

/* Adds a format that is made here: its head, the common fields `common`, its own fields. */
__attribute__((format(printf, 7, 8))) static int add_own(struct perf_import *import, const char *system,
							 const char *name, int32_t id, const char *common,
							 struct fail *fail, const char *form, ...)
{
	cleanup_free char *fields = NULL;
	char **added = vec_push(import->own, import->nr_own);
	va_list args;
	int len;

	va_start(args, form);
	len = vasprintf(&fields, form, args);
	va_end(args);
	if (len < 0)
		fields = NULL;
	if (!added || len < 0 ||
	    (len = asprintf(added, "name: %s\nID: %d\nformat:\n%s\n%s", name, id, common, fields)) < 0) {
		import->nr_own -= added != NULL;
		return fail_memory(fail);
	}
	return add_text(import, system, strlen(system), *added, (size_t)len, fail);
}

/* Makes a format for each attribute that is no tracepoint. */
static int make_samples(struct perf_import *import, const char *common, struct fail *fail)
{
	size_t nr;
	const struct perf_attr *attrs = perf_data_attrs(import->data, &nr);
	int32_t id = UINT16_MAX;
	char name[64];
	int r = 0;

	import->sample_ids = calloc(nr + 1, sizeof(*import->sample_ids));
	if (!import->sample_ids)
		return fail_memory(fail);
	import->ip = (import->common + 7) / 8 * 8;
	for (size_t i = 0; !r && i < nr; i++) {
		if (perf_attr_is_event(&attrs[i]))
			continue;
		while (id > PERF_USER_STACK_ID && schema_format(import->schema, id, NULL))
			id--;
		if (id <= PERF_USER_STACK_ID)
			return fail_set(fail, -EBADMSG, "it has more kinds of events than there are numbers");
		name_sample(&attrs[i], name, sizeof(name));
		r = add_own(import, "perf", name, id, common, fail,
			    "\tfield:u64 ip;\toffset:%zu;\tsize:8;\tsigned:0;\n"
			    "\tfield:u64 period;\toffset:%zu;\tsize:8;\tsigned:0;\n\n"
			    "print fmt: \"ip=%%pS period=%%llu\", (void *)REC->ip, REC->period\n",
			    import->ip, import->ip + sizeof(uint64_t));
		import->sample_ids[i] = (uint16_t)id--;
	}
	return r;
}

/* Makes the formats of stacks, unless the file of --formats-from has them, and those of samples. */
static int make_formats(struct perf_import *import, struct fail *fail)
{
	const struct format *format;
	const char *text = usual;
	size_t len = sizeof(usual) - 2, word = import->long_size;
	cleanup_free char *common = NULL;
	uint32_t end = 8;
	int r;

	if (common_of(import, &format, &text, &len))
		end = format->fields[format->nr_common - 1].offset + format->fields[format->nr_common - 1].size;
	else if (import->nr_texts)
		return fail_set(fail, -EBADMSG, "none of its formats can be read");
	common = strndup(text, len);
	if (!common)
		return fail_memory(fail);
	import->common = end;
	import->callers = (end + 4 + word - 1) / word * word;
	r = add_own(import, "ftrace", "kernel_stack", PERF_KERNEL_STACK_ID, common, fail,
		    "\tfield:int size;\toffset:%u;\tsize:4;\tsigned:1;\n"
		    "\tfield:unsigned long caller[];\toffset:%zu;\tsize:0;\tsigned:0;\n\n"
		    "print fmt: \"%%ps\", (void *)REC->caller[0]\n",
		    (unsigned)end, import->callers);
	if (!r)
		r = add_own(import, "ftrace", "user_stack", PERF_USER_STACK_ID, common, fail,
			    "\tfield:unsigned int tgid;\toffset:%u;\tsize:4;\tsigned:0;\n"
			    "\tfield:unsigned long caller[%d];\toffset:%zu;\tsize:%zu;\tsigned:0;\n\n"
			    "print fmt: \"%%d %%px\", REC->tgid, (void *)REC->caller[0]\n",
			    (unsigned)end, PERF_USER_CALLERS, import->callers, PERF_USER_CALLERS * word);
	return r || !import->samples ? r : make_samples(import, common, fail);
}

int perf_formats_take(struct perf_import *import, struct fail *fail)
{
	int r = take_formats(import, fail);

	return r ? r : make_formats(import, fail);
}

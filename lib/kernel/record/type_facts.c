// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/type_facts_internal.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/text.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/memory/image/types.h"

static bool has_line(const char *text, size_t len, const char *wanted)
{
	struct text_word line;

	while (text_next_line(&text, &len, &line))
		if (line.len == strlen(wanted) && !memcmp(line.at, wanted, line.len))
			return true;
	return false;
}

/*
 * Takes the function names of set_ftrace_filter, each without what follows the name. *ret_all: the list has no names,
 * so all functions are traced.
 */
static int take_filter(const struct ledger_item *filter, struct names *functions, bool *ret_all, struct fail *fail)
{
	const char *at = filter ? filter->data : "";
	size_t left = filter ? filter->len : 0;
	struct text_word line;
	int err = 0;

	if (!left || *at == '#') {
		*ret_all = true;
		return 0;
	}
	while (!err && text_next_line(&at, &left, &line)) {
		const char *end = line.len ? memchr(line.at, ' ', line.len) : NULL;

		err = names_add(functions, line.at, end ? (size_t)(end - line.at) : line.len, fail);
	}
	return err;
}

static int take_item(const struct ledger *ledger, const struct ledger_item *item, struct names *functions,
		     struct names *enumerators, bool *ret_all, struct fail *fail)
{
	if (item->kind == LEDGER_FORMAT)
		return names_add_format(enumerators, item->data, item->len, fail);
	if (item->kind != LEDGER_SETTING || strcmp(item->key, "trace_options"))
		return 0;
	/* function_graph may trace any function. */
	if (has_line(item->data, item->len, "funcgraph-args"))
		*ret_all = true;
	if (!has_line(item->data, item->len, "func-args"))
		return 0;
	return take_filter(ledger_find(ledger, LEDGER_SETTING, item->buffer, "set_ftrace_filter"), functions, ret_all,
			   fail);
}

static bool next_module(void *folder, struct buf *buf)
{
	return tracing_next_btf(folder, buf);
}

static int add_lines(struct ledger *ledger, const struct names *functions, const struct names *enumerators,
		     struct fail *fail)
{
	cleanup_buf struct buf btf = BUF_INIT, lines = BUF_INIT;
	DIR *folder;
	int err;

	if (tracing_read_path(BTF_FOLDER "vmlinux", &btf, NULL))
		return 0;
	folder = opendir(BTF_FOLDER);
	err = types_lines(btf.data, btf.len, folder ? &(struct types_modules){ next_module, folder } : NULL, functions,
			  enumerators, &lines, NULL);
	if (folder)
		closedir(folder);
	/* Type information that weft cannot read is treated as missing. */
	if (err == -EBADMSG || (!err && !lines.len))
		return 0;
	return err ? err :
		     ledger_add(ledger,
				&(struct ledger_item){ .kind = LEDGER_SETTING,
						       .key = "weft/types",
						       .data = buf_str(&lines),
						       .len = lines.len },
				fail);
}

int facts_of_types(struct ledger *ledger, struct fail *fail)
{
	struct names *functions = NULL, *enumerators = NULL;
	const struct ledger_item *item;
	bool all = false;
	int err = ledger_load(ledger, fail);

	if (!err)
		err = names_new(&functions, fail);
	if (!err)
		err = names_new(&enumerators, fail);
	for (size_t i = 0; !err && (item = ledger_at(ledger, i)); i++)
		err = take_item(ledger, item, functions, enumerators, &all, fail);
	if (!err && (all || names_count(functions) || names_count(enumerators)))
		err = add_lines(ledger, all ? NULL : functions, enumerators, fail);
	names_free(functions);
	names_free(enumerators);
	return err;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/pack/pack_file.h"

#include "lib/base/buf.h"
#include "lib/base/fail.h"
#include "lib/names/symbol_subset.h"
#include "lib/pack/pack.h"
#include "lib/pack/pack_sample_internal.h"
#include "lib/pack/pack_types_internal.h"
#include "lib/trace/input.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGES_MAX = 16 << 20 }; /* of a file with more, all symbols are kept */

static void add_fact(struct pack_options *options, const char *name, const char *text)
{
	if (options->nr_facts < PACK_FACTS_MAX)
		options->facts[options->nr_facts++] = (struct pack_fact){ .name = name, .text = text };
}

/* Returns whether the file packed into `fd` can be read back. */
static bool is_readable(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && (fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND)) == O_RDWR;
}

/*
 * Chooses the symbols to which a packed file can refer, among those that it has. The result is empty if all symbols
 * should stay: they are small compared to the pages, or the file cannot be read back.
 */
static int choose_symbols(int fd, struct buf *ret, struct fail *fail)
{
	struct trace *trace = NULL;
	int r = trace_open_fd(fd, "the new file", &trace, fail);

	if (!r)
		r = symbol_subset_of_trace(trace, PAGES_MAX, ret, fail);
	trace_free(trace);
	return r == -ENOMEM ? r : 0;
}

/*
 * The packed pages determine which symbols are needed. So the file is packed once with all symbols, read back, and
 * packed again with the needed ones.
 */
static int pack_chosen(struct pack_options *options, int fd, struct pack_summary *summary, struct fail *fail)
{
	cleanup_buf struct buf symbols = BUF_INIT;
	cleanup_fd int trial = -1;
	bool readable = is_readable(fd);
	int r = readable ? 0 : input_temporary(&trial, fail);

	if (!r)
		r = pack(options, readable ? fd : trial, summary, fail);
	if (!r)
		r = choose_symbols(readable ? fd : trial, &symbols, fail);
	if (r || (readable && !symbols.len))
		return r;
	if (symbols.len) {
		options->kallsyms_text = symbols.data;
		options->kallsyms_len = symbols.len;
		add_fact(options, "weft/symbols", "chosen");
	}
	if (readable && (ftruncate(fd, 0) || lseek(fd, 0, SEEK_SET) < 0))
		return fail_set(fail, -errno, "cannot write the new file again: %s", strerror(errno));
	return pack(options, fd, summary, fail);
}

/* Learns from a first packing in memory. The options borrow what was learned. */
static int learn(const struct pack_learning *from, struct pack_options *options, struct pack_sample *sample,
		 struct buf *types, struct pack_summary *summary, struct fail *fail)
{
	cleanup_fd int trial = memfd_create("weft-pack", MFD_CLOEXEC);
	int r;

	if (trial < 0)
		return fail_set(fail, -errno, "cannot create a file in memory: %s", strerror(errno));
	r = pack(options, trial, summary, fail);
	if (!r && from->sample)
		r = pack_sample_read(trial, from->sample, sample, fail);
	if (!r && from->sample)
		pack_sample_facts(sample, options);
	if (!r && from->btf)
		r = pack_types_read(trial, from->btf, types, fail);
	if (!r && types->len)
		add_fact(options, "weft/types", buf_str(types));
	return r;
}

int pack_file(const struct pack_options *options, const struct pack_learning *learning, int fd,
	      struct pack_summary *ret, struct fail *fail)
{
	struct pack_options all = *options;
	cleanup_buf struct buf types = BUF_INIT;
	struct pack_sample sample = { .head = "" };
	int r = 0;

	if (learning->sample || learning->btf)
		r = learn(learning, &all, &sample, &types, ret, fail);
	if (r)
		return r;
	return learning->all_symbols ? pack(&all, fd, ret, fail) : pack_chosen(&all, fd, ret, fail);
}

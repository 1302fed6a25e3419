// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/meaning/follow/files_internal.h"

#include <stdlib.h>

#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/follow/who.h"

static void files_free(struct context_later *made)
{
	struct files *files = (struct files *)made;

	free(files->tables);
	free(files->users);
	free(files->words);
	free(files->ranges);
	free(files->names);
	free(files->renames);
	free(files->urings);
	free(files->losses);
	free(files->at);
	buf_release(&files->texts);
	u64_map_release(&files->hashes);
	u64_map_release(&files->inodes);
	pthread_mutex_destroy(&files->lock);
	free(files);
}

static struct files *files_new(const struct context *context)
{
	struct files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->later.free = files_free;
	files->context = context;
	pthread_mutex_init(&files->lock, NULL);
	u64_map_init(&files->hashes, sizeof(uint32_t));
	u64_map_init(&files->inodes, sizeof(uint32_t));
	return files;
}

/* That of the context, which keeps it. NULL without memory. */
static const struct files *files_of(const struct context *context)
{
	struct context_later *made = atomic_load_explicit(&context->files->made, memory_order_acquire);
	struct files *files = made ? (struct files *)made : files_new(context);

	if (!files) {
		context_lacks_memory(context);
		return NULL;
	}
	if (!made && !atomic_compare_exchange_strong(&context->files->made, &made, &files->later)) {
		files_free(&files->later);
		files = (struct files *)made;
	}
	if (atomic_load_explicit(&files->loaded, memory_order_acquire))
		return files;
	pthread_mutex_lock(&files->lock);
	if (!atomic_load_explicit(&files->loaded, memory_order_relaxed)) {
		files_load(files);
		if (files->starved)
			context_lacks_memory(context);
		atomic_store_explicit(&files->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&files->lock);
	return files;
}

bool files_are_known(const struct context *context)
{
	const struct files *files = files_of(context);

	return files && files->known;
}

/* Whether events may be missing after one time and up to another. */
static bool is_lost_between(const struct files *files, uint64_t from, uint64_t to)
{
	size_t low = vec_count(files->nr_losses, i, files->losses[i] <= from);

	return low < files->nr_losses && files->losses[low] <= to;
}

uint32_t files_table_at(const struct files *files, int32_t pid, uint64_t ts)
{
	size_t low = vec_count(files->nr_users, i,
			       files->users[i].pid != pid ? files->users[i].pid < pid : files->users[i].since <= ts);

	/* Its first event may be later than this question. */
	if (low < files->nr_users && files->users[low].pid == pid && (!low || files->users[low - 1].pid != pid))
		return files->users[low].table;
	return low && files->users[low - 1].pid == pid ? files->users[low - 1].table : FILES_NO_TABLE;
}

/* The last word of a table about a descriptor up to a time; NULL: there is none. */
static const struct files_word *word_at(const struct files *files, uint32_t table, int32_t fd, uint64_t ts)
{
	size_t low = vec_count(files->nr_words, i,
			       files->words[i].table != table ? files->words[i].table < table :
			       files->words[i].fd != fd       ? files->words[i].fd < fd :
								files->words[i].since <= ts);
	const struct files_word *word = low ? &files->words[low - 1] : NULL;

	return word && word->table == table && word->fd == fd ? word : NULL;
}

/*
 * When close_range() closed the descriptor in this table last, up to a time; 0: it did not. After an exec, which closes
 * what was marked, also when it was marked. UINT64_MAX: too many ranges of other descriptors came after it to look at.
 */
static uint64_t closed_at(const struct files *files, uint32_t table, int32_t fd, uint64_t ts, bool executed)
{
	enum { RANGES_MAX = 1024 };
	size_t low, seen = 0;

	low = vec_count(files->nr_ranges, i,
			files->ranges[i].table != table ? files->ranges[i].table < table :
							  files->ranges[i].since <= ts);
	for (; low && files->ranges[low - 1].table == table; low--) {
		const struct files_range *range = &files->ranges[low - 1];

		if (range->first <= (uint32_t)fd && (uint32_t)fd <= range->last && (executed || !range->at_exec))
			return range->since;
		if (++seen == RANGES_MAX)
			return UINT64_MAX;
	}
	return 0;
}

/* What a file, a socket, is called at a time. */
static uint32_t renamed(const struct files *files, uint32_t file, uint64_t ts)
{
	size_t low = vec_count(files->nr_renames, i,
			       files->renames[i].file != file ? files->renames[i].file < file :
								files->renames[i].since <= ts);

	return low && files->renames[low - 1].file == file ? files->renames[low - 1].to : file;
}

static uint32_t find(const struct files *files, const struct context *context, int32_t pid, int32_t fd, uint64_t ts)
{
	uint32_t table = files && files->known && fd >= 0 ? files_table_at(files, pid, ts) : FILES_NO_TABLE;
	uint64_t asked = ts;
	bool executed = false;

	/* A thread that made no event of its own has the descriptors of its process. */
	if (files && files->known && fd >= 0 && table == FILES_NO_TABLE)
		table = files_table_at(files, who_process(context, pid, ts, NULL), ts);
	/* A table is older than those that are copies of it, so this ends. */
	while (table != FILES_NO_TABLE) {
		const struct files_table *of = &files->tables[table];
		const struct files_word *word = word_at(files, table, fd, ts);
		uint64_t closed = closed_at(files, table, fd, ts, executed);

		if (closed && (!word || word->since < closed))
			return closed == UINT64_MAX || is_lost_between(files, closed, asked) ? FILES_UNKNOWN :
											       FILES_CLOSED;
		if (word && is_lost_between(files, word->since, asked))
			return FILES_UNKNOWN;
		if (word)
			return executed && word->closes ? FILES_CLOSED : word->file;
		if (of->from == FILES_NO_TABLE)
			return of->listed && !is_lost_between(files, 0, asked) ? FILES_CLOSED : FILES_UNKNOWN;
		executed |= of->executed;
		ts = of->since < ts ? of->since : ts;
		table = of->from;
	}
	return FILES_UNKNOWN;
}

uint32_t files_is(const struct context *context, int32_t pid, int32_t fd, uint64_t ts)
{
	const struct files *files = files_of(context);
	uint32_t file = find(files, context, pid, fd, ts);

	return files && files->nr_renames ? renamed(files, file, ts) : file;
}

uint32_t files_with_inode(const struct context *context, uint32_t device, uint64_t inode)
{
	const struct files *files = files_of(context);
	const uint32_t *file = files ? u64_map_find(&files->inodes, files_inode_key(device, inode)) : NULL;

	return file ? *file : FILES_UNKNOWN;
}

uint32_t files_end(const struct context *context)
{
	const struct files *files = files_of(context);

	return files && files->nr_at < UINT32_MAX ? (uint32_t)files->nr_at : 0;
}

bool files_match(const struct context *context, uint32_t file, const char *const *globs, size_t nr)
{
	for (size_t i = 0; file >= FILES_FIRST && i < nr; i++)
		if (text_glob(globs[i], files_text(context, file)))
			return true;
	return false;
}

const char *files_text(const struct context *context, uint32_t file)
{
	const struct files *files = files_of(context);

	return files && file < files->nr_at ? files->texts.data + files->at[file] : "(unknown)";
}

/* The index of the first name of the task from a time on. */
static size_t names_from(const struct files *files, int32_t pid, uint64_t ts)
{
	return vec_count(files->nr_names, i,
			 files->names[i].pid != pid ? files->names[i].pid < pid : files->names[i].ts < ts);
}

const char *files_name(const struct context *context, int32_t pid, uint64_t pointer, uint64_t ts)
{
	/* So many names are read by one call, as by one that mounts something. */
	enum { CALL_NAMES = 4 };
	const struct files *files = pointer ? files_of(context) : NULL;
	size_t first = files ? names_from(files, pid, ts) : 0;

	for (size_t i = 0; i < CALL_NAMES && files && first + i < files->nr_names; i++) {
		const struct files_name *name = &files->names[first + i];

		if (name->pid != pid)
			break;
		if (name->pointer == pointer)
			return is_lost_between(files, ts, name->ts) ? NULL : files->texts.data + files->at[name->file];
	}
	return NULL;
}

const char *files_name_in(const struct context *context, int32_t pid, uint64_t from, uint64_t to, size_t index)
{
	const struct files *files = files_of(context);
	size_t at = files ? names_from(files, pid, from) : 0;

	if (!files || index >= files->nr_names - at)
		return NULL;
	at += index;
	if (files->names[at].pid != pid || files->names[at].ts > to)
		return NULL;
	return files->texts.data + files->at[files->names[at].file];
}

bool files_request(const struct context *context, size_t index, struct files_request *ret)
{
	const struct files *files = files_of(context);
	const struct files_uring *uring;

	if (!files || index >= files->nr_urings)
		return false;
	uring = &files->urings[index];
	*ret = (struct files_request){
		.since = uring->since,
		.until = uring->until,
		.result = uring->result,
		.pid = uring->pid,
		.file = uring->fixed ? uring->file : (uint32_t)FILES_CLOSED,
		.operation = files->texts.data + files->at[uring->operation],
		.done = uring->done,
	};
	if (!uring->fixed && uring->fd >= 0)
		ret->file = files_is(context, uring->pid, uring->fd, uring->asked);
	return true;
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/lake/lake.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/dir.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/trust.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/vec.h"
#include "lib/ground/base/xxh64.h"

#define CURRENT "current"
#define NEXT ".weft-current"

enum { NUMBER_MAX = 18, STATE_DEPTH = 2 };

/* The number of a state's folder; 0: it is none. */
static uint64_t state_number(const char *name)
{
	size_t len = strlen(name);
	uint64_t number = 0;

	if (!len || len > NUMBER_MAX || *name == '0' || strspn(name, "0123456789") != len)
		return 0;
	return text_parse_u64(name, &number, NULL) ? 0 : number;
}

/* What destination_folder_make() calls a folder that is not complete, and the link that is not yet in its place. */
static bool is_left_behind(const char *name)
{
	static const char head[] = ".weft-", tail[] = ".new";
	size_t len = strlen(name);

	return !strcmp(name, NEXT) || (len > sizeof(head) + sizeof(tail) && !strncmp(name, head, sizeof(head) - 1) &&
				       !strcmp(name + len - sizeof(tail) + 1, tail));
}

static int refuse(const struct lake *lake, const char *name, struct fail *fail)
{
	return fail_set(fail, -EEXIST, "'%s/%s' is not of a lake%s", lake->path, name,
			lake->read_only ? ", so no table is read: remove it, or name another directory" :
					  ": remove it, or choose another directory; nothing was changed");
}

/* Opens a folder or a file of the lake, which nobody else may have written. A link is not followed. */
static int open_own(const struct lake *lake, int dir, const char *name, mode_t type, int *ret_fd, struct fail *fail)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	cleanup_fd int fd = openat(dir, name, type == S_IFDIR ? flags | O_DIRECTORY : flags);
	int r;

	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return refuse(lake, name, fail);
	if (fd < 0)
		return fail_set(fail, -errno, "cannot read '%s' in '%s': %s", name, lake->path, strerror(errno));
	r = trust_check(fd, type, name, fail);
	if (!r)
		*ret_fd = fd_take(&fd);
	return r ? fail_in(fail, r, "'%s'", lake->path) : 0;
}

/* Calls `see` with each name of an open directory until it returns other than 0. */
static int each_name(const struct lake *lake, int fd, int (*see)(void *arg, const char *name, struct fail *fail),
		     void *arg, struct fail *fail)
{
	DIR *dir = dir_entries(fd);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return fail_set(fail, -errno, "cannot read '%s': %s", lake->path, strerror(errno));
	while (!r && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			r = see(arg, entry->d_name, fail);
	closedir(dir);
	return r;
}

struct looking {
	struct lake *lake;
	const char *const *tables, *table;
	uint64_t before;  /* the last state before the current one */
	uint64_t highest; /* of all states */
};

static int see_top(void *arg, const char *name, struct fail *fail)
{
	struct looking *looking = arg;
	uint64_t number = state_number(name);

	if (number && number < looking->lake->number && number > looking->before)
		looking->before = number;
	if (number > looking->highest)
		looking->highest = number;
	return number || !strcmp(name, CURRENT) || is_left_behind(name) ? 0 : refuse(looking->lake, name, fail);
}

/* A file's name: NUMBER.parquet or NUMBER-NUMBER.parquet. */
static bool is_leaf(const char *name)
{
	size_t len = strspn(name, "0123456789");

	if (!len || len > NUMBER_MAX)
		return false;
	if (name[len] == '-') {
		size_t more = strspn(name + len + 1, "0123456789");

		if (!more || more > NUMBER_MAX)
			return false;
		len += 1 + more;
	}
	return !strcmp(name + len, ".parquet");
}

static int see_leaf(void *arg, const char *name, struct fail *fail)
{
	return is_leaf(name) || !strcmp(name, LAKE_METADATA) ? 0 : refuse(((struct looking *)arg)->lake, name, fail);
}

static bool is_table(const char *const *tables, const char *name)
{
	while (*tables && strcmp(*tables, name))
		tables++;
	return *tables;
}

static int see_state(void *arg, const char *name, struct fail *fail)
{
	struct looking *looking = arg;
	cleanup_fd int fd = -1;
	int r;

	if (!strcmp(name, LAKE_LOADS) || !strcmp(name, LAKE_FILES))
		return 0;
	if (!is_table(looking->tables, name))
		return refuse(looking->lake, name, fail);
	r = open_own(looking->lake, looking->lake->current, name, S_IFDIR, &fd, fail);
	return r ? r : each_name(looking->lake, fd, see_leaf, looking, fail);
}

/* Reads where the link leads. Not by following it: it has the number of a state, or is not of a lake. */
static int read_current(struct lake *lake, struct fail *fail)
{
	char to[LAKE_NAME] = "";
	ssize_t len = readlinkat(lake->dir, CURRENT, to, sizeof(to) - 1);

	if (len < 0 && errno == ENOENT)
		return 0;
	lake->number = len < 0 ? 0 : state_number(to);
	return lake->number ? 0 : refuse(lake, CURRENT, fail);
}

static bool number_of_word(const char **at, uint64_t *ret)
{
	struct text_word word;
	char text[LAKE_NAME];

	if (!text_next_word(at, " ", &word) || word.len >= sizeof(text))
		return false;
	memcpy(text, word.at, word.len);
	text[word.len] = '\0';
	return !text_parse_u64(text, ret, NULL);
}

static bool parse_load(struct text_word line, struct lake_load *ret)
{
	char text[LAKE_LINE];
	const char *at = text;
	uint64_t recording;

	if (line.len >= sizeof(text))
		return false;
	memcpy(text, line.at, line.len);
	text[line.len] = '\0';
	if (!number_of_word(&at, &recording) || !number_of_word(&at, &ret->instance) ||
	    !number_of_word(&at, &ret->first) || !number_of_word(&at, &ret->last) ||
	    !number_of_word(&at, &ret->events) || !number_of_word(&at, &ret->gaps) || at[strspn(at, " ")])
		return false;
	ret->recording = (int64_t)recording;
	return true;
}

bool lake_load_put(const struct lake_load *load, struct buf *into)
{
	return buf_addf(into, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			(uint64_t)load->recording, load->instance, load->first, load->last, load->events, load->gaps);
}

static int parse_loads(struct lake *lake, struct fail *fail)
{
	const char *at = lake->loads.data;
	size_t left = lake->loads.len;
	struct lake_load load, *added;
	struct text_word line;

	while (left && text_next_line(&at, &left, &line)) {
		if (!parse_load(line, &load))
			return fail_set(fail, -EBADMSG, "'%s/%s/%s' is damaged: line %zu is not of a load", lake->path,
					CURRENT, LAKE_LOADS, lake->nr_loaded + 1);
		added = vec_push(lake->loaded, lake->nr_loaded);
		if (!added)
			return fail_memory(fail);
		*added = load;
	}
	return 0;
}

/* Appends what a file of a state's folder has; a file that is not there has nothing. */
static int read_file(const struct lake *lake, int dir, const char *name, struct buf *into, struct fail *fail)
{
	cleanup_fd int fd = -1;
	struct stat st;
	size_t want;
	ssize_t got = 0;
	int r;

	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return 0;
	r = open_own(lake, dir, name, S_IFREG, &fd, fail);
	if (r)
		return r;
	if (fstat(fd, &st) || st.st_size > LAKE_LOADS_MAX)
		return fail_set(fail, -EFBIG, "'%s/%s/%s' is too large", lake->path, CURRENT, name);
	want = (size_t)st.st_size;
	if (!buf_reserve(into, want + 1))
		return fail_memory(fail);
	while (want && (got = io_read(fd, into->data + into->len, want)) > 0) {
		into->len += (size_t)got;
		want -= (size_t)got;
	}
	return got < 0 ? fail_set(fail, (int)got, "cannot read '%s': %s", name, strerror((int)-got)) : 0;
}

static int load_state(struct lake *lake, const char *const *tables, struct fail *fail)
{
	struct looking looking = { .lake = lake, .tables = tables };
	char name[LAKE_NAME];
	int r;

	snprintf(name, sizeof(name), "%" PRIu64, lake->number);
	r = open_own(lake, lake->dir, name, S_IFDIR, &lake->current, fail);
	if (!r)
		r = each_name(lake, lake->current, see_state, &looking, fail);
	if (!r)
		r = read_file(lake, lake->current, LAKE_LOADS, &lake->loads, fail);
	if (!r)
		r = read_file(lake, lake->current, LAKE_FILES, &lake->files, fail);
	return r ? r : parse_loads(lake, fail);
}

struct sweeping {
	struct lake *lake;
	uint64_t keep, before; /* the numbers of two states that stay */
};

/* Removes a folder that is a state, or would have been one. The lake is this user's alone. */
static int remove_state(const struct lake *lake, const char *name, struct fail *fail)
{
	cleanup_fd int fd = -1;
	int r = open_own(lake, lake->dir, name, S_IFDIR, &fd, fail);

	if (r)
		return r;
	r = dir_clear(fd, NULL, STATE_DEPTH);
	if (!r)
		r = dir_remove(lake->dir, name, fd, AT_REMOVEDIR);
	return r ? fail_set(fail, r, "cannot remove '%s/%s': %s", lake->path, name, dir_error(r)) : 0;
}

static int sweep(void *arg, const char *name, struct fail *fail)
{
	struct sweeping *sweeping = arg;
	struct lake *lake = sweeping->lake;
	uint64_t number = state_number(name);
	struct stat st;

	/* The link, or a temporary file where it could not be made without a name. */
	if (is_left_behind(name) && !fstatat(lake->dir, name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(st.st_mode))
		return unlinkat(lake->dir, name, 0) ?
			       fail_set(fail, -errno, "cannot remove '%s/%s': %s", lake->path, name, strerror(errno)) :
			       0;
	if (is_left_behind(name))
		return remove_state(lake, name, fail);
	if (!number || number == sweeping->keep || number == sweeping->before)
		return 0;
	return remove_state(lake, name, fail);
}

static int move_link(const struct lake *lake, uint64_t number, struct fail *fail)
{
	char name[LAKE_NAME];

	snprintf(name, sizeof(name), "%" PRIu64, number);
	if (fsync(lake->dir) || symlinkat(name, lake->dir, NEXT) || renameat(lake->dir, NEXT, lake->dir, CURRENT) ||
	    fsync(lake->dir))
		return fail_set(fail, -errno, "cannot make '%s/%s': %s", lake->path, CURRENT, strerror(errno));
	return 0;
}

/* Opens the directory itself, made if it does not exist and `make`. */
static int enter(bool make, struct lake *lake, struct fail *fail)
{
	const char *path = lake->path;
	cleanup_free char *leaf = NULL;
	cleanup_fd int above = -1;
	int r = dir_above(AT_FDCWD, path, path, &above, &leaf, fail);

	if (r)
		return r;
	r = make ? dir_make(above, leaf, &lake->dir) : -EEXIST;
	if (r == -EEXIST || r == -ESTALE)
		lake->dir = openat(above, leaf, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	else if (r)
		return fail_set(fail, r, "cannot make '%s': %s", path, strerror(-r));
	if (lake->dir < 0 && errno == ENOENT)
		return fail_set(fail, -ENOENT, "'%s' does not exist; 'weft lake add' makes it", path);
	if (lake->dir < 0)
		return fail_set(fail, -errno, "'%s' is not a directory of a lake: %s", path, strerror(errno));
	r = trust_check(lake->dir, S_IFDIR, path, fail);
	if (!r && flock(lake->dir, LOCK_EX | LOCK_NB))
		r = errno == EWOULDBLOCK ?
			    fail_set(fail, -EBUSY, "another weft is changing '%s'; try again later", path) :
			    fail_set(fail, -errno, "cannot lock '%s': %s", path, strerror(errno));
	return r;
}

int lake_open(const char *path, bool make, const char *const *tables, struct lake *ret, struct fail *fail)
{
	struct lake lake = LAKE_INIT;
	struct looking looking = { .lake = &lake };
	size_t len = strlen(path);
	int r;

	while (len > 1 && path[len - 1] == '/')
		len--;
	lake.path = strndup(path, len);
	r = lake.path ? enter(make, &lake, fail) : fail_memory(fail);
	if (!r)
		r = read_current(&lake, fail);
	if (!r)
		r = each_name(&lake, lake.dir, see_top, &looking, fail);
	/* Each folder with a number is a complete state. The first has no link yet if a weft was killed just then. */
	if (!r && !lake.number && looking.highest) {
		lake.number = looking.highest;
		(void)!unlinkat(lake.dir, NEXT, 0);
		r = move_link(&lake, lake.number, fail);
	}
	if (!r && lake.number)
		r = load_state(&lake, tables, fail);
	if (!r)
		r = each_name(&lake, lake.dir, sweep,
			      &(struct sweeping){ .lake = &lake, .keep = lake.number, .before = looking.before }, fail);
	if (r)
		lake_release(&lake);
	else
		*ret = lake;
	return r;
}

void lake_release(struct lake *lake)
{
	cleanup_fd_close(&lake->current);
	cleanup_fd_close(&lake->dir);
	buf_release(&lake->loads);
	buf_release(&lake->files);
	free(lake->loaded);
	free(lake->path);
	*lake = (struct lake)LAKE_INIT;
}

enum lake_known lake_knows(const struct lake *lake, const struct lake_load *load)
{
	enum lake_known known = LAKE_NEW;

	for (size_t i = 0; i < lake->nr_loaded; i++) {
		const struct lake_load *has = &lake->loaded[i];

		if (has->recording != load->recording || has->instance != load->instance)
			continue;
		if (has->first == load->first && has->last == load->last && has->events == load->events &&
		    has->gaps == load->gaps)
			return LAKE_SAME;
		if (has->first <= load->last && load->first <= has->last)
			known = LAKE_OVERLAPS;
	}
	return known;
}

struct listing {
	const struct lake *lake;
	int dir;
	uint64_t full; /* merged files of so many bytes are left out; 0: none is */
	struct lake_input *inputs;
	size_t nr;
};

static int list_input(void *arg, const char *name, struct fail *fail)
{
	struct listing *listing = arg;
	struct lake_input *input;
	struct stat st;

	if (!strcmp(name, LAKE_METADATA))
		return 0;
	if (!is_leaf(name))
		return refuse(listing->lake, name, fail);
	if (fstatat(listing->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return fail_set(fail, -errno, "cannot read '%s' in '%s': %s", name, listing->lake->path,
				strerror(errno));
	if (listing->full && strchr(name, '-') && (uint64_t)st.st_size >= listing->full)
		return 0;
	input = vec_push(listing->inputs, listing->nr);
	if (!input)
		return fail_memory(fail);
	input->fd = -1;
	input->size = (uint64_t)st.st_size;
	snprintf(input->name, sizeof(input->name), "%s", name);
	return 0;
}

static int compare_inputs(const void *one, const void *other)
{
	return strverscmp(((const struct lake_input *)one)->name, ((const struct lake_input *)other)->name);
}

/* A file that is merged again only with others of its day. */
struct dated {
	size_t input;
	int64_t day;
};

static int compare_days(const void *one, const void *other)
{
	const struct dated *left = one, *right = other;

	return (left->day > right->day) - (left->day < right->day);
}

static bool is_again(const struct lake_input *input, const struct lake_choice *choice)
{
	return strchr(input->name, '-') && input->size >= choice->small;
}

/* Which day each of them is of, sorted by day. */
static int date(const struct listing *listing, const char *table, const struct lake_choice *choice, struct dated *dated,
		size_t *ret_nr, struct fail *fail)
{
	int r = 0;

	*ret_nr = 0;
	for (size_t i = 0; !r && i < listing->nr; i++) {
		cleanup_fd int fd = -1;

		if (!is_again(&listing->inputs[i], choice))
			continue;
		r = open_own(listing->lake, listing->dir, listing->inputs[i].name, S_IFREG, &fd, fail);
		if (!r)
			r = choice->day(fd, table, &dated[*ret_nr].day, fail);
		if (r)
			return fail_in(fail, r, "'%s/%s'", table, listing->inputs[i].name);
		dated[(*ret_nr)++].input = i;
	}
	if (*ret_nr)
		qsort(dated, *ret_nr, sizeof(*dated), compare_days);
	return r;
}

/* Takes the files off the list that are large enough, and too few of a day. */
static int leave_alone(struct listing *listing, const char *table, const struct lake_choice *choice, struct fail *fail)
{
	cleanup_free struct dated *dated = calloc(listing->nr + 1, sizeof(*dated));
	size_t nr = 0, kept = 0;
	int r = dated ? date(listing, table, choice, dated, &nr, fail) : fail_memory(fail);

	for (size_t i = 0, end; !r && i < nr; i = end) {
		for (end = i; end < nr && dated[end].day == dated[i].day;)
			end++;
		for (size_t k = i; end - i < LAKE_AGAIN && k < end; k++)
			*listing->inputs[dated[k].input].name = '\0';
	}
	for (size_t i = 0; !r && i < listing->nr; i++)
		if (*listing->inputs[i].name)
			listing->inputs[kept++] = listing->inputs[i];
	if (!r)
		listing->nr = kept;
	return r;
}

int lake_inputs(const struct lake *lake, const char *table, const struct lake_choice *choice, struct lake_input **ret,
		size_t *ret_nr, struct fail *fail)
{
	cleanup_fd int dir = -1;
	struct listing listing = { .lake = lake, .full = choice->full };
	int r = open_own(lake, lake->current, table, S_IFDIR, &dir, fail);

	listing.dir = dir;
	if (!r)
		r = each_name(lake, dir, list_input, &listing, fail);
	if (!r)
		r = leave_alone(&listing, table, choice, fail);
	if (listing.nr)
		qsort(listing.inputs, listing.nr, sizeof(*listing.inputs), compare_inputs);
	if (listing.nr > choice->max)
		listing.nr = choice->max;
	/* One that was merged has nothing to be merged with. */
	if (listing.nr == 1 && strchr(listing.inputs[0].name, '-'))
		listing.nr = 0;
	for (size_t i = 0; !r && i < listing.nr; i++)
		r = open_own(lake, dir, listing.inputs[i].name, S_IFREG, &listing.inputs[i].fd, fail);
	if (r) {
		lake_inputs_free(listing.inputs, listing.nr);
		return r;
	}
	*ret = listing.inputs;
	*ret_nr = listing.nr;
	return 0;
}

int lake_files(const char *path, const char *table, struct lake_input **ret, size_t *ret_nr, struct fail *fail)
{
	enum { FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC };
	cleanup_fd int top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), state = -1, dir = -1;
	struct lake lake = { .path = (char *)(uintptr_t)path, .dir = top, .current = -1, .read_only = true };
	struct listing listing = { .lake = &lake };
	char name[LAKE_NAME];
	int r = top < 0 ? fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno)) : 0;

	if (!r)
		r = read_current(&lake, fail);
	if (!r && !lake.number)
		r = fail_set(fail, -ENOENT, "'%s' is not a directory of a lake, as 'weft lake add' makes it", path);
	if (r)
		return r;
	snprintf(name, sizeof(name), "%" PRIu64, lake.number);
	state = openat(top, name, FLAGS | O_DIRECTORY);
	dir = state < 0 ? -1 : openat(state, table, FLAGS | O_DIRECTORY);
	if (dir < 0)
		return fail_set(fail, -errno, "cannot read the table '%s' of '%s': %s", table, path, strerror(errno));
	listing.dir = dir;
	r = each_name(&lake, dir, list_input, &listing, fail);
	for (size_t i = 0; !r && i < listing.nr; i++) {
		listing.inputs[i].fd = openat(dir, listing.inputs[i].name, FLAGS);
		if (listing.inputs[i].fd < 0)
			r = fail_set(fail, -errno, "cannot read '%s' of '%s': %s", listing.inputs[i].name, path,
				     strerror(errno));
	}
	if (r) {
		lake_inputs_free(listing.inputs, listing.nr);
		return r;
	}
	if (!listing.nr)
		return fail_set(fail, -ENOENT, "the table '%s' of '%s' has no files", table, path);
	*ret = listing.inputs;
	*ret_nr = listing.nr;
	return 0;
}

void lake_inputs_free(struct lake_input *inputs, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		cleanup_fd_close(&inputs[i].fd);
	free(inputs);
}

int lake_next(const struct lake *lake, char name[LAKE_NAME], char **ret_path, struct fail *fail)
{
	snprintf(name, LAKE_NAME, "%" PRIu64, lake->number + 1);
	return asprintf(ret_path, "%s/%s", lake->path, name) < 0 ? fail_memory(fail) : 0;
}

struct linking {
	const struct lake *lake;
	int from, to;
	const char *table;
	const struct lake_completion *completion;
	struct u64_map rows;     /* uint64_t: rows + 1, by the hash of "TABLE/LEAF" */
	struct buf all;          /* the text of LAKE_FILES */
	struct lake_file *files; /* of the table */
	size_t nr;
};

static int link_file(void *arg, const char *name, struct fail *fail)
{
	struct linking *linking = arg;

	if (!strcmp(name, LAKE_METADATA) || !linking->completion->kept(linking->completion->arg, linking->table, name))
		return 0;
	if (linkat(linking->from, name, linking->to, name, 0))
		return fail_set(fail, -errno, "cannot link '%s/%s' in '%s': %s", linking->table, name,
				linking->lake->path, strerror(errno));
	return 0;
}

/* Files and folders are on the disk before their names. */
static int sync_one(int dir, const char *name)
{
	cleanup_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 || fsync(fd) ? -errno : 0;
}

static int sync_file(void *arg, const char *name, struct fail *fail)
{
	struct linking *linking = arg;
	int r = sync_one(linking->to, name);

	return r ? fail_set(fail, r, "cannot write '%s/%s' in '%s' to the disk: %s", linking->table, name,
			    linking->lake->path, strerror(-r)) :
		   0;
}

/* The lines of LAKE_FILES. */
static int know_files(struct linking *linking, const struct buf *text, struct fail *fail)
{
	const char *at = text->data;
	size_t left = text->len;
	struct text_word line;

	while (left && text_next_line(&at, &left, &line)) {
		const char *space = memchr(line.at, ' ', line.len);
		char number[LAKE_NAME];
		uint64_t rows, *known;

		if (!space || line.len - (size_t)(space - line.at) > sizeof(number))
			return fail_set(fail, -EBADMSG, "'%s/%s/%s' is damaged", linking->lake->path, CURRENT,
					LAKE_FILES);
		snprintf(number, sizeof(number), "%.*s", (int)(line.at + line.len - space - 1), space + 1);
		if (text_parse_u64(number, &rows, NULL))
			return fail_set(fail, -EBADMSG, "'%s/%s/%s' is damaged", linking->lake->path, CURRENT,
					LAKE_FILES);
		known = u64_map_add(&linking->rows, xxh64(line.at, (size_t)(space - line.at)));
		if (!known)
			return fail_memory(fail);
		*known = rows + 1;
	}
	return 0;
}

static int note_file(void *arg, const char *name, struct fail *fail)
{
	struct linking *linking = arg;
	char path[4 * LAKE_NAME];
	uint64_t *rows;
	struct lake_file *file;
	struct stat st;

	if (!is_leaf(name))
		return 0;
	snprintf(path, sizeof(path), "%s/%s", linking->table, name);
	rows = u64_map_find(&linking->rows, xxh64(path, strlen(path)));
	if (!rows || fstatat(linking->to, name, &st, AT_SYMLINK_NOFOLLOW))
		return fail_set(fail, -EBADMSG, "'%s/%s/%s' does not have the rows of '%s'", linking->lake->path,
				CURRENT, LAKE_FILES, path);
	file = vec_push(linking->files, linking->nr);
	if (!file || !buf_addf(&linking->all, "%s %" PRIu64 "\n", path, *rows - 1))
		return fail_memory(fail);
	*file = (struct lake_file){ .rows = *rows - 1, .size = (uint64_t)st.st_size };
	snprintf(file->leaf, sizeof(file->leaf), "%s", name);
	return 0;
}

static int compare_files(const void *one, const void *other)
{
	return strverscmp(((const struct lake_file *)one)->leaf, ((const struct lake_file *)other)->leaf);
}

/* Lets the owner say something about all files of the table. */
static int describe_table(struct linking *linking, struct fail *fail)
{
	const struct lake_completion *completion = linking->completion;
	cleanup_fd int metadata = -1;
	struct linking inside = *linking;
	int r;

	linking->nr = 0;
	r = each_name(linking->lake, linking->to, note_file, linking, fail);
	if (linking->nr > 1)
		qsort(linking->files, linking->nr, sizeof(*linking->files), compare_files);
	if (!r && mkdirat(linking->to, LAKE_METADATA, 0700))
		r = fail_set(fail, -errno, "cannot write '%s': %s", linking->lake->path, strerror(errno));
	if (!r)
		r = open_own(linking->lake, linking->to, LAKE_METADATA, S_IFDIR, &metadata, fail);
	if (!r)
		r = completion->describe(completion->arg, linking->table, linking->files, linking->nr, metadata, fail);
	inside.to = metadata;
	if (!r)
		r = each_name(linking->lake, metadata, sync_file, &inside, fail);
	return !r && fsync(metadata) ?
		       fail_set(fail, -errno, "cannot write '%s': %s", linking->lake->path, strerror(errno)) :
		       r;
}

static int complete_table(struct linking *linking, int folder, struct fail *fail)
{
	cleanup_fd int from = -1, to = -1;
	int r;

	if (mkdirat(folder, linking->table, 0700) && errno != EEXIST)
		return fail_set(fail, -errno, "cannot write '%s': %s", linking->lake->path, strerror(errno));
	r = open_own(linking->lake, folder, linking->table, S_IFDIR, &to, fail);
	linking->to = to;
	if (!r)
		r = each_name(linking->lake, to, sync_file, linking, fail);
	if (!r && linking->lake->current >= 0 &&
	    !faccessat(linking->lake->current, linking->table, F_OK, AT_SYMLINK_NOFOLLOW)) {
		r = open_own(linking->lake, linking->lake->current, linking->table, S_IFDIR, &from, fail);
		linking->from = from;
		if (!r)
			r = each_name(linking->lake, from, link_file, linking, fail);
	}
	if (!r)
		r = describe_table(linking, fail);
	return !r && fsync(to) ? fail_set(fail, -errno, "cannot write '%s': %s", linking->lake->path, strerror(errno)) :
				 r;
}

/* Appends the loads that were there before to the file of the new ones. */
static int complete_loads(const struct lake *lake, int folder, struct fail *fail)
{
	cleanup_fd int fd = openat(folder, LAKE_LOADS, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write(fd, lake->loads.data, lake->loads.len);

	if (!r && fsync(fd))
		r = -errno;
	return r ? fail_set(fail, r, "cannot write '%s': %s", lake->path, strerror(-r)) : 0;
}

static int complete_files(const struct linking *linking, int folder, struct fail *fail)
{
	cleanup_fd int fd = openat(folder, LAKE_FILES, O_WRONLY | O_TRUNC | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : io_write(fd, linking->all.data, linking->all.len);

	if (!r && fsync(fd))
		r = -errno;
	return r ? fail_set(fail, r, "cannot write '%s': %s", linking->lake->path, strerror(-r)) : 0;
}

int lake_complete(const struct lake *lake, int folder, const char *const *tables,
		  const struct lake_completion *completion, struct fail *fail)
{
	struct linking linking = { .lake = lake, .completion = completion, .all = BUF_INIT };
	cleanup_buf struct buf added = BUF_INIT;
	int r;

	u64_map_init(&linking.rows, sizeof(uint64_t));
	r = complete_loads(lake, folder, fail);
	if (!r)
		r = read_file(lake, folder, LAKE_FILES, &added, fail);
	if (!r)
		r = know_files(&linking, &lake->files, fail);
	if (!r)
		r = know_files(&linking, &added, fail);
	for (size_t i = 0; !r && tables[i]; i++) {
		linking.table = tables[i];
		r = complete_table(&linking, folder, fail);
	}
	if (!r)
		r = complete_files(&linking, folder, fail);
	free(linking.files);
	buf_release(&linking.all);
	u64_map_release(&linking.rows);
	return !r && fsync(folder) ? fail_set(fail, -errno, "cannot write '%s': %s", lake->path, strerror(errno)) : r;
}

int lake_switch(struct lake *lake, struct fail *fail)
{
	uint64_t number = lake->number + 1;
	struct fail later = FAIL_INIT;
	int r = move_link(lake, number, fail);

	if (r)
		return r;
	/* What cannot be removed now is removed the next time. */
	(void)!each_name(lake, lake->dir, sweep,
			 &(struct sweeping){ .lake = lake, .keep = number, .before = lake->number }, &later);
	lake->number = number;
	return 0;
}

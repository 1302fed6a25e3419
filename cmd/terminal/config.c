// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/options_check.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/near.h"
#include "lib/ground/base/option_lines.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/trust.h"
#include "lib/ground/base/vec.h"

enum { CONFIG_MAX = 1 << 20, FILES_MAX = 256 };

/*
 * The words of the new command line, and for each word from a file its place there. Never freed, because argp points
 * into it.
 */
static struct words {
	char **words;
	char **places; /* NULL for words of the command line */
	int nr;
} made;

__attribute__((noreturn)) static void die(const char *command, const struct fail *fail)
{
	fprintf(stderr, "%s: %s\n", command, fail->text);
	exit(EXIT_USAGE);
}

static void add_word(const char *command, char *word, char *place)
{
	char **words = word ? reallocarray(made.words, (size_t)made.nr + 2, sizeof(*words)) : NULL;
	char **places = words ? reallocarray(made.places, (size_t)made.nr + 2, sizeof(*places)) : NULL;
	struct fail fail;

	if (words)
		made.words = words;
	if (!places) {
		fail_memory(&fail);
		die(command, &fail);
	}
	made.places = places;
	made.words[made.nr] = word;
	made.places[made.nr++] = place;
	made.words[made.nr] = NULL;
}

struct line {
	const struct argp *argp;
	const char *command, *file;
	unsigned number;
};

__attribute__((noreturn)) static void wrong(const struct line *line, struct fail *fail)
{
	fail_in(fail, -EINVAL, "%s:%u", line->file, line->number);
	die(line->command, fail);
}

/* Adds the option with its long name, also for letters and aliases: "--event=VALUE". */
static void add_option(const struct line *line, const char *name, struct text_word value, bool has_value)
{
	struct near near = near_to(name);
	const struct argp_option *option = options_find(line->argp, name[1] ? name : NULL, name[1] ? 0 : *name, &near);
	struct fail fail;
	char *word, *place;
	int len;

	if (!option) {
		near_fail(&near, &fail, -EINVAL, "no option '%s'", name);
		wrong(line, &fail);
	}
	if (!strcmp(option->name, "config")) {
		fail_set(&fail, -EINVAL, "a file of options cannot name another file of options");
		wrong(line, &fail);
	}
	if (option->arg && !has_value && !(option->flags & OPTION_ARG_OPTIONAL)) {
		fail_set(&fail, -EINVAL, "'%s' needs a value: %s = %s", name, name, option->arg);
		wrong(line, &fail);
	}
	if (!option->arg && has_value) {
		fail_set(&fail, -EINVAL, "'%s' takes no value", name);
		wrong(line, &fail);
	}
	len = has_value ? asprintf(&word, "--%s=%.*s", option->name, (int)value.len, value.at) :
			  asprintf(&word, "--%s", option->name);
	if (len < 0 || asprintf(&place, "%s:%u: ", line->file, line->number) < 0)
		word = place = NULL;
	add_word(line->command, word, place);
}

/* Which lines of a text are read. */
enum part { ALL, BEFORE_SECTIONS, SECTIONS };

static void read_text(const struct argp *argp, const char *command, const char *file, struct buf *text, enum part part)
{
	struct line line = { .argp = argp, .command = command, .file = file };
	struct option_lines lines = { .at = buf_str(text), .left = text->len };
	struct option_line option;
	struct fail fail;
	bool in_section = false;
	int r;

	while ((r = option_lines_next(&lines, &option, &fail)) > 0) {
		line.number = lines.number;
		in_section |= option.is_section;
		if (part == ALL || in_section == (part == SECTIONS))
			add_option(&line, option.name, option.value, option.has_value);
	}
	line.number = lines.number;
	if (r)
		wrong(&line, &fail);
}

static void read_bytes(const char *command, const char *file, int fd, struct buf *into)
{
	struct fail fail;
	int err = io_read_all(fd, CONFIG_MAX, into);

	if (!err)
		return;
	fail_set(&fail, err, "cannot read '%s': %s", file, err == -EFBIG ? "it is larger than 1 MiB" : strerror(-err));
	die(command, &fail);
}

static void read_file(const struct argp *argp, const char *command, const char *file)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_fd int fd = -1;
	struct fail fail;

	if (readable_open(file, &fd, &fail))
		die(command, &fail);
	read_bytes(command, file, fd, &text);
	read_text(argp, command, file, &text, ALL);
}

/* A file of a directory of options. */
struct part_file {
	char *path;
	struct buf text;
};

struct part_files {
	struct part_file *at;
	size_t nr;
};

static int compare_paths(const void *a, const void *b)
{
	return strcmp(((const struct part_file *)a)->path, ((const struct part_file *)b)->path);
}

/* Reads a file of the directory, if its name is that of a file of options. */
static int read_entry(struct part_files *files, const char *command, const char *dir, int dir_fd, const char *name,
		      struct fail *fail)
{
	static const char suffix[] = ".conf";
	size_t len = strlen(name);
	cleanup_fd int fd = -1;
	struct part_file *added;
	int err;

	if (*name == '.' || len < strlen(suffix) || strcmp(name + len - strlen(suffix), suffix) != 0)
		return 0;
	if (files->nr == FILES_MAX)
		return fail_set(fail, -E2BIG, "'%s' has more than %d files", dir, FILES_MAX);
	added = vec_push(files->at, files->nr);
	if (!added)
		return fail_memory(fail);
	*added = (struct part_file){ .text = BUF_INIT };
	if (asprintf(&added->path, "%s/%s", dir, name) < 0) {
		added->path = NULL;
		return fail_memory(fail);
	}
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fail_set(fail, -errno, "cannot open '%s': %s", added->path,
				errno == ELOOP ? "it is a symbolic link, and a directory of options has files" :
						 strerror(errno));
	err = trust_check(fd, S_IFREG, added->path, fail);
	if (!err)
		read_bytes(command, added->path, fd, &added->text);
	return err;
}

static int list_files(struct part_files *files, const char *command, const char *path, struct fail *fail)
{
	const struct dirent *entry;
	int fd = -1, err = trust_open(path, &fd, fail);
	DIR *dir;

	if (!err)
		err = trust_check(fd, S_IFDIR, path, fail);
	dir = err ? NULL : fdopendir(fd);
	if (!dir) {
		cleanup_fd_close(&fd);
		return err ? err : fail_set(fail, -errno, "cannot read '%s': %s", path, strerror(errno));
	}
	while (!err && (entry = readdir(dir)))
		err = read_entry(files, command, path, fd, entry->d_name, fail);
	closedir(dir);
	if (!err && !files->nr)
		return fail_set(fail, -ENOENT, "'%s' has no file whose name ends with .conf", path);
	return err;
}

/*
 * What stands before the sections of all files is for the main instance, also if an earlier file ends with a section.
 */
static void read_directory(const struct argp *argp, const char *command, const char *path)
{
	struct part_files files = { .nr = 0 };
	struct fail fail;

	if (list_files(&files, command, path, &fail))
		die(command, &fail);
	qsort(files.at, files.nr, sizeof(*files.at), compare_paths);
	for (size_t i = 0; i < files.nr; i++)
		read_text(argp, command, files.at[i].path, &files.at[i].text, BEFORE_SECTIONS);
	for (size_t i = 0; i < files.nr; i++)
		read_text(argp, command, files.at[i].path, &files.at[i].text, SECTIONS);
	for (size_t i = 0; i < files.nr; i++) {
		buf_release(&files.at[i].text);
		free(files.at[i].path);
	}
	free(files.at);
}

static void read_place(const struct argp *argp, const char *command, const char *path)
{
	cleanup_fd int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		read_file(argp, command, path);
	else
		read_directory(argp, command, path);
}

bool config_takes_next(const struct argp *argp, const char *word)
{
	const struct argp_option *option;

	if (word[1] == '-') {
		option = strchr(word, '=') ? NULL : options_find(argp, word + 2, 0, NULL);
		return option && option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
	}
	for (word++; *word; word++) {
		option = options_find(argp, NULL, *word, NULL);
		if (option && option->arg)
			return !word[1] && !(option->flags & OPTION_ARG_OPTIONAL);
	}
	return false;
}

/* Whether a word of the command line is not behind the options: those of a COMMAND are its own. */
static bool is_ours(const char *word, bool runs_command)
{
	bool is_option = word[0] == '-' && word[1];

	return is_option ? strcmp(word, "--") != 0 : !runs_command;
}

void config_expand(const struct argp *argp, int *argc, char ***argv)
{
	bool runs = argp->args_doc && strstr(argp->args_doc, "COMMAND");
	char **words = *argv;
	struct fail fail;
	int i = 1;

	if (!options_find(argp, "config", 0, NULL))
		return;
	add_word(words[0], words[0], NULL);
	for (; i < *argc && is_ours(words[i], runs); i++) {
		if (!strncmp(words[i], "--config=", 9)) {
			read_place(argp, words[0], words[i] + 9);
		} else if (!strcmp(words[i], "--config") && i + 1 == *argc) {
			fail_set(&fail, -EINVAL, "--config needs a FILE");
			die(words[0], &fail);
		} else if (!strcmp(words[i], "--config")) {
			read_place(argp, words[0], words[++i]);
		} else {
			bool two = *words[i] == '-' && config_takes_next(argp, words[i]) && i + 1 < *argc;

			add_word(words[0], words[i], NULL);
			if (two)
				add_word(words[0], words[++i], NULL);
		}
	}
	for (; i < *argc; i++)
		add_word(words[0], words[i], NULL);
	*argc = made.nr;
	*argv = made.words;
}

bool config_was_read(void)
{
	for (int i = 0; i < made.nr; i++)
		if (made.places[i])
			return true;
	return false;
}

const char *config_place(const struct argp_state *state)
{
	int at = state->next - 1;

	if (state->argv != made.words || at < 0 || at >= made.nr || !made.places[at])
		return "";
	return made.places[at];
}

enum { DEFAULTS_MAX = 64 << 10 };

static bool left_out;
static char **expanded; /* the new command line: argp keeps pointers to it as long as the program runs */

/* The place that is read, and the command. */
struct reading {
	const struct command *command;
	const struct argp *argp; /* its options */
	const char *source;      /* for messages */
	unsigned line;
	size_t nr; /* words of `expanded` */
};

void defaults_leave_out(void)
{
	left_out = true;
}

__attribute__((noreturn)) static void no_memory(void)
{
	fputs("weft: out of memory\n", stderr);
	exit(EXIT_FAILED);
}

__attribute__((noreturn, format(printf, 2, 3))) static void defaults_wrong(const struct reading *reading,
									   const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	command_warn("%s:%u: %s; 'weft --no-config %s' ignores your defaults", reading->source, reading->line, text,
		     reading->command->name);
	exit(EXIT_USAGE);
}

static void defaults_add_word(struct reading *reading, char *word)
{
	char **added = word ? vec_push(expanded, reading->nr) : NULL;

	if (!added)
		no_memory();
	*added = word;
}

/* Returns the next word. Words are separated by blanks; quotes go around a word with blanks. NULL at the end. */
static char *next_word(const struct reading *reading, const char **at, const char *end)
{
	char *word, *to, quote = '\0';

	while (*at < end && strchr(" \t\r", **at))
		(*at)++;
	if (*at == end)
		return NULL;
	word = to = malloc((size_t)(end - *at) + 1);
	if (!word)
		no_memory();
	for (; *at < end && (quote || !strchr(" \t\r", **at)); (*at)++) {
		if (quote ? **at == quote : **at == '\'' || **at == '"')
			quote = quote ? '\0' : **at;
		else
			*to++ = **at;
	}
	if (quote)
		defaults_wrong(reading, "a quote is not closed");
	*to = '\0';
	return word;
}

/*
 * Takes options and their values only: any other word would become an argument, such as the command that record runs.
 */
static void read_words(struct reading *reading, const char *at, const char *end)
{
	char *word;

	while ((word = next_word(reading, &at, end))) {
		if (word[0] != '-' || !word[1] || !strcmp(word, "--"))
			defaults_wrong(reading, "'%s' is no option", word);
		defaults_add_word(reading, word);
		if (!config_takes_next(reading->argp, word))
			continue;
		word = next_word(reading, &at, end);
		if (!word)
			defaults_wrong(reading, "'%s' needs a value", expanded[reading->nr - 1]);
		defaults_add_word(reading, word);
	}
}

static void check_name(const struct reading *reading, const char *name)
{
	struct near near = near_to(name);
	struct fail fail = FAIL_INIT;

	if (command_find(name))
		return;
	for (size_t i = 0; command_at(i); i++)
		if (command_at(i)->group)
			near_offer(&near, command_at(i)->name);
	near_fail(&near, &fail, -ENOENT, "no command '%s'", name);
	defaults_wrong(reading, "%s", fail.text);
}

static void read_line(struct reading *reading, const char *at, size_t len)
{
	const char *equals = memchr(at, '=', len), *end = at + len;
	char name[64];
	size_t name_len;

	for (; at < end && strchr(" \t\r", *at); at++)
		continue;
	if (at == end || *at == '#')
		return;
	if (!equals)
		defaults_wrong(reading, "'%.*s' is not COMMAND = OPTION...", (int)(end - at), at);
	for (name_len = (size_t)(equals - at); name_len && strchr(" \t", at[name_len - 1]); name_len--)
		continue;
	snprintf(name, sizeof(name), "%.*s", (int)name_len, at);
	check_name(reading, name);
	if (!strcmp(name, reading->command->name))
		read_words(reading, equals + 1, end);
}

static void read_lines(struct reading *reading, const char *text, size_t len, const char *ends)
{
	const char *end = text + len;

	reading->line = 1;
	while (text < end) {
		const char *line_end = text;

		while (line_end < end && !strchr(ends, *line_end))
			line_end++;
		read_line(reading, text, (size_t)(line_end - text));
		reading->line++;
		text = line_end + 1;
	}
}

/* Returns NULL if there is none. */
static char *config_path(void)
{
	const char *named = getenv("WEFT_CONFIG"), *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int len;

	if (named)
		return *named ? strdup(named) : NULL;
	if (xdg && *xdg == '/')
		len = asprintf(&path, "%s/weft/config", xdg);
	else if (home && *home == '/')
		len = asprintf(&path, "%s/.config/weft/config", home);
	else
		return NULL;
	return len < 0 ? NULL : path;
}

static void defaults_read_file(struct reading *reading, char *path)
{
	cleanup_fd int fd = -1;
	cleanup_buf struct buf text = BUF_INIT;
	struct fail fail = FAIL_INIT;
	ssize_t got = 1;
	int r = trust_open(path, &fd, &fail);

	if (r) {
		if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			command_warn("note: the defaults are left out: %s", fail.text);
		return;
	}
	if (trust_check(fd, S_IFREG, path, &fail)) {
		command_warn("note: the defaults of %s are left out", fail.text);
		return;
	}
	while (got > 0 && text.len < DEFAULTS_MAX) {
		if (!buf_reserve(&text, 4096))
			no_memory();
		got = read(fd, text.data + text.len, text.size - text.len);
		text.len += got > 0 ? (size_t)got : 0;
	}
	reading->source = path;
	if (text.len && memchr(text.data, 0, text.len))
		defaults_wrong(reading, "it is no text");
	read_lines(reading, buf_str(&text), text.len, "\n");
}

void defaults_expand(const struct command *command, const struct argp *argp, int *argc, char ***argv)
{
	struct reading reading = { .command = command, .argp = argp };
	const char *options = getenv("WEFT_OPTIONS");
	bool says = *argc > 1 && !strcmp((*argv)[1], "--no-config");
	cleanup_free char *path = left_out || says ? NULL : config_path();
	int skip = says ? 2 : 1;

	if (!says && (left_out || (!path && !options)))
		return;
	defaults_add_word(&reading, (*argv)[0]);
	if (path)
		defaults_read_file(&reading, path);
	if (options && !left_out && !says) {
		reading.source = "WEFT_OPTIONS";
		read_lines(&reading, options, strlen(options), ";\n");
	}
	for (int i = skip; i < *argc; i++)
		defaults_add_word(&reading, (*argv)[i]);
	*argc = (int)reading.nr;
	/* argv ends with NULL. */
	if (!vec_push(expanded, reading.nr))
		no_memory();
	*argv = expanded;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * readlines FILE...: reads every file that a FILE names, one a line, and prints "NAME:LINE" for each of their lines,
 * sorted, but those that say nothing is set: "none", the help of a trigger file, an event that is off. Of a snapshot it
 * prints only whether there is one. Thousands of small files on an emulated CPU, so each costs three system calls and
 * no process.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 20];

struct lines {
	char **at;
	size_t n, room;
};

static bool ends(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len >= n && !strcmp(name + len - n, end);
}

/* The length, 0 where the file cannot be read; whole up to a MiB, of a snapshot its head. */
static size_t read_text(const char *name)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK);
	bool snapshot = ends(name, "/snapshot");
	size_t len = 0;
	ssize_t got = 1;

	if (fd < 0)
		return 0;
	while (got > 0 && len < sizeof(text) - 1) {
		got = read(fd, text + len, sizeof(text) - 1 - len);
		if (got > 0)
			len += (size_t)got;
		/* The kernel fills at least a quarter of a page before it returns less than all. */
		if (snapshot || len < 1024)
			break;
	}
	close(fd);
	text[len] = '\0';
	return len;
}

static void add_line(struct lines *lines, const char *name, const char *line)
{
	if (lines->n == lines->room) {
		lines->room = lines->room ? 2 * lines->room : 1024;
		lines->at = realloc(lines->at, lines->room * sizeof(*lines->at));
	}
	if (!lines->at || asprintf(&lines->at[lines->n++], "%s:%s", name, line) < 0)
		exit(1);
}

static void add_lines(struct lines *lines, const char *name)
{
	bool trigger = ends(name, "/trigger"), enable = ends(name, "/enable"), snapshot = ends(name, "/snapshot");

	for (char *line = text, *next; *line; line = next) {
		size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		if ((trigger && *line == '#') || (enable && !strcmp(line, "0")) || !strcmp(line, "none") ||
		    (snapshot && !strstr(line, "Snapshot is")))
			continue;
		add_line(lines, name, line);
	}
}

/* ROOT/events/SYSTEM/EVENT/enable, while ROOT/events/enable says that none is on. */
static bool known_off(const char *name)
{
	static char root[4096];
	static bool off;
	const char *events = strstr(name, "/events/"), *slash;

	if (!events || !ends(name, "/enable") || !(slash = strchr(events + 8, '/')))
		return false;
	if (strncmp(root, name, (size_t)(events - name)) || root[events - name]) {
		snprintf(root, sizeof(root), "%.*s/events/enable", (int)(events - name), name);
		off = read_text(root) && !strcmp(text, "0\n");
		root[events - name] = '\0';
	}
	return off;
}

static void add_files(struct lines *lines, FILE *list)
{
	char name[4096];

	while (fgets(name, sizeof(name), list)) {
		name[strcspn(name, "\n")] = '\0';
		if (!known_off(name) && read_text(name))
			add_lines(lines, name);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int main(int argc, char **argv)
{
	struct lines lines = {};

	for (int i = 1; i < argc; i++) {
		FILE *list = fopen(argv[i], "r");

		if (!list) {
			fprintf(stderr, "readlines: cannot open %s\n", argv[i]);
			return 2;
		}
		add_files(&lines, list);
		fclose(list);
	}
	qsort(lines.at, lines.n, sizeof(*lines.at), compare);
	for (size_t i = 0; i < lines.n; i++)
		puts(lines.at[i]);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * readlines FILE: reads every file that FILE names, one a line, and prints "NAME:LINE" for each of their lines but those that say nothing
 * is set: "none", the help of a trigger file, an event that is off. Thousands of small files on an emulated CPU, so each costs three
 * system calls and no process.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char text[1 << 20];

static bool ends(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len >= n && !strcmp(name + len - n, end);
}

/* The length, 0 where the file cannot be read; whole up to a MiB. */
static size_t read_text(const char *name)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK);
	size_t len = 0;
	ssize_t got = 1;

	if (fd < 0)
		return 0;
	while (got > 0 && len < sizeof(text) - 1) {
		got = read(fd, text + len, sizeof(text) - 1 - len);
		if (got > 0)
			len += (size_t)got;
	}
	close(fd);
	text[len] = '\0';
	return len;
}

static void print_lines(const char *name)
{
	bool trigger = ends(name, "/trigger"), enable = ends(name, "/enable");

	for (char *line = text, *next; *line; line = next) {
		size_t len = strcspn(line, "\n");

		next = line + len + (line[len] == '\n');
		line[len] = '\0';
		if ((trigger && *line == '#') || (enable && !strcmp(line, "0")) || !strcmp(line, "none"))
			continue;
		printf("%s:%s\n", name, line);
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

int main(int argc, char **argv)
{
	FILE *list = argc == 2 ? fopen(argv[1], "r") : NULL;
	char name[4096];

	if (!list) {
		fprintf(stderr, "usage: readlines FILE\n");
		return 2;
	}
	while (fgets(name, sizeof(name), list)) {
		name[strcspn(name, "\n")] = '\0';
		if (!known_off(name) && read_text(name))
			print_lines(name);
	}
	fclose(list);
	return 0;
}

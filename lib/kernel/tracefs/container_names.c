// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/container_names.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/dir.h"
#include "lib/ground/base/json_tree.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/u64_map.h"
#include "lib/ground/base/xxh64.h"
#include "lib/kernel/tracefs/task_scan.h"
#include "lib/meaning/follow/who.h"

enum { FILE_MAX = 4 << 20, ID_MAX = 128, PATH_SIZE = 1024, HOMES_MAX = 256, ENTRIES_MAX = 1 << 16, NAMES_MAX = 4096 };

/* One question: the name of a container or a pod. */
struct question {
	int root;
	const char *id;
	struct buf *name;
	bool starved;
};

/* Whether an id can be a part of a path. */
static bool is_plain(const char *id)
{
	size_t len = strlen(id);

	for (const char *at = id; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("_.-", *at))
			return false;
	return len && len < ID_MAX && *id != '.';
}

/* Reads a file below the root. What cannot or must not be read is empty. */
__attribute__((format(printf, 3, 4))) static bool read_state(struct question *question, struct buf *into,
							     const char *format, ...)
{
	char path[PATH_SIZE];
	cleanup_fd int dir = -1, fd = -1;
	cleanup_free char *leaf = NULL;
	struct stat st;
	va_list args;
	int len;

	*path = '/';
	va_start(args, format);
	len = vsnprintf(path + 1, sizeof(path) - 1, format, args);
	va_end(args);
	into->len = 0;
	if (len < 0 || (size_t)len >= sizeof(path) - 1 ||
	    dir_above(question->root, path + (question->root != CONTAINERS_HERE), path, &dir, &leaf, NULL))
		return false;
	fd = openat(dir, leaf, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return false;
	for (;;) {
		char text[8192];
		ssize_t got = read(fd, text, sizeof(text));

		if (got <= 0 || into->len > FILE_MAX)
			return !got && into->len;
		if (!buf_add(into, text, (size_t)got)) {
			question->starved = true;
			return false;
		}
	}
}

/* NULL: there is none, or it must not be entered. */
static DIR *open_dir(const struct question *question, const char *path)
{
	cleanup_fd int dir = -1;
	char whole[PATH_SIZE];

	snprintf(whole, sizeof(whole), "/%s", path);
	if (dir_open(question->root, whole + (question->root != CONTAINERS_HERE), path, &dir, NULL))
		return NULL;
	return dir_entries(dir);
}

/* Appends the string of a key. False: it has none. */
static bool take_text(struct question *question, const struct json_tree *tree, const struct json_node *of,
		      const char *key)
{
	const struct json_node *node = json_tree_member(tree, of, key);

	return node && node->kind == JSON_STRING && json_tree_string(node, question->name);
}

/* NAMESPACE/POD/NAME, by the keys of Kubernetes; nothing is appended unless all are there. */
static bool take_pod(struct question *question, const struct json_tree *tree, const struct json_node *of,
		     const char *const keys[3])
{
	size_t before = question->name->len;

	if (take_text(question, tree, of, keys[0]) && buf_add(question->name, "/", 1) &&
	    take_text(question, tree, of, keys[1]) && buf_add(question->name, "/", 1) &&
	    take_text(question, tree, of, keys[2]))
		return true;
	question->name->len = before;
	return false;
}

static const char *const labels[] = { "io.kubernetes.pod.namespace", "io.kubernetes.pod.name",
				      "io.kubernetes.container.name" },
			 *const cri[] = { "io.kubernetes.cri.sandbox-namespace", "io.kubernetes.cri.sandbox-name",
					  "io.kubernetes.cri.container-name" };

/* The file of Docker: the name begins with '/'. */
static bool in_docker(struct question *question, const char *data_root)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_tree tree = { .nodes = NULL };
	const struct json_node *top;
	size_t before = question->name->len;
	bool found = false;

	if (!read_state(question, &text, "%s/containers/%s/config.v2.json", data_root, question->id) ||
	    json_tree_parse(text.data, text.len, &tree, NULL))
		return false;
	top = json_tree_top(&tree);
	found = take_pod(question, &tree, json_tree_member(&tree, json_tree_member(&tree, top, "Config"), "Labels"),
			 labels) ||
		take_text(question, &tree, top, "Name");
	if (found && question->name->len > before + 1 && question->name->data[before] == '/') {
		memmove(question->name->data + before, question->name->data + before + 1,
			question->name->len - before - 1);
		question->name->len--;
	}
	json_tree_release(&tree);
	return found;
}

/* A bundle of the Open Container Initiative, with annotations of who made it. */
static bool in_bundle(struct question *question, const char *dir, const char *space)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct json_tree tree = { .nodes = NULL };
	const struct json_node *notes;
	bool found = false;

	if (!(space ? read_state(question, &text, "%s/%s/%s/config.json", dir, space, question->id) :
		      read_state(question, &text, "%s/%s/userdata/config.json", dir, question->id)) ||
	    json_tree_parse(text.data, text.len, &tree, NULL))
		return false;
	notes = json_tree_member(&tree, json_tree_top(&tree), "annotations");
	found = take_pod(question, &tree, notes, cri) || take_pod(question, &tree, notes, labels) ||
		take_text(question, &tree, notes, "nerdctl/name");
	json_tree_release(&tree);
	return found;
}

/* The list of Podman: its first name. */
static bool in_podman(struct question *question, const char *graph_root)
{
	static const char *const drivers[] = { "overlay", "vfs", "btrfs", "zfs" };
	bool found = false;

	for (size_t i = 0; i < array_size(drivers) && !found; i++) {
		cleanup_buf struct buf text = BUF_INIT;
		struct json_tree tree = { .nodes = NULL };
		const struct json_node *top, *one;

		if (!read_state(question, &text, "%s/%s-containers/containers.json", graph_root, drivers[i]) ||
		    json_tree_parse(text.data, text.len, &tree, NULL))
			continue;
		top = json_tree_top(&tree);
		one = top && top->kind == JSON_ARRAY && top->first ? &tree.nodes[top->first] : NULL;
		for (; one && !found; one = one->next ? &tree.nodes[one->next] : NULL) {
			const struct json_node *names = json_tree_member(&tree, one, "names");
			const struct json_node *id = json_tree_member(&tree, one, "id");

			if (id && json_tree_is(id, question->id) && names && names->kind == JSON_ARRAY && names->first)
				found = json_tree_string(&tree.nodes[names->first], question->name);
		}
		json_tree_release(&tree);
	}
	return found;
}

static bool in_containerd(struct question *question)
{
	static const char place[] = "run/containerd/io.containerd.runtime.v2.task";
	DIR *dir = open_dir(question, place);
	struct dirent *entry;
	bool found = false;

	for (unsigned i = 0; dir && !found && i < ENTRIES_MAX && (entry = readdir(dir)) != NULL; i++)
		found = is_plain(entry->d_name) && in_bundle(question, place, entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Appends NAMESPACE/POD/CONTAINER of <pod>_<namespace>_<container>-<id>.log. */
static bool take_log(struct question *question, const char *name)
{
	size_t len = strlen(name), id = strlen(question->id), tail = id + strlen("-.log");
	const char *space = strchr(name, '_'), *container = space ? strchr(space + 1, '_') : NULL;

	return container && len > tail && name + len - tail > container && name[len - tail] == '-' &&
	       !strncmp(name + len - tail + 1, question->id, id) && !strcmp(name + len - 4, ".log") &&
	       buf_addf(question->name, "%.*s/%.*s/%.*s", (int)(container - space - 1), space + 1, (int)(space - name),
			name, (int)(name + len - tail - container - 1), container + 1);
}

/* Appends NAMESPACE/POD of <namespace>_<pod>_<uid>. */
static bool take_pod_dir(struct question *question, const char *name)
{
	const char *pod = strchr(name, '_'), *uid = pod ? strchr(pod + 1, '_') : NULL;

	return uid && !strcmp(uid + 1, question->id) &&
	       buf_addf(question->name, "%.*s/%.*s", (int)(pod - name), name, (int)(uid - pod - 1), pod + 1);
}

/* Only the names of a directory are read. */
static bool in_names(struct question *question, const char *path, bool (*matches)(struct question *, const char *))
{
	DIR *dir = open_dir(question, path);
	struct dirent *entry;
	bool found = false;

	for (unsigned i = 0; dir && !found && i < ENTRIES_MAX && (entry = readdir(dir)) != NULL; i++)
		found = matches(question, entry->d_name);
	if (dir)
		closedir(dir);
	return found;
}

/* Where Docker keeps its state, without the '/' at the beginning. */
static void find_data_root(const struct question *question, char into[PATH_SIZE])
{
	cleanup_buf struct buf text = BUF_INIT, path = BUF_INIT;
	struct question own = { .root = question->root, .name = &path };
	struct json_tree tree = { .nodes = NULL };

	snprintf(into, PATH_SIZE, "var/lib/docker");
	if (!read_state(&own, &text, "etc/docker/daemon.json") || json_tree_parse(text.data, text.len, &tree, NULL))
		return;
	if (take_text(&own, &tree, json_tree_top(&tree), "data-root") && path.len > 1 && *path.data == '/')
		snprintf(into, PATH_SIZE, "%s", buf_str(&path) + 1);
	json_tree_release(&tree);
}

/* Where Podman and CRI-O keep theirs: graphroot = "/..." of storage.conf. */
static void find_graph_root(const struct question *question, char into[PATH_SIZE])
{
	static const char key[] = "graphroot";
	cleanup_buf struct buf text = BUF_INIT;
	struct question own = *question;
	const char *at;

	snprintf(into, PATH_SIZE, "var/lib/containers/storage");
	if (!read_state(&own, &text, "etc/containers/storage.conf"))
		return;
	for (at = buf_str(&text); at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		const char *word = at + strspn(at, " \t"), *value;

		if (strncmp(word, key, strlen(key)))
			continue;
		value = word + strlen(key) + strspn(word + strlen(key), " \t=\"");
		if (*value == '/')
			snprintf(into, PATH_SIZE, "%.*s", (int)strcspn(value + 1, "\"\n"), value + 1);
	}
}

/* Those of users without rights. */
static bool in_homes(struct question *question)
{
	DIR *dir = open_dir(question, "home");
	struct dirent *entry;
	bool found = false;

	for (unsigned i = 0; dir && !found && i < HOMES_MAX && (entry = readdir(dir)) != NULL; i++) {
		char place[PATH_SIZE];

		if (!is_plain(entry->d_name))
			continue;
		snprintf(place, sizeof(place), "home/%s/.local/share/docker", entry->d_name);
		found = in_docker(question, place);
		snprintf(place, sizeof(place), "home/%s/.local/share/containers/storage", entry->d_name);
		found = found || in_podman(question, place);
	}
	if (dir)
		closedir(dir);
	return found;
}

bool container_name(int root, const char *id, struct buf *into)
{
	struct question question = { .root = root, .id = id, .name = into };
	char docker[PATH_SIZE], podman[PATH_SIZE];

	if (!is_plain(id))
		return true;
	find_data_root(&question, docker);
	find_graph_root(&question, podman);
	(void)(in_docker(&question, docker) || in_containerd(&question) ||
	       in_bundle(&question, "run/containers/storage/overlay-containers", NULL) ||
	       in_names(&question, "var/log/containers", take_log) || in_podman(&question, podman) ||
	       in_homes(&question));
	return !question.starved;
}

bool pod_name(int root, const char *uid, struct buf *into)
{
	struct question question = { .root = root, .id = uid, .name = into };

	if (is_plain(uid))
		(void)in_names(&question, "var/log/pods", take_pod_dir);
	return !question.starved;
}

/* Appends a line for what the path of a group says, unless it has been named. */
static bool put(int root, enum who_part part, const char *path, struct u64_map *known, struct buf *into)
{
	cleanup_buf struct buf name = BUF_INIT;
	char text[WHO_PATH_TEXT];
	const char *id = who_path_text(part, path, text);
	uint64_t key = xxh64(id, strlen(id));

	if (!*id || known->len >= NAMES_MAX || u64_map_find(known, key))
		return true;
	if (!u64_map_add(known, key) ||
	    !(part == WHO_POD ? pod_name(root, id, &name) : container_name(root, id, &name)))
		return false;
	return !name.len ||
	       (buf_addf(into, "%s ", who_part_word(part)) && task_scan_text(into, id, strlen(id)) &&
		buf_add(into, "\t", 1) && task_scan_text(into, name.data, name.len) && buf_add(into, "\n", 1));
}

bool container_names(int root, const struct buf *groups, struct buf *into)
{
	const char *at = groups->data;
	size_t left = groups->len;
	struct text_word line;
	struct u64_map known;
	bool ok = true;

	u64_map_init(&known, sizeof(uint8_t));
	while (ok && at && text_next_line(&at, &left, &line)) {
		cleanup_free char *copy = strndup(line.at, line.len);
		const char *path = copy ? strchr(copy, '/') : NULL;

		ok = copy && (!path ||
			      (put(root, WHO_CONTAINER, path, &known, into) && put(root, WHO_POD, path, &known, into)));
	}
	u64_map_release(&known);
	return ok;
}

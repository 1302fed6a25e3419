// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/tracefs/container_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/ground/base/buf.h"
#include "tests/unit/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "1f3c0d52-6a3e-4d7c-9a57-0c2b7f1f9a11"
#define OTHER "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"

/* A directory for the state of one engine, as its own sources and documents describe it. */
struct tree {
	char path[64];
	int root;
};

static bool begin(struct tree *tree)
{
	snprintf(tree->path, sizeof(tree->path), "/tmp/weft-containers-XXXXXX");
	if (!mkdtemp(tree->path))
		return false;
	tree->root = open(tree->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return tree->root >= 0;
}

static void end(struct tree *tree)
{
	char command[128];

	close(tree->root);
	snprintf(command, sizeof(command), "rm -rf %s", tree->path);
	CHECK(!system(command));
}

/* Makes the directories above a name. */
static void make_above(const struct tree *tree, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", name);
	for (char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		*at = '\0';
		(void)mkdirat(tree->root, path, 0700);
		*at = '/';
	}
}

static void put(const struct tree *tree, const char *name, const char *text)
{
	int fd;

	make_above(tree, name);
	fd = openat(tree->root, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd));
}

static void put_link(const struct tree *tree, const char *name, const char *target)
{
	make_above(tree, name);
	CHECK(!symlinkat(target, tree->root, name));
}

static void is_called(const struct tree *tree, const char *id, bool pod, const char *want)
{
	cleanup_buf struct buf name = BUF_INIT;

	CHECK(pod ? pod_name(tree->root, id, &name) : container_name(tree->root, id, &name));
	CHECK_STR(name.len ? buf_str(&name) : "", want);
}

#define ANNOTATIONS(prefix, name, pod, space)                                                                       \
	"{\"ociVersion\":\"1.1.0\",\"process\":{\"args\":[\"/app\"]},\"annotations\":{\"" prefix name "\":\"app\"," \
	"\"" prefix pod "\":\"web-7d9\",\"" prefix space "\":\"shop\"}}"
#define CRI ANNOTATIONS("io.kubernetes.cri.", "container-name", "sandbox-name", "sandbox-namespace")
#define LABELS ANNOTATIONS("io.kubernetes.", "container.name", "pod.name", "pod.namespace")

static const char docker[] = "{\"ID\":\"" ID "\",\"Name\":\"/web-1\",\"Config\":{\"Image\":\"nginx\",\"Labels\":{}}}";
static const char podman[] =
	"[{\"id\":\"" OTHER "\",\"names\":[\"db\"]},{\"id\":\"" ID "\",\"names\":[\"web-1\",\"also\"],\"image\":\"\"}]";

/* The state of each engine, and what the container is called then. */
static const struct {
	const char *file, *text, *second, *second_text, *want;
} states[] = {
	{ "var/lib/docker/containers/" ID "/config.v2.json", docker, NULL, NULL, "web-1" },
	{ "etc/docker/daemon.json", "{ \"debug\": true, \"data-root\": \"/srv/docker\" }",
	  "srv/docker/containers/" ID "/config.v2.json", docker, "web-1" },
	{ "var/lib/docker/containers/" ID "/config.v2.json",
	  "{\"Name\":\"/k8s_app_web\",\"Config\":{\"Labels\":{\"io.kubernetes.pod.namespace\":\"shop\","
	  "\"io.kubernetes.pod.name\":\"web-7d9\",\"io.kubernetes.container.name\":\"app\"}}}",
	  NULL, NULL, "shop/web-7d9/app" },
	{ "home/ann/.local/share/docker/containers/" ID "/config.v2.json", docker, NULL, NULL, "web-1" },
	{ "var/lib/containers/storage/overlay-containers/containers.json", podman, NULL, NULL, "web-1" },
	{ "etc/containers/storage.conf", "[storage]\ndriver = \"vfs\"\n graphroot = \"/data/containers\"\n",
	  "data/containers/vfs-containers/containers.json", podman, "web-1" },
	{ "home/ann/.local/share/containers/storage/overlay-containers/containers.json", podman, NULL, NULL, "web-1" },
	{ "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json", CRI, NULL, NULL,
	  "shop/web-7d9/app" },
	{ "run/containerd/io.containerd.runtime.v2.task/default/" ID "/config.json",
	  "{\"annotations\":{\"nerdctl/name\":\"web-1\",\"nerdctl/namespace\":\"default\"}}", NULL, NULL, "web-1" },
	{ "run/containers/storage/overlay-containers/" ID "/userdata/config.json", LABELS, NULL, NULL,
	  "shop/web-7d9/app" },
	{ "var/log/pods/shop_web-7d9_" UID "/app/0.log", "", "var/log/containers/web-7d9_shop_app-" ID ".log", "",
	  "shop/web-7d9/app" },
};

TEST(container_names_are_found_in_the_state_of_each_engine)
{
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		struct tree tree;

		REQUIRE(begin(&tree));
		put(&tree, states[i].file, states[i].text);
		if (states[i].second)
			put(&tree, states[i].second, states[i].second_text);
		is_called(&tree, ID, false, states[i].want);
		is_called(&tree, OTHER, false, states[i].text == podman || states[i].second_text == podman ? "db" : "");
		end(&tree);
	}
}

TEST(container_names_have_the_pod_of_a_uid)
{
	cleanup_buf struct buf groups = BUF_INIT, names = BUF_INIT;
	struct tree tree;

	REQUIRE(begin(&tree));
	put(&tree, "var/log/pods/shop_web-7d9_" UID "/app/0.log", "");
	put_link(&tree, "var/log/containers/web-7d9_shop_app-" ID ".log", "/var/log/pods/0.log");
	is_called(&tree, UID, true, "shop/web-7d9");
	CHECK(buf_add_str(&groups, "0 1 /\n0 2 /kubepods/burstable/pod" UID "/" ID "\n"
				   "0 3 /kubepods/burstable/pod" UID "\n0 4 /system.slice/a.service\n"));
	CHECK(container_names(tree.root, &groups, &names));
	CHECK_STR(buf_str(&names), "container " ID "\tshop/web-7d9/app\npod " UID "\tshop/web-7d9\n");
	end(&tree);
}

/* Whoever owns a directory on the way may put a link there. */
TEST(container_names_follow_no_link_of_a_stranger)
{
	struct tree tree;

	if (geteuid())
		return;
	REQUIRE(begin(&tree));
	put(&tree, "secret/config.v2.json", docker);
	put(&tree, "home/ann/.local/share/docker/containers/x", "");
	put_link(&tree, "home/ann/.local/share/docker/containers/" ID, "../../../../../../secret");
	CHECK(!fchownat(tree.root, "home/ann/.local/share/docker/containers/" ID, 1000, 1000, AT_SYMLINK_NOFOLLOW));
	is_called(&tree, ID, false, "");
	/* Nor is a file behind a link read, or a pipe waited for. */
	put(&tree, "var/lib/docker/containers/" ID "/x", "");
	put_link(&tree, "var/lib/docker/containers/" ID "/config.v2.json", "../../../../../secret/config.v2.json");
	is_called(&tree, ID, false, "");
	CHECK(!unlinkat(tree.root, "var/lib/docker/containers/" ID "/config.v2.json", 0));
	CHECK(!mkfifoat(tree.root, "var/lib/docker/containers/" ID "/config.v2.json", 0600));
	is_called(&tree, ID, false, "");
	/* A link of root is one of whoever set the machine up. */
	put_link(&tree, "run/containerd/io.containerd.runtime.v2.task/default/" ID, "../../../../bundle");
	put(&tree, "bundle/config.json", CRI);
	is_called(&tree, ID, false, "shop/web-7d9/app");
	end(&tree);
}

TEST(container_names_take_no_id_that_leads_elsewhere)
{
	struct tree tree;

	REQUIRE(begin(&tree));
	put(&tree, "var/lib/docker/config.v2.json", docker);
	is_called(&tree, "..", false, "");
	is_called(&tree, "a/../../containers", false, "");
	put(&tree, "var/lib/docker/containers/" ID "/config.v2.json", "{\"Name\":");
	is_called(&tree, ID, false, "");
	end(&tree);
}

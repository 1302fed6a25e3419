// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/tracefs/tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <tracefs.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/cpus.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"

enum { TRACEFS_MAGIC = 0x74726163 };

int tracing_read_path(const char *path, struct buf *buf, struct fail *fail)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return tracing_refused(path, -errno, "open", fail);
	err = io_read_all(fd, SIZE_MAX, buf);
	if (err == -ENOMEM)
		return fail_memory(fail);
	return err ? tracing_refused(path, err, "read", fail) : 0;
}

bool tracing_next_btf(DIR *folder, struct buf *into)
{
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char path[sizeof(BTF_FOLDER) + sizeof(entry->d_name)];

		if (*entry->d_name == '.' || !strcmp(entry->d_name, "vmlinux"))
			continue;
		snprintf(path, sizeof(path), BTF_FOLDER "%s", entry->d_name);
		buf_clear(into);
		if (!tracing_read_path(path, into, NULL))
			return true;
	}
	return false;
}

/* Whether the kernel is locked down. The file reads "none integrity [confidentiality]". */
static bool locked_down(void)
{
	cleanup_buf struct buf buf = BUF_INIT;

	return !tracing_read_path("/sys/kernel/security/lockdown", &buf, NULL) &&
	       strstr(buf_str(&buf), "[confidentiality]");
}

/* Whether root here is another user outside of this user namespace. The file reads "0 1000 1": from, to, how many. */
static bool only_root_inside(void)
{
	cleanup_buf struct buf buf = BUF_INIT;
	unsigned inside, outside;

	return !tracing_read_path("/proc/self/uid_map", &buf, NULL) &&
	       sscanf(buf_str(&buf), "%u %u", &inside, &outside) == 2 && !inside && outside;
}

/* The two ways to get access. The group gets only read access, because only the owner may write files of tracefs. */
#define WAYS                                                                          \
	"run weft as root (sudo); to let a group read, but not trace, root can run: " \
	"mount -o remount,gid=GROUP,mode=750 /sys/kernel/tracing"

int tracing_refused(const char *path, int err, const char *doing, struct fail *fail)
{
	const char *hint = "";

	/* Without `fail` no text is needed. locked_down() is skipped, because it would call this function again. */
	if (!fail)
		return err;
	if (err == -EACCES || err == -EPERM) {
		if (geteuid())
			hint = "; " WAYS;
		else if (locked_down())
			hint = "; kernel lockdown (confidentiality) forbids tracing";
		else if (only_root_inside())
			hint = "; root of this user namespace is not root of the host: run weft outside of it";
		else
			hint = "; this kernel does not permit it, not even to root";
	} else if (err == -ENOENT && !strncmp(path, "/proc/", 6) && access("/proc/self", F_OK)) {
		hint = "; /proc is not mounted: mount -t proc proc /proc";
	} else if (err == -ENOENT && !strncmp(path, "/sys/", 5) && access("/sys/kernel", F_OK)) {
		hint = "; /sys is not mounted: mount -t sysfs sysfs /sys";
	} else if (err == -EROFS) {
		hint = "; tracefs is mounted read-only: 'mount -o remount,rw' of where it is mounted lets weft trace";
	}
	return fail_set(fail, err, "cannot %s '%s': %s%s", doing, path, strerror(-err), hint);
}

static int check_access(const char *dir, struct fail *fail)
{
	if (!access(dir, R_OK | X_OK))
		return 0;
	if (errno != EACCES && errno != EPERM)
		return fail_set(fail, -errno, "cannot use '%s': %s", dir, strerror(errno));
	if (!geteuid())
		return tracing_refused(dir, -errno, "use", fail);
	return fail_set(fail, -EACCES, "cannot use '%s': %s; " WAYS, dir, strerror(errno));
}

static int mount_refused(struct fail *fail)
{
	int err = errno ? -errno : -ENODEV;

	if (access("/sys/kernel/tracing", F_OK) && access("/sys/kernel/debug", F_OK))
		return fail_set(fail, -ENODEV, "this kernel has no tracefs (CONFIG_TRACING), or /sys is not mounted");
	if (geteuid())
		return fail_set(
			fail, -EPERM,
			"tracefs is not mounted, and only root can mount it: run weft as root, or have root run: "
			"mount -t tracefs tracefs /sys/kernel/tracing");
	return fail_set(fail, err, "cannot mount tracefs at /sys/kernel/tracing: %s%s", strerror(-err),
			err == -EPERM ? "; a container needs CAP_SYS_ADMIN for this, or the host's tracefs" : "");
}

/* The usual mount point of tracefs, for a process without /proc/mounts. NULL: it is not mounted there. */
static const char *usual_dir(void)
{
	static const char *const dirs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct statfs fs;

	for (size_t i = 0; i < array_size(dirs); i++)
		if (!statfs(dirs[i], &fs) && fs.f_type == TRACEFS_MAGIC)
			return dirs[i];
	return NULL;
}

int tracing_find(struct tracing *ret, struct fail *fail)
{
	const char *dir = NULL;
	int mounted, err;

	/* Without this the library would print its own messages. */
	tracefs_set_loglevel(TEP_LOG_NONE);
	errno = 0;
	mounted = access("/proc/mounts", R_OK) && (dir = usual_dir()) ? 1 : tracefs_tracing_dir_is_mounted(true, &dir);
	if (mounted < 0 || !dir || !*dir)
		return mount_refused(fail);
	err = check_access(dir, fail);
	if (err)
		return err;
	err = tracing_at(dir, ret, fail);
	if (!err)
		ret->mounted_here = !mounted;
	return err;
}

int tracing_at(const char *dir, struct tracing *ret, struct fail *fail)
{
	size_t len = strlen(dir);
	struct stat st;
	char *copy;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	copy = strndup(dir, len);
	if (!copy)
		return fail_memory(fail);
	*ret = (struct tracing){ .dir = copy, .device = stat(copy, &st) ? 0 : st.st_dev };
	return 0;
}

bool tracing_is_tracefs(const struct tracing *tracing)
{
	struct statfs fs;

	return !statfs(tracing->dir, &fs) && fs.f_type == TRACEFS_MAGIC;
}

bool tracing_is_gone(const struct tracing *tracing)
{
	cleanup_free char *file = NULL;
	struct stat st;

	if (stat(tracing->dir, &st))
		return errno == ENOENT;
	if (st.st_dev == tracing->device || asprintf(&file, "%s/tracing_on", tracing->dir) < 0) {
		file = NULL;
		return false;
	}
	/* Another process may have mounted tracefs again. */
	return access(file, F_OK) != 0;
}

int tracing_stay(struct tracing *tracing, struct fail *fail)
{
	if (!tracing_is_gone(tracing))
		return 0;
	if (mount("tracefs", tracing->dir, "tracefs", 0, NULL))
		return fail_set(
			fail, -errno,
			"tracefs was unmounted from '%s', and it cannot be mounted there again: %s; 'weft reset' "
			"puts back what was set",
			tracing->dir, strerror(errno));
	tracing->mounted_again = true;
	return 0;
}

void tracing_release(struct tracing *tracing)
{
	/* Unmounts what weft mounted. Processes that use the mount can continue to do so. */
	if (tracing->mounted_again)
		(void)!umount2(tracing->dir, MNT_DETACH);
	free(take(tracing->dir));
}

static int read_cpus(const char *path, struct cpus *ret, struct fail *fail)
{
	cleanup_buf struct buf buf = BUF_INIT;
	int err = tracing_read_path(path, &buf, fail);

	if (err)
		return err;
	if (buf.len)
		buf.data[strcspn(buf_str(&buf), "\n")] = '\0';
	return cpus_parse(buf_str(&buf), ret, fail);
}

int tracing_online_cpus(struct cpus *ret, struct fail *fail)
{
	return read_cpus("/sys/devices/system/cpu/online", ret, fail);
}

int tracing_present_cpus(struct cpus *ret, struct fail *fail)
{
	return read_cpus("/sys/devices/system/cpu/present", ret, fail);
}

int tracing_possible_cpus(struct cpus *ret, struct fail *fail)
{
	return read_cpus("/sys/devices/system/cpu/possible", ret, fail);
}

uint64_t tracing_uevents(void)
{
	cleanup_buf struct buf buf = BUF_INIT;

	return tracing_read_path("/sys/kernel/uevent_seqnum", &buf, NULL) ? 0 : number_of(buf_str(&buf), 0);
}

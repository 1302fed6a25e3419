/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_TRACEFS_CONTAINER_NAMES_H
#define WEFT_KERNEL_TRACEFS_CONTAINER_NAMES_H

#include <stdbool.h>

struct buf;

/*
 * What people call a container or a pod, from files in which those who made it keep its name; no daemon is asked:
 *	Docker      DATA-ROOT/containers/ID/config.v2.json
 *	Podman      GRAPHROOT/{overlay,vfs,btrfs,zfs}-containers/containers.json
 *	containerd  /run/containerd/io.containerd.runtime.v2.task/NAMESPACE/ID/config.json, of nerdctl and Kubernetes
 *	CRI-O       /run/containers/storage/overlay-containers/ID/userdata/config.json
 *	Kubernetes  the names of links in /var/log/containers and of directories in /var/log/pods
 * DATA-ROOT and GRAPHROOT are those of root, or of a user without rights in a directory of /home.
 * These files belong to root or to a user, and others choose what is in them. On the way to one only a link is followed
 * that belongs to root, to this user or to the owner of what it leads to. A file behind a link is not read, and only
 * regular files of at most 4 MiB are.
 */

/* Instead of the directory below which all of these paths are: this machine's. */
#define CONTAINERS_HERE (-1)

/*
 * Appends the name of the container with this id: "web-1", in Kubernetes "NAMESPACE/POD/NAME". Nothing: it is not
 * found. False without memory.
 */
bool container_name(int root, const char *id, struct buf *into);
/* The same for the pod with this UID: "NAMESPACE/NAME". */
bool pod_name(int root, const char *uid, struct buf *into);

/*
 * Appends a line "container ID", or "pod UID", and behind a tab its name for each that occurs in a list of control
 * groups (task_scan.h), as in the setting weft/containers. False without memory.
 */
bool container_names(int root, const struct buf *groups, struct buf *into);

#endif

/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_MEANING_FOLLOW_CGROUP_WORDS_INTERNAL_H
#define WEFT_MEANING_FOLLOW_CGROUP_WORDS_INTERNAL_H

#include <stddef.h>

/*
 * What the path of a control group says in the words of those who made it: systemd, Docker, Podman, containerd, CRI-O,
 * Kubernetes, LXC, libvirt. A pure function of the path.
 *	/system.slice/nginx.service                         unit nginx.service
 *	/user.slice/user-1000.slice/user@1000.service/app.slice/x.service      unit x.service of the user's manager
 *	/system.slice/docker-<64 hex>.scope, /docker/<64 hex>                  container <64 hex>
 *	/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<UID>.slice/cri-containerd-<64 hex>.scope
 */
enum cgroup_word {
	CGROUP_UNIT,
	CGROUP_CONTAINER, /* the whole id, or the name that the path has */
	CGROUP_POD,       /* the UID of the pod, as Kubernetes writes it */
};

/* Writes "" if the path says nothing of the kind. */
enum { CGROUP_WORD = 256 };
void cgroup_word(const char *path, enum cgroup_word which, char into[CGROUP_WORD]);

#endif

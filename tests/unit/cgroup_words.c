// SPDX-License-Identifier: GPL-2.0-only
#include "lib/meaning/follow/cgroup_words_internal.h"

#include "tests/unit/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "0f1a2b3c-1111-2222-3333-444455556666"

/* Paths as the runtimes make them, and what an administrator calls them. */
TEST(cgroup_words_are_those_of_who_made_the_group)
{
	static const struct {
		const char *path, *unit, *container, *pod;
	} want[] = {
		{ "/", "", "", "" },
		{ "/system.slice/nginx.service", "nginx.service", "", "" },
		{ "/system.slice/nginx.service/worker", "nginx.service", "", "" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "", "" },
		{ "/init.scope", "init.scope", "", "" },
		{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "" },
		{ "/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope", "", "" },
		{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.service", "x.service", "", "" },
		{ "/user.slice/user-1000.slice/user@1000.service", "user@1000.service", "", "" },
		{ "/system.slice/_cpu.service", "cpu.service", "", "" },
		{ "/system.slice/docker-" ID ".scope", "docker-" ID ".scope", ID, "" },
		{ "/docker/" ID, "", ID, "" },
		{ "/docker/" ID "/system.slice/cron.service", "cron.service", ID, "" },
		{ "/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", ID, "" },
		{ "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope", "", "" },
		{ "/libpod_parent/libpod-" ID, "", ID, "" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod0f1a2b3c_1111_2222_3333_444455556666"
		  ".slice/cri-containerd-" ID ".scope",
		  "cri-containerd-" ID ".scope", ID, UID },
		{ "/kubepods.slice/kubepods-pod0f1a2b3c_1111_2222_3333_444455556666.slice/crio-" ID ".scope",
		  "crio-" ID ".scope", ID, UID },
		{ "/kubepods/besteffort/pod" UID "/" ID, "", ID, UID },
		{ "/kubepods/besteffort/pod" UID "/crio-conmon-" ID, "", "", UID },
		{ "/k8s.io/web", "", "web", "" },
		{ "/lxc.payload.web-1", "", "web-1", "" },
		{ "/lxc.monitor.web-1", "", "", "" },
		{ "/machine.slice/systemd-nspawn@deb.service", "systemd-nspawn@deb.service", "deb", "" },
		{ "/machine.slice/machine-deb.scope", "machine-deb.scope", "deb", "" },
		{ "/machine.slice/machine-qemu\\x2d1\\x2dvm\\x2da.scope", "machine-qemu\\x2d1\\x2dvm\\x2da.scope",
		  "vm-a", "" },
		{ "/machine.slice/machine-qemu.scope", "machine-qemu.scope", "qemu", "" },
		{ "/machine.slice/machine-qemu\\x2dkvm.scope", "machine-qemu\\x2dkvm.scope", "qemu-kvm", "" },
		{ "/machine.slice/machine-xen\\x2d1\\x2da.scope", "machine-xen\\x2d1\\x2da.scope", "xen-1-a", "" },
		{ "/machine.slice/machine-a\\x2.scope", "machine-a\\x2.scope", "a\\x2", "" },
		{ "/machine.slice/machine-a\\x00b.scope", "machine-a\\x00b.scope", "a\\x00b", "" },
		{ "/default/nerdctl-" ID, "", ID, "" },
		{ "/default/cri-containerd-" ID "0.scope", "cri-containerd-" ID "0.scope", "", "" },
		{ "/docker/" ID "/docker-" ID ".scope/docker/9" ID, "docker-" ID ".scope", ID, "" },
		{ "/kubelet/pod1_2/x", "", "", "1-2" },
		{ "/pod1/kubepods", "", "", "" },
		{ "/podman.service", "podman.service", "", "" },
		{ "/home/podium", "", "", "" },
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		char word[CGROUP_WORD];

		cgroup_word(want[i].path, CGROUP_UNIT, word);
		CHECK_STR(word, want[i].unit);
		cgroup_word(want[i].path, CGROUP_CONTAINER, word);
		CHECK_STR(word, want[i].container);
		cgroup_word(want[i].path, CGROUP_POD, word);
		CHECK_STR(word, want[i].pod);
	}
}

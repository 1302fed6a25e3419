// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/files/rewrite/redact_internal.h"
#include "tests/unit/test.h"

struct scene {
	struct redact_names names;
	struct redact_shifts shifts;
	struct redact_texts texts;
	struct buf said;
};

static struct scene *begin(void)
{
	static const struct redact_options options = { .key = { { 4, 7 } } };
	struct scene *scene = calloc(1, sizeof(*scene));

	redact_names_init(&scene->names, &options);
	redact_shifts_init(&scene->shifts, &scene->names, 8, false);
	scene->texts = (struct redact_texts){ .names = &scene->names, .shifts = &scene->shifts };
	return scene;
}

static void end(struct scene *scene)
{
	redact_names_release(&scene->names);
	buf_release(&scene->said);
	free(scene);
}

static const char *target(struct scene *scene, const char *text)
{
	buf_clear(&scene->said);
	CHECK(redact_target(&scene->texts, text, strlen(text), &scene->said));
	return buf_str(&scene->said);
}

TEST(redact_target_keeps_what_tells_nobody)
{
	static const char *const kept[] = { "anon_inode:[eventfd]",
					    "TCP:[127.0.0.1:80->127.0.0.1:4711]",
					    "/",
					    "TCPv6:[[::1]:80]",
					    "UDP:[0.0.0.0:53]",
					    "/dev" };
	struct scene *scene = begin();

	for (size_t i = 0; i < array_size(kept); i++)
		CHECK_STR(target(scene, kept[i]), kept[i]);
	end(scene);
}

TEST(redact_target_has_no_address_nor_name)
{
	static const char *const told[][2] = {
		{ "TCP:[192.0.2.17:80->198.51.100.3:4711]", "192.0.2" },
		{ "TCP:[192.0.2.17:80->198.51.100.3:4711]", "198.51" },
		{ "UDPv6:[[2001:db8::17]:53]", "db8" },
		{ "TCPv6:[[::ffff:192.0.2.17]:80->[::ffff:198.51.100.3]:4711]", "192.0.2" },
		{ "UNIX-STREAM:[123->124,\"/run/secret/sock\"]", "secret" },
		{ "UNIX-STREAM:[123->124,@\"secret-name\"...]", "secret" },
		{ "UNIX-STREAM:[7123->(secret),\"/run/x\"]", "secret" },
		{ "/memfd:secret (deleted)", "secret" },
		{ "/srv/secret/letters (deleted)", "secret" },
		{ "secret:[17]", "secret" },
		{ "TCP:[secret]", "secret" },
		{ "TCP:[192.0.2.17.secret]", "192.0.2.17" },
		{ "pipe:[4711123]", "4711123" },
	};
	struct scene *scene = begin();

	for (size_t i = 0; i < array_size(told); i++)
		if (strstr(target(scene, told[i][0]), told[i][1]))
			CHECK_STR(buf_str(&scene->said), "(without the secret)");
	CHECK(strstr(target(scene, "/memfd:secret (deleted)"), "/memfd:") &&
	      strstr(buf_str(&scene->said), " (deleted)"));
	CHECK(strstr(target(scene, "TCP:[192.0.2.17:80]"), "TCP:[10.") && strstr(buf_str(&scene->said), ":80]"));
	end(scene);
}

TEST(redact_target_and_an_event_have_the_same_address)
{
	static const char *const hosts[] = { "192.0.2.17", "198.51.100.3", "8.8.8.8" };
	struct scene *scene = begin();
	char before[INET_ADDRSTRLEN] = "";

	for (size_t i = 0; i < array_size(hosts); i++) {
		char text[64], made[INET_ADDRSTRLEN], want[64];
		uint8_t bytes[4], out[4];

		CHECK(inet_pton(AF_INET, hosts[i], bytes) == 1);
		redact_host(&scene->names, bytes, sizeof(bytes), out);
		CHECK(inet_ntop(AF_INET, out, made, sizeof(made)) && strcmp(made, before));
		snprintf(text, sizeof(text), "UDP:[%s:53]", hosts[i]);
		snprintf(want, sizeof(want), "UDP:[%s:53]", made);
		CHECK_STR(target(scene, text), want);
		snprintf(before, sizeof(before), "%s", made);
	}
	end(scene);
}

TEST(redact_group_stays_what_it_is)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct scene *scene = begin();
	char text[256], made[256] = "";

	snprintf(text, sizeof(text), "/system.slice/docker-%s.scope", id);
	redact_group(&scene->names, text, strlen(text), made);
	CHECK(!strncmp(made, "/system.slice/docker-", 21) && !strcmp(made + 85, ".scope") && !strstr(made, id));
	CHECK(strspn(made + 21, "0123456789abcdef") == 64);
	memset(made, 0, sizeof(made));
	redact_group(&scene->names, "/system.slice/secret-web.service", 32, made);
	CHECK(!strncmp(made, "/system.slice/", 14) && !strcmp(made + 24, ".service") && !strstr(made, "secret"));
	end(scene);
}

TEST(redact_own_events_are_those_of_weft)
{
	static const char *const own[] = { "fd_install", "getname_flags_part_0_return", "do_accept_return", "close_fd",
					   "tg_unthrottle_up_isra_0" },
				 *const others[] = { "fd_installed", "open", "close_fd_secret", "getname_17", "_0" };

	for (size_t i = 0; i < array_size(own); i++)
		CHECK(redact_own_event(own[i], strlen(own[i])));
	for (size_t i = 0; i < array_size(others); i++)
		CHECK(!redact_own_event(others[i], strlen(others[i])));
}

TEST(redact_knows_disks_that_the_kernel_numbers)
{
	static const char *const known[] = { "sda",       "sdab12", "vda1",         "xvdb",  "nvme0n1", "nvme0n1p2",
					     "mmcblk0p1", "md127",  "mmcblk0boot1", "dm-12", "loop7",   "sr0" };
	static const char *const others[] = { "",          "sd",          "sdsecret",   "md_home",
					      "dm-secret", "nvme0secret", "nvme0n1p2x", "nvme0n1p",
					      "nvme",      "sda1b",       "secret",     "loop7 secret" };

	for (size_t i = 0; i < array_size(known); i++)
		if (!CHECK(redact_knows_disk(known[i], strlen(known[i]))))
			printf("%s\n", known[i]);
	for (size_t i = 0; i < array_size(others); i++)
		if (!CHECK(!redact_knows_disk(others[i], strlen(others[i]))))
			printf("%s\n", others[i]);
}

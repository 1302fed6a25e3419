// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/redact_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/ground/base/text.h"
#include "lib/meaning/event/tasks.h"
#include "lib/meaning/uapi/names.h"

enum { STEM = 15, NAMES_MAX = 1 << 20, TRIES = 200, SHORT_NUMBER = 3, ID_LEN = 64 };

static const char letters[] = "abcdefghijkmnpqrstuvwxyz23456789", digits[] = "0123456789";

/* Whether it is a system call of any machine: only its name is known. */
static bool is_call(const char *call)
{
	static const char *const machines[] = { "x86_64", "i686",    "aarch64", "armv7l",
						"s390x",  "ppc64le", "mips64",  "riscv64" };

	for (size_t i = 0; i < array_size(machines); i++)
		if (system_call_number(machines[i], call) >= 0)
			return true;
	return false;
}

bool redact_knows_event(const char *system, const char *name, size_t len)
{
	char head[64];
	const char *at, *end;
	int n = snprintf(head, sizeof(head), " %s: ", system);

	if (!strcmp(system, "syscalls")) {
		char call[64];
		size_t nr = 0, skip = !strncmp(name, "sys_enter_", 10) ? 10 : !strncmp(name, "sys_exit_", 9) ? 9 : len;

		if (skip >= len || len - skip >= sizeof(call))
			return false;
		memcpy(call, name + skip, len - skip);
		call[len - skip] = '\0';
		return redact_call(call, &nr) || is_call(call);
	}
	if (!strcmp(system, "weft"))
		return redact_own_event(name, len);
	at = n < (int)sizeof(head) ? strstr(redact_known_events, head) : NULL;
	if (!at)
		return false;
	at += n - 1;
	end = strchr(at, ':');
	for (; (at = strchr(at, ' ')) && (!end || at < end); at++)
		if (!strncmp(at + 1, name, len) && at[1 + len] == ' ')
			return true;
	return false;
}

const char *redact_call(const char *call, size_t *ret_nr)
{
	char word[80];
	const char *at;
	int n = snprintf(word, sizeof(word), " %s=", call);

	*ret_nr = 0;
	at = n < (int)sizeof(word) ? strstr(redact_calls, word) : NULL;
	if (!at)
		return NULL;
	*ret_nr = strcspn(at + n, " ");
	return at + n;
}

/* SipHash of numbers, chained: the first one is the length, so no input is the begin of another. */
static uint64_t hash(const struct redact_names *names, uint64_t salt, const char *at, size_t len)
{
	uint64_t sum = siphash_u64(&names->key, (uint64_t)len << 16 | salt);

	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, at + i, len - i < sizeof(word) ? len - i : sizeof(word));
		sum = siphash_u64(&names->key, sum ^ word);
	}
	return sum;
}

uint64_t redact_number(const struct redact_names *names, const char *what)
{
	return hash(names, UINT16_MAX, what, strlen(what));
}

void redact_names_init(struct redact_names *names, const struct redact_options *options)
{
	*names = (struct redact_names){ .key = options->key, .keep = options->keep, .nr_keep = options->nr_keep };
	u64_map_init(&names->taken, sizeof(uint64_t));
	u64_map_init(&names->kept, sizeof(uint8_t));
}

void redact_names_release(struct redact_names *names)
{
	u64_map_release(&names->taken);
	u64_map_release(&names->kept);
}

static bool all_digits(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)at[i]))
			return false;
	return len;
}

/* Letters of a hash. */
static void spell(const struct redact_names *names, uint64_t salt, const char *of, size_t of_len, char *into,
		  size_t len, const char *alphabet)
{
	size_t nr = strlen(alphabet);
	uint64_t bits = 0;

	for (size_t i = 0; i < len; i++, bits /= nr) {
		if (i % 12 == 0)
			bits = hash(names, salt + (i / 12 << 8), of, of_len);
		into[i] = alphabet[bits % nr];
	}
	if (alphabet == digits && len && *into == '0')
		*into = '7';
}

/* Whether no other name has this stand-in; then it is taken. */
static bool claim(struct redact_names *names, const char *stand_in, const char *name, size_t len)
{
	const struct redact_names unkeyed = { .key = { { 1, 2 } } };
	uint64_t key = hash(&unkeyed, 0, stand_in, len), own = hash(&unkeyed, 1, name, len), *there;

	if (redact_listed(redact_known_names, stand_in, len))
		return false;
	there = u64_map_find(&names->taken, key);
	if (there)
		return *there == own;
	if (names->taken.len >= NAMES_MAX)
		return true;
	there = u64_map_add(&names->taken, key);
	if (there)
		*there = own;
	return true;
}

static void stand_in(struct redact_names *names, const char *name, size_t len, char *into)
{
	size_t stem = len < STEM ? len : STEM, head = stem >= 8 ? 5 : 0;
	bool number = all_digits(name, len);

	for (uint64_t salt = 0; salt < TRIES; salt++) {
		if (!number)
			memcpy(into, "task-", head);
		spell(names, salt, name, stem, into + (number ? 0 : head), stem - (number ? 0 : head),
		      number ? digits : letters);
		if (claim(names, into, name, stem))
			break;
	}
	if (len > stem)
		spell(names, TRIES, name, len, into + stem, len - stem, number ? digits : letters);
}

static void keep(struct redact_names *names, const char *name, size_t len, char *into)
{
	const struct redact_names unkeyed = { .key = { { 1, 2 } } };

	if (names->kept.len < NAMES_MAX)
		(void)u64_map_get(&names->kept, hash(&unkeyed, 0, name, len));
	memcpy(into, name, len);
}

static bool user_keeps(const struct redact_names *names, const char *name, size_t len)
{
	char text[256];

	if (len >= sizeof(text))
		return false;
	memcpy(text, name, len);
	text[len] = '\0';
	for (size_t i = 0; i < names->nr_keep; i++)
		if (text_glob(names->keep[i], text))
			return true;
	return false;
}

void redact_name(struct redact_names *names, const char *name, size_t len, char *into)
{
	size_t head;

	if (!len)
		return;
	if (redact_listed(redact_known_names, name, len) || user_keeps(names, name, len)) {
		keep(names, name, len, into);
		return;
	}
	head = task_kernel_name(name, len);
	if (head) {
		keep(names, name, head, into);
		/* What is behind a kernel thread's number is the name of a queue or a device. */
		if (head < len)
			into[head] = name[head];
		if (head + 1 < len)
			stand_in(names, name + head + 1, len - head - 1, into + head + 1);
		return;
	}
	stand_in(names, name, len, into);
}

void redact_path(struct redact_names *names, const char *path, size_t len, char *into)
{
	bool numbers = false;

	for (size_t i = 0; i < len; i++) {
		const char *slash = memchr(path + i, '/', len - i);
		size_t part = slash ? (size_t)(slash - (path + i)) : len - i;

		/* PIDs and descriptors in /proc */
		if (numbers && part <= 7 && all_digits(path + i, part))
			memcpy(into + i, path + i, part);
		else
			redact_name(names, path + i, part, into + i);
		if (part)
			numbers = (part == 4 && (!memcmp(path + i, "proc", part) || !memcmp(path + i, "task", part))) ||
				  (part == 2 && !memcmp(path + i, "fd", part));
		i += part;
		if (slash)
			into[i] = '/';
	}
}

static bool is_inner(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x7f ||
	       ((unsigned char)c < ' ' && !isspace((unsigned char)c));
}

/* A known word, also with a short number behind it. */
static bool is_known_word(const char *at, size_t len)
{
	size_t head = len;

	if (redact_listed(redact_known_words, at, len) || (len <= 2 && all_digits(at, len)))
		return true;
	while (head && isdigit((unsigned char)at[head - 1]))
		head--;
	return head && len - head <= SHORT_NUMBER && redact_listed(redact_known_words, at, head);
}

void redact_words(struct redact_names *names, const char *text, size_t len, char *into)
{
	for (size_t i = 0, nr; i < len; i += nr ? nr : 1) {
		for (nr = 0; i + nr < len && is_inner(text[i + nr]);)
			nr++;
		if (!nr)
			into[i] = text[i];
		else if (is_known_word(text + i, nr))
			memcpy(into + i, text + i, nr);
		else
			stand_in(names, text + i, nr, into + i);
	}
}

/* The id of a container; it stays one. */
static bool is_id(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)at[i]))
			return false;
	return len == ID_LEN;
}

void redact_group(struct redact_names *names, const char *path, size_t len, char *into)
{
	static const char kinds[] = " docker libpod cri containerd crio nerdctl kubepods kubelet burstable besteffort "
				    "k8s io user machine qemu lxc payload systemd nspawn service scope slice socket "
				    "mount swap system init session app background pod ",
			  hex[] = "0123456789abcdef";

	for (size_t i = 0, nr; i < len; i += nr ? nr : 1) {
		size_t head = 0;

		for (nr = 0; i + nr < len && is_inner(path[i + nr]) && path[i + nr] != '_';)
			nr++;
		if (nr > 10 && !memcmp(path + i, "pod", 3))
			head = 3;
		memcpy(into + i, path + i, nr && !head ? 0 : nr ? head : 1);
		if (redact_listed(kinds, path + i, nr))
			memcpy(into + i, path + i, nr);
		else if (is_id(path + i, nr))
			spell(names, 0, path + i, nr, into + i, nr, hex);
		else if (nr)
			redact_name(names, path + i + head, nr - head, into + i + head);
	}
}

void redact_mark(struct redact_names *names, const char *text, size_t len, int32_t pids, char *into)
{
	size_t head = 0, tail = len;

	/* "B|17|NAME", "C|17|NAME|VALUE" */
	if (len > 2 && strchr("BESFGHCINTU", *text) && text[1] == '|' && !pids) {
		for (head = 2; head < len && isdigit((unsigned char)text[head]);)
			head++;
		while (tail > head && isspace((unsigned char)text[tail - 1]))
			tail--;
		while (*text == 'C' && tail > head && (isdigit((unsigned char)text[tail - 1]) || text[tail - 1] == '-'))
			tail--;
		if (*text != 'C' || tail <= head || text[tail - 1] != '|')
			tail = len;
	}
	memcpy(into, text, head);
	redact_words(names, text + head, tail - head, into + head);
	memcpy(into + tail, text + tail, len - tail);
}

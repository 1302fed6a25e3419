// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/files/rewrite/redact_internal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/fail.h"
#include "lib/ground/base/text.h"
#include "lib/ground/base/vec.h"
#include "lib/meaning/event/context.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/meaning/schema/format.h"

enum { TOLD_MAX = 600, NAME_MAX_BYTES = 1 << 12 };

/* How a text is written again; false: no memory. */
typedef bool rewrite(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		     struct buf *into);

static bool as_is(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		  struct buf *into)
{
	(void)texts;
	(void)context;
	return buf_add(into, text, len);
}

static bool empty(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		  struct buf *into)
{
	(void)texts;
	(void)context;
	(void)text;
	(void)len;
	return buf_add(into, "", 0);
}

/* Numbers and what stands between them; of anything else nothing is kept. */
static bool numbers(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		    struct buf *into)
{
	(void)texts;
	(void)context;
	for (size_t i = 0; i < len; i++)
		if (!isxdigit((unsigned char)text[i]) && !strchr(" ,.-/\n\tx", text[i]))
			return true;
	return buf_add(into, text, len);
}

static bool pids(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		 struct buf *into)
{
	bool ok = true;

	(void)context;
	for (size_t i = 0; ok && i < len;) {
		size_t nr = 0;

		while (i + nr < len && isdigit((unsigned char)text[i + nr]))
			nr++;
		if (nr)
			ok = buf_addf(into, "%d", redact_pid(texts->shifts, (int32_t)strtol(text + i, NULL, 10)));
		else if (strchr(" \n\t,", text[i]))
			ok = buf_add(into, text + i, 1);
		i += nr ? nr : 1;
	}
	return ok;
}

/* Lines "KEY: NUMBER" of per_cpu/cpuN/stats, also headed by "CPU: N". */
static bool counts(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		   struct buf *into)
{
	static const char *const keys[] = { "CPU: ",        "entries: ",         "overrun: ", "commit overrun: ",
					    "bytes: ",      "oldest event ts: ", "now ts: ",  "dropped events: ",
					    "read events: " };

	(void)texts;
	(void)context;
	for (size_t i = 0; i < array_size(keys); i++) {
		size_t key = strlen(keys[i]);

		if (len <= key || memcmp(text, keys[i], key))
			continue;
		for (size_t k = key; k < len; k++)
			if (!isdigit((unsigned char)text[k]) && text[k] != '.' && text[k] != ' ')
				key = len;
		return key == len || (buf_add(into, text, len) && buf_add(into, "\n", 1));
	}
	return true;
}

/* "MAJOR:MINOR NAME" of a disk. */
static bool disks(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		  struct buf *into)
{
	const char *blank = memchr(text, ' ', len);
	size_t number = blank ? (size_t)(blank - text) : len;

	(void)texts;
	(void)context;
	for (size_t i = 0; i < number; i++)
		if (!isdigit((unsigned char)text[i]) && text[i] != ':')
			return true;
	return !blank || !redact_knows_disk(blank + 1, len - number - 1) ||
	       (buf_add(into, text, len) && buf_add(into, "\n", 1));
}

/* "SYSTEM:EVENT" at the begin of a line. */
static bool put_event(struct buf *into, const char *at, size_t len)
{
	const char *colon = memchr(at, ':', len);
	char system[64];

	if (!colon || (size_t)(colon - at) >= sizeof(system))
		return buf_add_str(into, "redacted:event");
	memcpy(system, at, (size_t)(colon - at));
	system[colon - at] = '\0';
	if (redact_knows_event(system, colon + 1, len - (size_t)(colon + 1 - at)))
		return buf_add(into, at, len);
	return buf_add_str(into, "redacted:event");
}

static bool events(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		   struct buf *into)
{
	(void)texts;
	(void)context;
	return put_event(into, text, len) && buf_add(into, "\n", 1);
}

static bool filters(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		    struct buf *into)
{
	const char *blank = memchr(text, ' ', len);

	(void)texts;
	(void)context;
	return put_event(into, text, blank ? (size_t)(blank - text) : len) && buf_add_str(into, " redacted\n");
}

static bool name(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		 struct buf *into)
{
	(void)context;
	return redact_put(texts, into, text, len, redact_name);
}

/* Those of weft's own buffers are kept; behind them may stand the name of a recording. */
static bool buffer_name(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
			struct buf *into)
{
	static const char *const own[] = { OWN_BUFFER_FILES, OWN_BUFFER_PROFILE, OWN_BUFFER_QUOTA, OWN_BUFFER_STACKS };
	size_t head = 0;

	for (size_t i = 0; i < array_size(own) && !head; i++)
		if (own_buffer_is(text, own[i]))
			head = strlen(own[i]) + (text[strlen(own[i])] == '.');
	return buf_add(into, text, head) && name(texts, context, text + head, len - head, into);
}

static bool words(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		  struct buf *into)
{
	(void)context;
	return redact_put(texts, into, text, len, redact_words);
}

/* Lines "-OPTION VALUE": what the option chose is a name, unless it is an event or a number. */
static bool selected(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		     struct buf *into)
{
	const char *blank = memchr(text, ' ', len);
	size_t head = blank && *text == '-' ? (size_t)(blank + 1 - text) : 0;
	bool ok = buf_add(into, text, head);

	(void)context;
	if (ok && head == 3 && !memcmp(text, "-e ", 3))
		ok = put_event(into, text + head, len - head);
	else if (ok)
		ok = redact_put(texts, into, text + head, len - head, redact_words);
	return ok && buf_add(into, "\n", 1);
}

/* Lines "PID NAME"; a name may have a newline in it. */
static bool cmdlines(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		     struct buf *into)
{
	char *end;
	long pid = strtol(text, &end, 10);
	size_t head = (size_t)(end - text);
	bool ok = true;

	(void)context;
	if (head && head < len && *end == ' ')
		ok = buf_addf(into, "%d ", redact_pid(texts->shifts, (int32_t)pid));
	else
		head = SIZE_MAX;
	head++;
	return ok && redact_put(texts, into, text + head, len - head, redact_name) && buf_add(into, "\n", 1);
}

/* Undoes the \xNN for tabs, newlines and backslashes; returns the length. */
static size_t plain_of(const char *at, size_t len, char plain[NAME_MAX_BYTES])
{
	size_t nr = 0;

	for (size_t i = 0; i < len && nr < NAME_MAX_BYTES; nr++) {
		unsigned byte;

		if (len - i >= 4 && at[i] == '\\' && at[i + 1] == 'x' && sscanf(at + i + 2, "%2x", &byte) == 1) {
			plain[nr] = (char)byte;
			i += 4;
		} else {
			plain[nr] = at[i++];
		}
	}
	return nr;
}

static bool put_escaped(struct redact_texts *texts, const char *at, size_t len,
			void (*how)(struct redact_names *names, const char *text, size_t len, char *into),
			struct buf *into)
{
	char plain[NAME_MAX_BYTES];
	size_t nr = plain_of(at, len, plain);

	return redact_put(texts, into, plain, nr, how);
}

static bool put_target(struct redact_texts *texts, const char *at, size_t len, struct buf *into)
{
	char plain[NAME_MAX_BYTES];
	size_t nr = plain_of(at, len, plain);

	return redact_target(texts, plain, nr, into);
}

/* "TID TGID PPID STARTTIME UID NSPID CGROUP\tNAME\tPROGRAM", or "# N more" */
static bool tasks(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		  struct buf *into)
{
	unsigned long long at[7];
	const char *tab = memchr(text, '\t', len), *end = text + len, *program;
	const struct redact_shifts *shifts = texts->shifts;
	unsigned more;

	(void)context;
	if (len < 64 && sscanf(text, "# %9u more", &more) == 1)
		return buf_addf(into, "# %u more\n", more);
	if (!tab || sscanf(text, "%20llu %20llu %20llu %20llu %20llu %20llu %20llu", &at[0], &at[1], &at[2], &at[3],
			   &at[4], &at[5], &at[6]) != 7)
		return true;
	program = memchr(tab + 1, '\t', (size_t)(end - tab - 1));
	if (!buf_addf(into, "%d %d %d %llu %" PRIu64 " %d %llu\t", redact_pid(shifts, (int32_t)at[0]),
		      redact_pid(shifts, (int32_t)at[1]), redact_pid(shifts, (int32_t)at[2]), at[3],
		      redact_value(shifts, REDACT_ID, at[4]), redact_pid(shifts, (int32_t)at[5]), at[6]) ||
	    !put_escaped(texts, tab + 1, (size_t)((program ? program : end) - tab - 1), redact_name, into))
		return false;
	if (program && end - program == 9 && !memcmp(program, "\t(kernel)", 9))
		return buf_add_str(into, "\t(kernel)\n");
	if (program && (!buf_add(into, "\t", 1) ||
			!put_escaped(texts, program + 1, (size_t)(end - program - 1), redact_path, into)))
		return false;
	return buf_add(into, "\n", 1);
}

/* "START-END PERMISSIONS OFFSET MAJOR:MINOR INODE PATH", with "p PID" in front of those of a process */
static bool maps(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		 struct buf *into)
{
	static const char own[] = " [stack] [heap] [vdso] [vvar] [vsyscall] ";
	unsigned long long start, end, offset, inode;
	const char *path, *last = text + len;
	unsigned major, minor;
	char can[5];
	int head = 0, pid;

	(void)context;
	if (sscanf(text, "p %11d", &pid) == 1)
		return buf_addf(into, "p %d\n", redact_pid(texts->shifts, pid));
	if (sscanf(text, "%16llx-%16llx %4[rwxps-] %16llx %8x:%8x %20llu%n", &start, &end, can, &offset, &major, &minor,
		   &inode, &head) < 7 ||
	    !head || (size_t)head > len)
		return true;
	for (path = text + head; path < last && *path == ' ';)
		path++;
	if (!buf_addf(into, "%llx-%llx %s %08llx %02x:%02x %" PRIu64,
		      (unsigned long long)redact_address(texts->shifts, start),
		      (unsigned long long)redact_address(texts->shifts, end), can, offset, major, minor,
		      redact_value(texts->shifts, REDACT_INODE, inode)))
		return false;
	if (path < last && !buf_add(into, " ", 1))
		return false;
	if (redact_listed(own, path, (size_t)(last - path)))
		return buf_add(into, path, (size_t)(last - path)) && buf_add(into, "\n", 1);
	return put_target(texts, path, (size_t)(last - path), into) && buf_add(into, "\n", 1);
}

/* "f INODE BUILD-ID PATH", and behind it "START SIZE NAME" of each function */
static bool functions(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		      struct buf *into)
{
	unsigned long long inode, start, size;
	int head = 0;

	(void)context;
	if (len > 2 && text[1] == ' ' && sscanf(text, "f %20llu %*[^ ] %n", &inode, &head) == 1 && head &&
	    (size_t)head <= len)
		return buf_addf(into, "f %" PRIu64 " - ", redact_value(texts->shifts, REDACT_INODE, inode)) &&
		       put_target(texts, text + head, len - (size_t)head, into) && buf_add(into, "\n", 1);
	if (sscanf(text, "%16llx %16llx %n", &start, &size, &head) != 2 || !head || (size_t)head > len)
		return true;
	return buf_addf(into, "%llx %llx ", start, size) &&
	       redact_put(texts, into, text + head, len - (size_t)head, redact_words) && buf_add(into, "\n", 1);
}

/* "TGID FD FLAGS MAJOR:MINOR:INODE\tTARGET", in old files without the device; "TGID" of a process without any */
static bool open_files(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		       struct buf *into)
{
	const char *tab = memchr(text, '\t', len);
	unsigned long long tgid, fd, flags, inode;
	unsigned major, minor;
	int nr = sscanf(text, "%20llu %20llu %20llo %10u:%10u:%20llu", &tgid, &fd, &flags, &major, &minor, &inode);
	bool ok;

	(void)context;
	if (nr < 1)
		return len != 4 || memcmp(text, "more", 4) || buf_add_str(into, "more\n");
	ok = buf_addf(into, "%d", redact_pid(texts->shifts, (int32_t)tgid));
	if (ok && nr >= 3 && tab) {
		ok = buf_addf(into, " %llu %llo", fd, flags);
		if (ok && nr == 6)
			ok = buf_addf(into, " %u:%u:%" PRIu64, major, minor,
				      redact_value(texts->shifts, REDACT_INODE, inode));
		ok = ok && buf_add(into, "\t", 1) && put_target(texts, tab + 1, len - (size_t)(tab + 1 - text), into);
	}
	return ok && buf_add(into, "\n", 1);
}

/* "ID PARENT MAJOR:MINOR ROOT PLACE ..." */
static bool mounts(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		   struct buf *into)
{
	unsigned id, parent, major, minor;
	int head = 0;
	const char *at, *end = text + len;
	bool ok;

	(void)context;
	if (sscanf(text, "%10u %10u %10u:%10u %n", &id, &parent, &major, &minor, &head) < 4 || !head ||
	    (size_t)head > len)
		return true;
	ok = buf_addf(into, "%u %u %u:%u", id, parent, major, minor);
	at = text + head;
	for (int i = 0; ok && i < 2 && at < end; i++) {
		const char *blank = memchr(at, ' ', (size_t)(end - at));

		ok = buf_add(into, " ", 1) &&
		     redact_put(texts, into, at, (size_t)((blank ? blank : end) - at), redact_path);
		at = blank ? blank + 1 : end;
	}
	return ok && buf_add(into, "\n", 1);
}

/* "HIERARCHY ID PATH" */
static bool cgroups(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		    struct buf *into)
{
	unsigned long long at[2];
	int head = 0;

	(void)context;
	if (sscanf(text, "%20llu %20llu %n", &at[0], &at[1], &head) < 2 || !head || (size_t)head > len)
		return true;
	return buf_addf(into, "%llu %llu ", at[0], at[1]) &&
	       put_escaped(texts, text + head, len - (size_t)head, redact_group, into) && buf_add(into, "\n", 1);
}

/* "container ID\tNAME", "pod UID\tNAME" */
static bool containers(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		       struct buf *into)
{
	const char *blank = memchr(text, ' ', len), *tab = memchr(text, '\t', len);

	(void)context;
	if (!blank || !tab || tab < blank)
		return true;
	return buf_add(into, text, (size_t)(blank + 1 - text)) &&
	       put_escaped(texts, blank + 1, (size_t)(tab - blank - 1), redact_group, into) && buf_add(into, "\t", 1) &&
	       put_escaped(texts, tab + 1, len - (size_t)(tab + 1 - text), redact_name, into) && buf_add(into, "\n", 1);
}

/* "TIME PID LENGTH NAME" */
static bool told_names(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		       struct buf *into)
{
	bool ok = true;

	(void)context;
	while (ok && len) {
		unsigned long long time;
		unsigned nr;
		int pid, head = 0;

		if (sscanf(text, "%20llu %11d %5u%n", &time, &pid, &nr, &head) < 3 || !head || (size_t)head + 1 > len ||
		    nr > len - (size_t)head - 1)
			break;
		ok = buf_addf(into, "%llu %d %u ", time, redact_pid(texts->shifts, pid), nr) &&
		     redact_put(texts, into, text + head + 1, nr, redact_name) && buf_add(into, "\n", 1);
		head += 1 + (int)nr + ((size_t)head + 1 + nr < len);
		text += head;
		len -= (size_t)head;
	}
	return ok;
}

/* "ffffffff81000000 T NAME\t[MODULE]": only names of the kernel and of its own modules are kept. */
static bool symbols(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		    struct buf *into)
{
	const char *end = text + len, *module = memchr(text, '\t', len);
	char *at;
	uint64_t value = strtoull(text, &at, 16);
	size_t digits = (size_t)(at - text), nr = (size_t)((module ? module : end) - at);
	bool ok;

	(void)context;
	if (!digits || digits > 16 || nr < 4 || *at != ' ' || at[2] != ' ' || !isalpha((unsigned char)at[1]))
		return true;
	ok = buf_addf(into, "%0*" PRIx64 " %c ", (int)digits, redact_address(texts->shifts, value), at[1]);
	at += 3;
	nr -= 3;
	if (!module)
		return ok && buf_add(into, at, nr) && buf_add(into, "\n", 1);
	module++;
	if (end - module > 2 && redact_listed(redact_known_modules, module + 1, (size_t)(end - module - 2)))
		return ok && buf_add(into, at, (size_t)(end - at)) && buf_add(into, "\n", 1);
	ok = ok && redact_put(texts, into, at, nr, redact_words) && buf_add_str(into, "\t[");
	if (end - module > 2)
		ok = ok && redact_put(texts, into, module + 1, (size_t)(end - module - 2), redact_words);
	return ok && buf_add_str(into, "]\n");
}

/* '0xffffffff82000000 : "TEXT"' */
static bool printk_formats(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
			   struct buf *into)
{
	const char *quote = memchr(text, '"', len);
	size_t nr = quote ? len - (size_t)(quote + 1 - text) : 0, from;
	bool ok;

	(void)context;
	if (!nr)
		return true;
	ok = buf_addf(into, "0x%" PRIx64 " : \"", redact_address(texts->shifts, strtoull(text, NULL, 16)));
	from = into->len;
	ok = ok && redact_put(texts, into, quote + 1, nr, redact_words) && buf_add(into, "\n", 1);
	/* No conversions, as arguments are left out, and no escapes. */
	for (size_t i = from; ok && i + 2 < into->len; i++)
		if (strchr("%\\\"", into->data[i]))
			into->data[i] = '.';
	return ok;
}

/* Only the values of enumerators, which print formats name. */
static bool types(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		  struct buf *into)
{
	(void)texts;
	(void)context;
	return len <= 2 || memcmp(text, "v ", 2) || (buf_add(into, text, len) && buf_add(into, "\n", 1));
}

/* The release without its local part, but for what says that the kernel is a real-time or a test one. */
static bool put_release(const struct context *context, struct buf *into)
{
	const char *part = strstr(context->release, "-rt");
	unsigned number;

	if (!buf_addf(into, "%u.%u.%u", context->release_major, context->release_minor, context->release_patch))
		return false;
	if (part && sscanf(part, "-rt%5u", &number) == 1)
		return buf_addf(into, "-rt%u", number);
	part = strstr(context->release, "-rc");
	return !part || sscanf(part, "-rc%3u", &number) != 1 || buf_addf(into, "-rc%u", number);
}

static bool put_kernel(const struct context *context, const char *host, const char *text, struct buf *into)
{
	const char *machine =
		redact_listed(" x86_64 i386 i486 i586 i686 aarch64 armv6l armv7l armv8l arm s390x s390 ppc64le "
			      "ppc64 ppc riscv64 riscv32 mips mips64 loongarch64 sparc64 alpha parisc64 ",
			      context->machine, strlen(context->machine)) ?
			context->machine :
			"unknown";
	const char *model = context->preempt_rt ? " PREEMPT_RT" : text && strstr(text, " PREEMPT ") ? " PREEMPT" : "";

	if (!context->release_major)
		return true;
	return buf_addf(into, "Linux %s", host) && put_release(context, into) &&
	       buf_addf(into, "%s %s", *model ? " #1 SMP" : "", *model ? model + 1 : "") &&
	       (*model ? buf_addf(into, " %s", machine) : buf_addf(into, "%s", machine));
}

static bool kernel(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		   struct buf *into)
{
	(void)texts;
	(void)len;
	return put_kernel(context, "host ", text, into);
}

static bool kernel_without_host(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
				struct buf *into)
{
	(void)texts;
	(void)len;
	return put_kernel(context, "", text, into) && buf_add(into, "\n", 1);
}

static bool release(struct redact_texts *texts, const struct context *context, const char *text, size_t len,
		    struct buf *into)
{
	(void)texts;
	(void)text;
	(void)len;
	return !context->release_major || put_release(context, into);
}

/*
 * Every setting that weft writes and that a redacted file has; all others are left out. Texts of the kernel's own
 * words, which no program and no person chooses, are copied.
 */
static const struct rule {
	const char *name; /* may be a glob */
	rewrite *how;
	bool lines; /* it is given one line after the other */
} rules[] = {
	{ "trace_options", as_is, false },
	{ "current_tracer", as_is, false },
	{ "available_tracers", as_is, false },
	{ "trace_clock", as_is, false },
	{ "timestamp_mode", as_is, false },
	{ "tracing_thresh", numbers, false },
	{ "tracing_max_latency", numbers, false },
	{ "tracing_cpumask", numbers, false },
	{ "buffer_size_kb", numbers, false },
	{ "buffer_total_size_kb", numbers, false },
	{ "buffer_subbuf_size_kb", numbers, false },
	{ "buffer_percent", numbers, false },
	{ "max_graph_depth", numbers, false },
	{ "saved_cmdlines_size", numbers, false },
	{ "set_event", events, true },
	{ "set_event_pid", pids, false },
	{ "set_event_notrace_pid", pids, false },
	{ "set_ftrace_pid", pids, false },
	{ "set_ftrace_notrace_pid", pids, false },
	{ "saved_tgids", pids, false },
	{ "saved_cmdlines", cmdlines, true },
	{ "kallsyms", symbols, true },
	{ "printk_formats", printk_formats, true },
	{ "per_cpu/cpu*/stats", counts, true },
	{ "weft/per_cpu/cpu*/cleared", numbers, false },
	{ "weft/mode", as_is, false },
	{ "weft/preempt_model", as_is, false },
	{ "weft/sched_preempt", as_is, false },
	{ "weft/symbols", as_is, false },
	{ "weft/columns", as_is, false },
	{ "weft/tracer", as_is, false },
	{ "weft/divided", as_is, false },
	{ "weft/sample", as_is, false },
	{ "weft/ended", as_is, false },
	{ "weft/online", numbers, false },
	{ "weft/hz", numbers, false },
	{ "weft/entries", numbers, false },
	{ "weft/time_start", numbers, false },
	{ "weft/buffer_cpu", numbers, false },
	{ "weft/kptr_restrict", numbers, false },
	{ "weft/went_on", numbers, false },
	{ "weft/formats", numbers, false },
	{ "weft/graph_no_time", numbers, false },
	{ "weft/graph_relative", numbers, false },
	{ "weft/self", pids, false },
	{ "weft/event_pids", pids, false },
	{ "weft/tasks", tasks, true },
	{ "weft/tasks_end", tasks, true },
	{ "weft/tasks_before", tasks, true },
	{ "weft/tasks_after", tasks, true },
	{ "proc/*/maps", maps, true },
	{ "weft/maps", maps, true },
	{ "weft/functions", functions, true },
	{ "weft/open_files", open_files, true },
	{ "weft/mounts", mounts, true },
	{ "weft/cgroups", cgroups, true },
	{ "weft/cgroups_end", cgroups, true },
	{ "weft/containers", containers, true },
	{ "weft/containers_end", containers, true },
	{ "weft/withheld", as_is, false },
	{ "weft/withheld_end", as_is, false },
	{ "weft/filters", filters, true },
	{ "weft/selected", selected, true },
	{ "weft/told_names", told_names, false },
	{ "weft/recording", name, false },
	{ "weft/clock_error", numbers, false },
	{ "weft/missed", words, false },
	{ "weft/types", types, true },
	{ "weft/kernel", kernel, false },
	{ "weft/uname", kernel_without_host, false },
	{ "weft/release", release, false },
	{ "weft/section", empty, false },
	{ "weft/disks", disks, true },
};

static int own(struct redact_texts *texts, struct buf *text, const char **ret, size_t *ret_len, struct fail *fail)
{
	char **slot = vec_push(texts->made, texts->nr_made);

	*slot = slot ? buf_take(text, ret_len) : NULL;
	if (!slot || !*slot)
		return fail_memory(fail);
	*ret = *slot;
	return 0;
}

static int again(struct redact_texts *texts, const struct context *context, rewrite *how, bool lines, const char **text,
		 size_t *len, struct fail *fail)
{
	cleanup_buf struct buf made = BUF_INIT;
	struct text_word line;
	const char *at = *text;
	size_t nr = 0, left;
	bool ok = true;

	if (!at)
		return 0;
	left = len ? *len : strlen(at);
	if (!lines)
		ok = how(texts, context, at, left, &made);
	while (lines && ok && text_next_line(&at, &left, &line))
		ok = how(texts, context, line.at, line.len, &made);
	if (!ok)
		return fail_memory(fail);
	return own(texts, &made, text, len ? len : &nr, fail);
}

static bool leave_out(struct redact_texts *texts, const char *what)
{
	struct buf *list = &texts->done->settings;

	texts->done->nr_settings++;
	if (list->len > TOLD_MAX)
		return true;
	/* Names of files are the kernel's or weft's, but for those of processes and events. */
	if (!strncmp(what, "proc/", 5))
		what = "proc/PID/maps";
	if (!strncmp(what, "events/", 7))
		what = "events/*/hist";
	return strstr(buf_str(list), what) || buf_addf(list, " %s", what);
}

/* proc/PID/maps of a PID that is shifted. */
static int name_process(struct redact_texts *texts, struct writer_setting *setting, struct fail *fail)
{
	cleanup_buf struct buf made = BUF_INIT;
	size_t len;
	int pid;

	if (!texts->shifts->pids || sscanf(setting->name, "proc/%11d/maps", &pid) != 1)
		return 0;
	if (!buf_addf(&made, "proc/%d/maps", redact_pid(texts->shifts, pid)))
		return fail_memory(fail);
	return own(texts, &made, &setting->name, &len, fail);
}

static int take_setting(struct redact_texts *texts, struct writer_setting *setting, bool *ret_kept, struct fail *fail)
{
	const struct context *context = texts->contexts[setting->buffer];
	int r;

	*ret_kept = false;
	for (size_t i = 0; i < array_size(rules); i++) {
		if (!text_glob(rules[i].name, setting->name))
			continue;
		*ret_kept = true;
		r = name_process(texts, setting, fail);
		return r ? r : again(texts, context, rules[i].how, rules[i].lines, &setting->text, &setting->len, fail);
	}
	return leave_out(texts, setting->name) ? 0 : fail_memory(fail);
}

static int take_settings(struct redact_texts *texts, size_t buffers, struct fail *fail)
{
	struct writer_metadata *metadata = &texts->carried.metadata;
	size_t nr = 0;
	int r = 0;

	for (size_t i = 0; !r && i < metadata->nr_settings; i++) {
		struct writer_setting setting = metadata->settings[i];
		bool kept = false;

		if (setting.buffer >= buffers)
			continue;
		r = take_setting(texts, &setting, &kept, fail);
		if (kept)
			metadata->settings[nr++] = setting;
	}
	metadata->nr_settings = nr;
	return r;
}

static int add_setting(struct redact_texts *texts, uint32_t buffer, const char *setting, struct buf *text,
		       struct fail *fail)
{
	struct writer_metadata *metadata = &texts->carried.metadata;
	struct writer_setting *added = vec_push(texts->carried.settings, metadata->nr_settings);

	if (!added)
		return fail_memory(fail);
	metadata->settings = texts->carried.settings;
	*added = (struct writer_setting){ .buffer = buffer, .name = setting };
	return own(texts, text, &added->text, &added->len, fail);
}

/* What the texts say that are left out. */
static int add_facts(struct redact_texts *texts, uint32_t buffer, struct fail *fail)
{
	const struct context *context = texts->contexts[buffer];
	struct trace *trace = texts->carried.trace;
	cleanup_buf struct buf time = BUF_INIT, cpu = BUF_INIT, model = BUF_INIT;
	int r = 0;

	if (!trace_setting(trace, buffer, "weft/latency_sample").text &&
	    !trace_setting(trace, buffer, "weft/section").text)
		return 0;
	if (context->time_start_known && !trace_setting(trace, buffer, "weft/time_start").text)
		r = buf_addf(&time, "%" PRIu64 "\n", context->time_start) ?
			    add_setting(texts, buffer, "weft/time_start", &time, fail) :
			    fail_memory(fail);
	if (!r && !trace_setting(trace, buffer, "weft/buffer_cpu").text)
		r = buf_addf(&cpu, "%u\n", context->buffer_cpu) ?
			    add_setting(texts, buffer, "weft/buffer_cpu", &cpu, fail) :
			    fail_memory(fail);
	if (!r && context->preempt_model && !trace_setting(trace, buffer, "weft/preempt_model").text)
		r = buf_addf(&model, "%s\n", context->preempt_model) ?
			    add_setting(texts, buffer, "weft/preempt_model", &model, fail) :
			    fail_memory(fail);
	return r;
}

/* The name in a format's text. */
static bool name_of(const struct writer_format *format, struct text_word *ret)
{
	const char *at = format->text;
	size_t left = format->len;

	while (at && text_next_line(&at, &left, ret))
		if (ret->len > 6 && !memcmp(ret->at, "name: ", 6)) {
			ret->at += 6;
			ret->len -= 6;
			return true;
		}
	return false;
}

/* A field of weft's own probes; "u8 saddr[4]", "__data_loc char[] name". */
static bool put_own_field(struct text_word line, struct buf *into)
{
	static const char types[] = " u8 u16 u32 u64 s32 s64 long ";
	char type[40], field[40];
	unsigned offset, size, is_signed, nr = 0;
	const char *last;

	if (line.len >= 160 || sscanf(line.at, "\tfield:%39[^;];\toffset:%5u;\tsize:%5u;\tsigned:%1u;", type, &offset,
				      &size, &is_signed) != 4)
		return true;
	last = strrchr(type, ' ');
	if (!last || sscanf(last + 1, "%39[a-z0-9_][%4u]", field, &nr) < 1 || redact_own_kind(field) == REDACT_ZERO)
		return true;
	if (!strncmp(type, "__data_loc char[] ", 18))
		return buf_addf(into, "\tfield:__data_loc char[] %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", field,
				offset, size, is_signed);
	if (!strncmp(type, "unsigned long ", 14))
		return buf_addf(into, "\tfield:unsigned long %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", field, offset,
				size, is_signed);
	if (!redact_listed(types, type, (size_t)(last - type)))
		return true;
	return buf_addf(into, "\tfield:%.*s %s", (int)(last - type), type, field) &&
	       (!nr || buf_addf(into, "[%u]", nr)) &&
	       buf_addf(into, ";\toffset:%u;\tsize:%u;\tsigned:%u;\n", offset, size, is_signed);
}

/* Only the common fields and those of weft's own probes, whose name is kept; that of others tells nothing. */
static bool put_bare_format(const struct writer_format *format, uint32_t id, const struct text_word *own,
			    struct buf *into)
{
	const char *at = format->text;
	size_t left = format->len;
	struct text_word line;
	bool ok = own ? buf_addf(into, "name: %.*s\n", (int)own->len, own->at) :
			buf_addf(into, "name: event_%" PRIu32 "\n", id);

	ok = ok && buf_addf(into, "ID: %" PRIu32 "\nformat:\n", id);

	while (ok && text_next_line(&at, &left, &line)) {
		char type[32], field[40];
		unsigned offset, size, is_signed;

		if (line.len < 160 &&
		    sscanf(line.at, "\tfield:%31[a-z ] %39[a-z_];\toffset:%5u;\tsize:%5u;\tsigned:%1u;", type, field,
			   &offset, &size, &is_signed) == 5 &&
		    redact_listed(" common_type common_flags common_preempt_count common_pid common_preempt_lazy_count "
				  "common_migrate_disable common_tgid common_padding common_lock_depth ",
				  field, strlen(field)))
			ok = buf_addf(into, "\tfield:%s %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", type, field, offset,
				      size, is_signed);
		else if (own)
			ok = put_own_field(line, into);
	}
	return ok && buf_add_str(into, "\nprint fmt: \"redacted\"\n");
}

static int take_format(struct redact_texts *texts, struct writer_format *format, struct fail *fail)
{
	cleanup_buf struct buf made = BUF_INIT;
	struct text_word event;
	const char *at, *end;
	uint32_t id;
	bool known = name_of(format, &event) && redact_knows_event(format->system, event.at, event.len);
	bool is_own = known && !strcmp(format->system, "weft");

	if (known && !is_own && !memmem(format->text, format->len, "__probe_", 8))
		return 0;
	if (!own_formats_id(format->text, &at, &end, &id))
		id = UINT16_MAX;
	if (!put_bare_format(format, id, is_own ? &event : NULL, &made))
		return fail_memory(fail);
	if (!is_own)
		format->system = strcmp(format->system, "ftrace") ? "redacted" : "ftrace";
	return own(texts, &made, &format->text, &format->len, fail);
}

/* The description of a page: four known fields. */
static bool put_page_head(const char *text, struct buf *into)
{
	size_t left = strlen(text);
	struct text_word line;
	bool ok = true;

	while (ok && text_next_line(&text, &left, &line)) {
		char type[24], field[24];
		unsigned offset, size, is_signed;
		int nr = line.len < 160 ?
				 sscanf(line.at, "\tfield: %23[a-z0-9_] %23[a-z];\toffset:%5u;\tsize:%7u;\tsigned:%1u;",
					type, field, &offset, &size, &is_signed) :
				 0;

		if (nr >= 4 && redact_listed(" timestamp commit overwrite data ", field, strlen(field)))
			ok = buf_addf(into, "\tfield: %s %s;\toffset:%u;\tsize:%u;\tsigned:%u;\n", type, field, offset,
				      size, nr == 5 ? is_signed : 0);
	}
	return ok;
}

static int take_metas(struct redact_texts *texts, struct fail *fail)
{
	struct writer_metadata *out = &texts->carried.metadata;
	const struct context *context = texts->contexts[0];
	cleanup_buf struct buf head = BUF_INIT;
	size_t len;
	int r;

	if (out->latency && !leave_out(texts, "latency text"))
		return fail_memory(fail);
	if (out->has_date && !leave_out(texts, "date"))
		return fail_memory(fail);
	out->latency = NULL;
	out->latency_len = 0;
	out->header_event = "";
	out->version = "weft";
	out->trace_id = 0;
	out->has_date = false;
	out->date_offset_ns = 0;
	if (!put_page_head(out->header_page, &head))
		return fail_memory(fail);
	r = own(texts, &head, &out->header_page, &len, fail);
	if (!r)
		r = again(texts, context, symbols, true, &out->kallsyms, &out->kallsyms_len, fail);
	if (!r)
		r = again(texts, context, printk_formats, true, &out->printk, &out->printk_len, fail);
	if (!r)
		r = again(texts, context, cmdlines, true, &out->cmdlines, &out->cmdlines_len, fail);
	if (!r)
		r = again(texts, context, kernel, false, &out->uname, NULL, fail);
	if (!r)
		r = again(texts, context, counts, true, &texts->carried.cpustats, NULL, fail);
	return r;
}

static int take_buffers(struct redact_texts *texts, struct trace *trace, struct fail *fail)
{
	size_t nr = trace_buffers(trace);

	texts->buffers = calloc(nr + 1, sizeof(*texts->buffers));
	if (!texts->buffers)
		return fail_memory(fail);
	for (size_t i = 0; i < nr; i++) {
		int r;

		texts->buffers[i] = trace_buffer(trace, i)->name.text;
		r = again(texts, texts->contexts[i], buffer_name, false, &texts->buffers[i], NULL, fail);
		if (r)
			return r;
	}
	return 0;
}

int redact_texts_make(struct redact_texts *texts, struct trace *trace, struct fail *fail)
{
	size_t nr = trace_buffers(trace);
	int r = carried_init(&texts->carried, trace, fail);

	for (size_t i = 0; !r && i < texts->carried.metadata.nr_formats; i++)
		r = take_format(texts, &texts->carried.formats[i], fail);
	if (!r)
		r = take_metas(texts, fail);
	if (!r)
		r = take_settings(texts, nr, fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = add_facts(texts, (uint32_t)i, fail);
	return r ? r : take_buffers(texts, trace, fail);
}

void redact_texts_release(struct redact_texts *texts)
{
	for (size_t i = 0; i < texts->nr_made; i++)
		free(texts->made[i]);
	free(texts->made);
	free(texts->buffers);
	carried_release(&texts->carried);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/extract_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/answer.h"
#include "cmd/options/form_options.h"
#include "cmd/sandboxed_rewrite.h"
#include "cmd/terminal/terminal.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/readable.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/text.h"
#include "lib/meaning/clock/wall.h"
#include "lib/memory/crash/crash.h"
#include "lib/memory/dump/dump.h"
#include "lib/pages/trace/writer.h"

/* A file cannot become larger than this: the buffers of large machines are a few GB. */
#define FILE_MAX (UINT64_C(64) << 30)

enum { BTF_MAX = 64 << 20 };

struct work {
	const struct extract_dump *extract;
	struct form form;
	int fds[EXTRACT_DUMPS_MAX];
	size_t nr_fds;
	struct dump *parts[EXTRACT_DUMPS_MAX]; /* until they are `dump` */
	struct dump *dump;
	struct crash *crash;
	struct buf btf;
	uint64_t size; /* of the new file */
};

static int open_file(const char *path, int *ret_fd, struct fail *fail)
{
	if (strcmp(path, "-") != 0)
		return readable_open(path, ret_fd, fail);
	*ret_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return *ret_fd < 0 ? fail_set(fail, -errno, "cannot read standard input: %s", strerror(errno)) : 0;
}

static int read_btf(struct work *work, int fd, struct fail *fail)
{
	char part[64 << 10];
	ssize_t got;

	while ((got = read(fd, part, sizeof(part))) > 0) {
		if (work->btf.len + (size_t)got > BTF_MAX)
			return fail_set(fail, -EFBIG, "'%s' is too large for type information", work->extract->btf);
		if (!buf_add(&work->btf, part, (size_t)got))
			return fail_memory(fail);
	}
	return got < 0 ? fail_set(fail, -errno, "cannot read '%s': %s", work->extract->btf, strerror(errno)) : 0;
}

/* Opens the files of the dump; what cannot be seeked becomes a temporary file, while files can be made. */
static int open_files(struct work *work, struct stat *ret_st, struct fail *fail)
{
	const struct extract_dump *extract = work->extract;
	int r = 0;

	for (size_t i = 0; !r && i < extract->nr_dumps; i++) {
		r = open_file(extract->dumps[i], &work->fds[i], fail);
		if (r)
			break;
		work->nr_fds++;
		if (fstat(work->fds[i], ret_st))
			r = fail_set(fail, -errno, "cannot read '%s': %s", extract->dumps[i], strerror(errno));
		if (!r && !S_ISREG(ret_st->st_mode))
			r = dump_open(work->fds[i], extract->dumps[i], &work->parts[i], fail);
	}
	return r;
}

static int open_dump(struct work *work, struct fail *fail)
{
	const struct extract_dump *extract = work->extract;
	int r = 0;

	for (size_t i = 0; !r && i < extract->nr_dumps; i++)
		if (!work->parts[i])
			r = dump_open(work->fds[i], extract->dumps[i], &work->parts[i], fail);
	return r ? r : dump_join(work->parts, extract->nr_dumps, &work->dump, fail);
}

/* Opens the inputs, gives up all rights, and then reads what a crashed kernel has left. */
static int open_all(struct work *work, struct fail *fail)
{
	const struct extract_dump *extract = work->extract;
	cleanup_fd int btf = -1, symbols = -1;
	struct stat st = { 0 };
	int r = open_files(work, &st, fail);

	if (!r && extract->btf)
		r = open_file(extract->btf, &btf, fail);
	if (!r && extract->symbols)
		r = open_file(extract->symbols, &symbols, fail);
	if (!r && !extract->list)
		r = form_limit(&work->form, FILE_MAX, fail);
	if (!r && !extract->reading->no_sandbox)
		r = sandbox_enter(st.st_uid, st.st_gid, fail);
	if (!r)
		r = open_dump(work, fail);
	if (!r && btf >= 0)
		r = read_btf(work, btf, fail);
	if (r)
		return r;
	r = crash_open(work->dump,
		       &(struct crash_help){ .btf = work->btf.len ? work->btf.data : NULL,
					     .btf_len = work->btf.len,
					     .symbols = symbols,
					     .symbols_path = extract->symbols },
		       &work->crash, fail);
	return r ? fail_in(fail, r, "'%s'", extract->dumps[0]) : 0;
}

static const char *called(const struct crash_buffer *buffer, char *into, size_t size)
{
	snprintf(into, size, "%s%s%s%s", buffer->snapshot ? "the snapshot of " : "",
		 *buffer->name ? "instance '" : "the top instance", buffer->name, *buffer->name ? "'" : "");
	return into;
}

/* What a recording would have noted then (lib/meaning/clock/wall.h). How far that clock was off is not known. */
static bool put_moment(const struct crash_moment *moment, struct buf *into)
{
	struct wall_sample sample = { .lo = moment->ts,
				      .hi = moment->ts,
				      .wall_lo = moment->wall_ns,
				      .wall_hi = moment->wall_ns + (int64_t)moment->width_ns,
				      .mono = (int64_t)moment->mono_ns,
				      .boot = (int64_t)moment->boot_ns,
				      .error_us = -1,
				      .why = WALL_END };

	snprintf(sample.clock, sizeof(sample.clock), "%s", moment->clock);
	return wall_sample_put(&sample, into);
}

static struct crash_choice choice_of(const struct extract_dump *extract)
{
	return (struct crash_choice){ .names = extract->instances,
				      .nr = extract->nr_instances,
				      .snapshot = extract->snapshot,
				      .hash_key = extract->hash_key,
				      .version = "weft " WEFT_VERSION,
				      .put_moment = put_moment,
				      .moments = SETTING_CLOCKS };
}

/* Compares what was found with what the kernel has counted. Returns whether something is missing. */
static bool tell_buffer(const struct crash_buffer *buffer)
{
	char name[300], events[TEXT_HUMAN], counted[TEXT_HUMAN], size[TEXT_HUMAN];

	called(buffer, name, sizeof(name));
	if (buffer->remote) {
		command_warn("note: another processor than the kernel writes %s: it is left out", name);
		return false;
	}
	command_warn("%s: %s events in %s of pages, the kernel counted %s", name, text_count(events, buffer->events),
		     text_size(size, buffer->pages), text_count(counted, buffer->counted));
	if (buffer->overwritten)
		command_warn("note: %s event%s of it had been overwritten", text_count(events, buffer->overwritten),
			     text_plural(buffer->overwritten));
	if (buffer->consumed)
		command_warn("note: a reader of the pipe had read %s of the events",
			     text_count(events, buffer->consumed));
	if (buffer->unfinished)
		command_warn("note: %s of events that were being written are left out",
			     text_size(size, buffer->unfinished));
	if (buffer->missing)
		command_warn("note: the dump lacks %s page%s of it", text_count(events, buffer->missing),
			     text_plural(buffer->missing));
	if (buffer->broken)
		command_warn("note: on %zu CPU%s the list of pages is damaged: it ends too early", buffer->broken,
			     text_plural(buffer->broken));
	return buffer->missing || buffer->broken || buffer->events != buffer->counted;
}

/* Says what was found. Returns whether something is missing. */
static bool tell(const struct work *work)
{
	const struct crash_choice choice = choice_of(work->extract);
	struct crash_buffer buffer;
	struct crash_facts facts;
	char size[TEXT_HUMAN];
	bool lacks = false;

	crash_facts(work->crash, &facts);
	command_warn("%s: %s of %s, %zu formats of events, %zu symbols, %zu names of tasks",
		     work->extract->output->output, text_size(size, work->size), facts.release, facts.events,
		     facts.symbols, facts.tasks);
	for (size_t i = 0; crash_buffer_at(work->crash, i, &buffer); i++)
		if (crash_is_chosen(&choice, &buffer))
			lacks |= tell_buffer(&buffer);
	if (facts.unread)
		command_warn("note: the dump lacks the formats of %zu events: these are printed as numbers",
			     facts.unread);
	if (facts.searched)
		command_warn(
			"note: this kernel has no symbols of variables (CONFIG_KALLSYMS_ALL): tracing was found by "
			"what it looks like; with its System.map (--symbols) the formats of trace_printk() and the "
			"key of hashed pointers are found, too");
	if (facts.moved)
		command_warn(
			"note: the machine is running, and wrote %s page%s again while they were copied: these are "
			"left out",
			text_count((char[TEXT_HUMAN]){ 0 }, facts.moved), text_plural(facts.moved));
	if (facts.cut)
		command_warn("note: the kernel's list of events is damaged: formats may be missing");
	if (dump_damaged(work->dump))
		command_warn("note: the compressed bytes of %s page%s of the dump are damaged",
			     text_count(size, dump_damaged(work->dump)), text_plural(dump_damaged(work->dump)));
	return lacks;
}

static int write_wreck(void *arg, int fd, struct fail *fail)
{
	struct work *work = arg;
	const struct extract_dump *extract = work->extract;
	const struct output_arguments *output = extract->output;
	const struct crash_choice choice = choice_of(extract);
	const struct writer_options as = { .version = output->version,
					   .compress = output->compress,
					   .level = output->level,
					   .temporaries = work->form.as.temporaries };

	return crash_write(work->crash, &choice, &as, fd, &work->size, fail);
}

static void release(struct work *work)
{
	crash_free(work->crash);
	dump_free(work->dump);
	for (size_t i = 0; i < work->nr_fds; i++) {
		dump_free(work->parts[i]);
		close(work->fds[i]);
	}
	buf_release(&work->btf);
}

static int make_file(void *arg)
{
	struct work *work = arg;
	struct fail fail = FAIL_INIT;
	bool lacks = false;
	int r = open_all(work, &fail);

	if (!r)
		r = form_write(&work->form, "", write_wreck, work, &fail);
	if (r)
		command_failed(&fail);
	else if (!work->extract->output->quiet)
		lacks = tell(work);
	release(work);
	return r || lacks ? EXIT_FAILED : EXIT_OK;
}

/* How the kernel died. The name of the task is a stranger's. */
static void print_death(const struct crash_facts *facts)
{
	cleanup_free char *comm = terminal_line(facts->panic_comm);
	time_t seconds = (time_t)facts->crash_time;
	struct tm tm;
	char time[64];

	if (facts->crash_time && gmtime_r(&seconds, &tm) && strftime(time, sizeof(time), "%Y-%m-%d %H:%M:%S UTC", &tm))
		printf("crashed   %s\n", time);
	if (facts->panic_cpu >= 0)
		printf("panic     CPU %" PRId64, facts->panic_cpu);
	if (facts->panic_pid >= 0)
		printf(", task %s-%" PRId64, comm, facts->panic_pid);
	if (facts->panic_cpu >= 0)
		printf("\n");
}

static void print_facts(const struct work *work, const struct crash_facts *facts)
{
	struct crash_buffer buffer;

	printf("dump      %s\nrelease   %s\nmachine   %s\nhost      %s\nsymbols   %zu\n", dump_kind(work->dump),
	       facts->release, facts->machine, facts->host, facts->symbols);
	print_death(facts);
	printf("\n%-24s %4s %10s %12s %12s %12s\n", "BUFFER", "CPUS", "PAGES", "EVENTS", "COUNTED", "OVERWRITTEN");
	for (size_t i = 0; crash_buffer_at(work->crash, i, &buffer); i++) {
		char name[300], size[TEXT_HUMAN];

		snprintf(name, sizeof(name), "%s%s", *buffer.name ? buffer.name : "(top)",
			 buffer.snapshot ? " (snapshot)" : "");
		printf("%-24s %4zu %10s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 "\n", name, buffer.nr_cpus,
		       text_size(size, buffer.pages), buffer.events, buffer.counted, buffer.overwritten);
	}
}

/* A number that is negative where it is not known. */
static void put_known(struct json *json, const char *key, int64_t value)
{
	json_key(json, key);
	if (value < 0)
		json_put_null(json);
	else
		json_put_u64(json, (uint64_t)value);
}

static int put_facts(const struct work *work, const struct crash_facts *facts, struct fail *fail)
{
	struct answer *answer = work->extract->answer;
	struct json *json = &answer->json;
	struct crash_buffer buffer;
	int r = answer_begin(answer, fail);

	if (r)
		return r;
	answer_text(json, "file", work->extract->dumps[0]);
	json_key(json, "dump");
	json_object(json);
	answer_text(json, "format", dump_kind(work->dump));
	answer_text(json, "release", facts->release);
	answer_text(json, "machine", facts->machine);
	answer_text(json, "host", facts->host);
	answer_number(json, "symbols", facts->symbols);
	put_known(json, "crashed_unix_time", facts->crash_time ? (int64_t)facts->crash_time : -1);
	put_known(json, "panic_cpu", facts->panic_cpu);
	put_known(json, "panic_pid", facts->panic_pid);
	answer_text(json, "panic_comm", facts->panic_pid >= 0 ? facts->panic_comm : NULL);
	json_key(json, "buffers");
	json_array(json);
	for (size_t i = 0; crash_buffer_at(work->crash, i, &buffer); i++) {
		json_object(json);
		answer_text(json, "instance", buffer.name);
		answer_bool(json, "snapshot", buffer.snapshot);
		answer_number(json, "cpus", buffer.nr_cpus);
		answer_number(json, "pages_bytes", buffer.pages);
		answer_number(json, "events", buffer.events);
		answer_number(json, "counted", buffer.counted);
		answer_number(json, "overwritten", buffer.overwritten);
		json_end(json);
	}
	json_end(json);
	json_end(json);
	return answer_end(answer, fail);
}

static int print_list(struct work *work)
{
	struct fail fail = FAIL_INIT;
	struct crash_facts facts;
	int r = open_all(work, &fail);

	if (!r) {
		crash_facts(work->crash, &facts);
		if (work->extract->answer->is_json)
			r = put_facts(work, &facts, &fail);
		else
			print_facts(work, &facts);
	}
	if (r)
		command_failed(&fail);
	release(work);
	return r ? EXIT_FAILED : EXIT_OK;
}

int extract_dump_run(const struct extract_dump *extract)
{
	struct work work = { .extract = extract, .btf = BUF_INIT };
	const struct output_arguments *output = extract->output;

	if (extract->list)
		return print_list(&work);
	work.form.output = output->output;
	work.form.mode = output->mode;
	work.form.quiet = output->quiet;
	work.form.reading = *extract->reading;
	return form_apart(&work.form, make_file, &work);
}

// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/record/foreign_parts_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/number.h"
#include "lib/ground/base/sandbox.h"
#include "lib/ground/base/vec.h"
#include "lib/kernel/record/assembly_internal.h"
#include "lib/kernel/record/ledger_internal.h"
#include "lib/kernel/record/parts.h"
#include "lib/kernel/record/spool.h"

struct place {
	uint32_t buffer, cpu;
	struct spool spool;
};

struct work {
	struct parts *parts;
	const char *output;
	struct foreign_parts_written written;
	struct place *places;
	size_t nr;
};

/* What the other process says when it has written the file. */
struct report {
	int err;
	struct fail fail;
	uint64_t file_size, raw, torn;
	unsigned cpus;
};

bool foreign_parts_are(const struct parts *parts)
{
	const struct ledger_item *item = ledger_find(parts->ledger, LEDGER_OUTPUT, 0, NULL);

	return item && *item->key;
}

static int open_place(struct work *work, const struct ledger_item *item, struct fail *fail)
{
	const struct writer_options *file = &work->parts->file.options;
	const struct ledger_item *buffer = ledger_find(work->parts->ledger, LEDGER_BUFFER, item->buffer, NULL);
	struct spool_options options = { .compressed = file->compress,
					 .swap = work->parts->file.swap,
					 .shape = { .size = file->page_size, .long_size = file->long_size } };
	uint32_t cpu = (uint32_t)number_of(item->key, UINT32_MAX);
	struct spool spool;
	struct place *added;
	const char *clock;
	int err;

	for (size_t i = 0; i < work->nr; i++)
		if (work->places[i].buffer == item->buffer && work->places[i].cpu == cpu)
			return 0;
	err = buffer ? parts_buffer(buffer, &options.shape.size, &clock, fail) : 0;
	if (!err)
		err = spool_open_unread(work->parts->dir, item->buffer, cpu, &options, &spool, fail);
	if (err == -ENOENT) {
		(void)cpus_add(&work->written.lost, cpu);
		return 0;
	}
	if (err)
		return parts_disbelieved(fail_in(fail, err, "'%s'", work->parts->path), fail);
	added = vec_push(work->places, work->nr);
	if (!added) {
		spool_release(&spool);
		return fail_memory(fail);
	}
	*added = (struct place){ item->buffer, cpu, spool };
	return 0;
}

static int open_places(struct work *work, struct fail *fail)
{
	const struct ledger_item *item;
	int err = 0;

	io_many_files();
	for (size_t i = 0; !err && (item = ledger_at(work->parts->ledger, i)); i++)
		if (item->kind == LEDGER_SPOOL)
			err = open_place(work, item, fail);
	return err;
}

static int add_piece(struct work *work, size_t at, struct assembly_piece *piece, struct report *report)
{
	struct place *place = &work->places[at];
	struct spool *spool = &place->spool;
	int err = spool_scan(spool, &report->fail);

	if (err)
		return err;
	*piece = (struct assembly_piece){ .buffer = place->buffer,
					  .cpu = place->cpu,
					  .fd = spool->fd,
					  .offset = spool->begin,
					  .size = spool_size(spool),
					  .chunks = spool->chunks };
	report->raw += spool->raw;
	report->torn += spool->torn;
	report->cpus += piece->size > 0;
	return 0;
}

/* In the process without rights. */
static void write_file(struct work *work, int fd, struct report *report)
{
	struct assembly_piece *pieces = calloc(work->nr + 1, sizeof(*pieces));
	int err = pieces ? sandbox_enter(0, 0, &report->fail) : fail_memory(&report->fail);

	for (size_t i = 0; !err && i < work->nr; i++)
		err = add_piece(work, i, &pieces[i], report);
	if (!err)
		err = assembly_write_to(work->parts, pieces, work->nr, fd, &report->file_size, &report->fail);
	report->err = err;
}

static void run(struct work *work, int fd, int to)
{
	static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct rlimit none = { 0, 0 };
	struct report report = { .err = 0 };
	sigset_t mask;

	sigemptyset(&mask);
	for (size_t i = 0; i < array_size(deadly); i++) {
		(void)!signal(deadly[i], SIG_DFL);
		sigaddset(&mask, deadly[i]);
	}
	(void)!sigprocmask(SIG_UNBLOCK, &mask, NULL);
	(void)!prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)!setrlimit(RLIMIT_CORE, &none);
	write_file(work, fd, &report);
	(void)!io_write(to, &report, sizeof(report));
}

/* What the process without rights says is bounded by its form; one that a file has taken over may say anything else. */
static int take_report(struct work *work, pid_t pid, int from, struct fail *fail)
{
	struct report report;
	ssize_t got = io_read(from, &report, sizeof(report));
	int status = 0;

	(void)!io_again(waitpid(pid, &status, 0));
	if (got != (ssize_t)sizeof(report))
		return fail_set(fail, -EBADMSG,
				"'%s' cannot be read: the process that read what came from the other machine ended "
				"with status 0x%x",
				work->parts->path, (unsigned)status);
	report.fail.text[sizeof(report.fail.text) - 1] = '\0';
	if (report.err)
		return fail_set(fail, report.err < 0 ? report.err : -EBADMSG, "%s", report.fail.text);
	work->written.file_size = report.file_size;
	work->written.raw = report.raw;
	work->written.torn = report.torn;
	work->written.cpus = report.cpus;
	return 0;
}

static int write_in_sandbox(void *arg, int fd, struct fail *fail)
{
	struct work *work = arg;
	int pipes[2], err = 0;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC))
		return fail_set(fail, -errno, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		close(pipes[0]);
		run(work, fd, pipes[1]);
		_exit(0);
	}
	if (pid < 0)
		err = fail_set(fail, -errno, "cannot start a process: %s", strerror(errno));
	close(pipes[1]);
	if (!err)
		err = take_report(work, pid, pipes[0], fail);
	close(pipes[0]);
	if (!err && lseek(fd, 0, SEEK_CUR) >= 0 && fsync(fd))
		err = fail_set(fail, -errno, "cannot write '%s' to the disk: %s", work->output, strerror(errno));
	return err;
}

int foreign_parts_write(struct parts *parts, const char *output, mode_t mode, bool keep,
			struct foreign_parts_written *ret, struct fail *fail)
{
	struct work work = { .parts = parts, .output = output };
	struct destination to = DESTINATION_INIT;
	int err = open_places(&work, fail);

	if (!err)
		err = destination_open(output, &to, fail);
	if (!err)
		err = destination_write(&to, mode, keep, write_in_sandbox, &work, fail);
	destination_release(&to);
	for (size_t i = 0; i < work.nr; i++)
		spool_release(&work.places[i].spool);
	free(work.places);
	if (!err)
		*ret = work.written;
	return err;
}

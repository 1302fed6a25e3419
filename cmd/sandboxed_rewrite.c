// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/sandboxed_rewrite.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/command.h"
#include "cmd/options/form_options.h"
#include "cmd/sandbox_child.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/destination.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/io.h"
#include "lib/ground/base/vec.h"
#include "lib/pages/trace/trace.h"

enum { COPY_SIZE = 1 << 16, TEMPORARIES_MAX = 4096 };

/*
 * As lib/pages/trace bounds what is read from a file that is not trusted: this much, and so much for each of its
 * bytes.
 */
static const uint64_t size_base = 64 << 20, size_per_byte = 8192;

enum { TELL_PIECE = 1024, TOLD_MAX = 4 << 20 };

/* A request of the reader process. Each is one message. */
struct question {
	enum { ASK_TEMPORARY, ASK_FILE, ASK_NAME, ASK_TELL } what;
	union {
		char word[FORM_WORD];
		char text[TELL_PIECE]; /* the next part of what is to be told; the last part of a line has a NUL */
	};
};

struct answer {
	int err;
	struct fail fail;
};

/* A file that was requested. It gets its name when the reader process, which may write to it, has ended. */
struct pending {
	char word[FORM_WORD];
	struct destination to;
	struct draft draft;
	int special;     /* where the file is copied to; -1: it gets a name, or goes to standard output */
	bool whole;      /* the reader process said that it is complete */
	bool borrows;    /* its directory is open for the first file */
	struct buf told; /* lines, each ended by a NUL, that are true when the file has its name */
};

/* This process' side. */
struct keeper {
	const struct form *form;
	struct pending *files;
	size_t nr;
	unsigned temporaries; /* the number of temporary files that the reader process got */
	size_t told;          /* the bytes of all that it wants to be told */
	bool betrayed;        /* it asked for what weft never asks for: a file has taken it over */
};

static int send_answer(int socket, const struct answer *answer, int fd)
{
	char control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec data = { (void *)(uintptr_t)answer, sizeof(*answer) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *head;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	}
	/* The reader process asks one question at a time. One that does not read the answers is not waited for. */
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

static int ask(struct form_door *door, const struct question *question, int *ret_fd, struct fail *fail)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct answer answer = { .err = 0 };
	struct iovec data = { &answer, sizeof(answer) };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)
	};
	struct cmsghdr *head;
	ssize_t got;

	if (write(door->socket, question, sizeof(*question)) != (ssize_t)sizeof(*question))
		return fail_set(fail, -EIO, "cannot ask for a file: %s", strerror(errno));
	got = io_again(recvmsg(door->socket, &message, MSG_CMSG_CLOEXEC));
	/* A signal has ended the other process (SIGPIPE, for example). The program that started it will see that. */
	if (!got)
		_exit(EXIT_FAILED);
	if (got != (ssize_t)sizeof(answer))
		return fail_set(fail, -EIO, "cannot get a file: %s",
				got < 0 ? strerror(errno) : "the answer is cut short");
	if (answer.err)
		return fail_set(fail, answer.err, "%s", answer.fail.text);
	if (!ret_fd)
		return 0;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return fail_set(fail, -EMFILE, "cannot get a file: %s", strerror(EMFILE));
	memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	return 0;
}

static int ask_temporary(void *arg, int *ret_fd, struct fail *fail)
{
	struct form_door *door = arg;

	if (door->nr_spares) {
		*ret_fd = door->spares[--door->nr_spares];
		return 0;
	}
	return ask(arg, &(struct question){ .what = ASK_TEMPORARY }, ret_fd, fail);
}

static void give_back(void *arg, int fd)
{
	struct form_door *door = arg;

	if (door->nr_spares < FORM_SPARES_MAX)
		door->spares[door->nr_spares++] = fd;
	else
		close(fd);
}

/* Gets an empty file for form->output and `word`. Returns -errno from the other process, as name_at_door(). */
static int get_at_door(struct form_door *door, const char *word, int *ret_fd, struct fail *fail)
{
	struct question question = { .what = ASK_FILE };

	snprintf(question.word, sizeof(question.word), "%s", word);
	return ask(door, &question, ret_fd, fail);
}

/* What the reader process says about a file that it has completed is told when the file has its name. */
static bool tell_at_door(void *arg, const char *line)
{
	struct question question = { .what = ASK_TELL };
	struct fail fail = FAIL_INIT;
	size_t left = strlen(line) + 1;

	for (size_t len; left; line += len, left -= len) {
		len = left < sizeof(question.text) ? left : sizeof(question.text);
		memcpy(question.text, line, len);
		if (ask(arg, &question, NULL, &fail))
			return false;
	}
	return true;
}

/* Says that the file is complete. */
static int name_at_door(struct form_door *door, struct fail *fail)
{
	int r = ask(door, &(struct question){ .what = ASK_NAME }, NULL, fail);

	if (!r)
		command_warn_through(tell_at_door, door);
	return r;
}

static void forget_file(struct pending *file)
{
	draft_discard(&file->draft);
	cleanup_fd_close(&file->special);
	buf_release(&file->told);
	if (file->borrows)
		file->to.dir = -1;
	destination_release(&file->to);
}

/*
 * The reader process, which a hostile file may have taken over, sent this word. Only a command that makes several files
 * has words, each word once, and a word leads to no other directory.
 */
static bool word_is_well(const struct keeper *keeper, const char word[FORM_WORD])
{
	size_t len = strnlen(word, FORM_WORD);

	if (len == FORM_WORD || strspn(word, FORM_WORD_LETTERS) != len || keeper->form->divides != (len > 0))
		return false;
	for (size_t i = 0; i < keeper->nr; i++)
		if (!strcmp(keeper->files[i].word, word))
			return false;
	return true;
}

static int betray(struct keeper *keeper, struct fail *fail)
{
	keeper->betrayed = true;
	return fail_set(fail, -EPERM, "there is no such request");
}

static int open_place(struct pending *file, struct fail *fail)
{
	int r;

	/* Only the name that the user wrote may name an existing file. */
	if (*file->word && file->to.exists)
		return fail_set(fail, -EEXIST, "'%s' exists; choose another file with -o", file->to.path);
	if (file->to.kind == DESTINATION_FILE)
		return destination_draft(&file->to, &file->draft, fail);
	r = file->to.kind == DESTINATION_SPECIAL ? destination_special(&file->to, &file->special, fail) : 0;
	return r ? r : input_temporary(&file->draft.fd, fail);
}

/* The parts of a recording lie in one directory, which needs one descriptor: that of the first file. */
static void share_dir(const struct keeper *keeper, struct pending *file)
{
	struct stat first, dir;

	if (!keeper->nr || keeper->files[0].to.dir < 0 || file->to.dir < 0 || fstat(keeper->files[0].to.dir, &first) ||
	    fstat(file->to.dir, &dir) || first.st_dev != dir.st_dev || first.st_ino != dir.st_ino)
		return;
	close(file->to.dir);
	file->to.dir = keeper->files[0].to.dir;
	file->borrows = true;
}

static int make_file(struct keeper *keeper, const char *word, int *ret_fd, struct fail *fail)
{
	struct pending file = { .to = DESTINATION_INIT, .draft = { .fd = -1 }, .special = -1 }, *added;
	cleanup_free char *path = NULL;
	int r;

	if (!word_is_well(keeper, word) || keeper->nr >= FORM_FILES_MAX ||
	    (keeper->nr && !keeper->files[keeper->nr - 1].whole))
		return betray(keeper, fail);
	snprintf(file.word, sizeof(file.word), "%s", word);
	path = form_path(keeper->form, word);
	r = path ? destination_open(path, &file.to, fail) : fail_memory(fail);
	if (!r)
		share_dir(keeper, &file);
	if (!r)
		r = open_place(&file, fail);
	added = r ? NULL : vec_push(keeper->files, keeper->nr);
	if (!added) {
		forget_file(&file);
		return r ? r : fail_memory(fail);
	}
	*added = file;
	*ret_fd = file.draft.fd;
	return 0;
}

static int make_temporary(struct keeper *keeper, int *ret_fd, struct fail *fail)
{
	unsigned max = TEMPORARIES_MAX + (keeper->form->divides ? FORM_FILES_MAX : 0);

	if (keeper->temporaries == max)
		return fail_set(fail, -EMFILE, "more than %u temporary files; --no-sandbox has no limit", max);
	keeper->temporaries++;
	return input_temporary(ret_fd, fail);
}

static int end_file(struct keeper *keeper, struct fail *fail)
{
	if (!keeper->nr || keeper->files[keeper->nr - 1].whole)
		return betray(keeper, fail);
	keeper->files[keeper->nr - 1].whole = true;
	return 0;
}

static int keep_told(struct keeper *keeper, const char text[TELL_PIECE], struct fail *fail)
{
	size_t len = strnlen(text, TELL_PIECE);

	len += len < TELL_PIECE;
	if (!keeper->nr || !keeper->files[keeper->nr - 1].whole)
		return betray(keeper, fail);
	if (len > TOLD_MAX - keeper->told)
		return fail_set(fail, -E2BIG, "more is told than can be kept");
	keeper->told += len;
	return buf_add(&keeper->files[keeper->nr - 1].told, text, len) ? 0 : fail_memory(fail);
}

static int reply_to(struct keeper *keeper, int socket, const struct question *question)
{
	struct answer answer = { .err = 0 };
	cleanup_fd int temporary = -1;
	int fd = -1;

	switch (question->what) {
	case ASK_TEMPORARY:
		answer.err = make_temporary(keeper, &temporary, &answer.fail);
		fd = temporary;
		break;
	case ASK_FILE:
		answer.err = make_file(keeper, question->word, &fd, &answer.fail);
		break;
	case ASK_NAME:
		answer.err = end_file(keeper, &answer.fail);
		break;
	case ASK_TELL:
		answer.err = keep_told(keeper, question->text, &answer.fail);
		break;
	default:
		answer.err = betray(keeper, &answer.fail);
	}
	return send_answer(socket, &answer, answer.err ? -1 : fd);
}

/* Serves requests until the reader process ends, which closes the socket. */
static void serve(struct keeper *keeper, int socket)
{
	struct question question;

	for (;;) {
		ssize_t got = io_again(recv(socket, &question, sizeof(question), 0));

		if (got <= 0)
			break;
		if (got != (ssize_t)sizeof(question) || reply_to(keeper, socket, &question) || keeper->betrayed) {
			keeper->betrayed = true;
			break;
		}
	}
}

/* Copies the whole file. The reader of a pipe may be slow, so a signal ends this. */
static int copy_out(const struct pending *file, int to, struct fail *fail)
{
	char data[COPY_SIZE];
	uint64_t offset = 0;
	ssize_t got;

	while ((got = io_pread(file->draft.fd, data, sizeof(data), offset)) > 0) {
		ssize_t done = write(to, data, (size_t)got);

		if (sandbox_child_signal())
			return fail_set(fail, -EINTR, "cannot write '%s': %s", file->to.path, strerror(EINTR));
		if (done < 0 && errno != EINTR)
			return fail_writing(fail, fail_set(fail, -errno, FAIL_WRITE "%s", strerror(errno)),
					    file->to.path);
		offset += done > 0 ? (uint64_t)done : 0;
	}
	return got ? fail_set(fail, (int)got, "cannot read the temporary file: %s", strerror((int)-got)) : 0;
}

static int name_file(const struct form *form, struct pending *file, struct fail *fail)
{
	if (file->to.kind == DESTINATION_FILE)
		return destination_place(&file->to, &file->draft, form->mode, *file->word, fail);
	return copy_out(file, file->to.kind == DESTINATION_SPECIAL ? file->special : STDOUT_FILENO, fail);
}

static void tell_kept(const struct pending *file)
{
	const char *line = file->told.data;
	size_t left = file->told.len;

	for (size_t len; left && (len = strnlen(line, left)) < left; line += len + 1, left -= len + 1)
		command_warn("%s", line);
}

/* Names the complete files. The reader process has ended, so nobody can write to them any more. */
static int name_files(struct keeper *keeper, int status)
{
	struct fail fail = FAIL_INIT;
	int r = 0;

	for (size_t i = 0; !r && i < keeper->nr && keeper->files[i].whole; i++) {
		r = name_file(keeper->form, &keeper->files[i], &fail);
		if (!r)
			tell_kept(&keeper->files[i]);
	}
	if (r && sandbox_child_signal())
		return SANDBOX_CHILD_SIGNAL + sandbox_child_signal();
	/* The program that reads standard output has read enough. */
	if (r == -EPIPE && !strcmp(keeper->form->output, "-"))
		return SANDBOX_CHILD_SIGNAL + SIGPIPE;
	return r ? command_failed(&fail) : status;
}

static int keep(const struct form *form, int socket, pid_t pid)
{
	struct keeper keeper = { .form = form };
	int status;

	serve(&keeper, socket);
	if (keeper.betrayed)
		sandbox_child_kill();
	close(socket);
	status = sandbox_child_end(pid, form->output);
	if (keeper.betrayed) {
		command_warn("the process that reads for '%s' did what no weft does: its input has taken it over; "
			     "nothing is written",
			     form->output);
		status = EXIT_FAILED;
	} else if (status < SANDBOX_CHILD_SIGNAL) {
		status = name_files(&keeper, status);
	}
	/* The first file's directory is the others', too. */
	for (size_t i = keeper.nr; i-- > 0;)
		forget_file(&keeper.files[i]);
	free(keeper.files);
	return status;
}

static void be_apart(struct form *form, int socket, int (*make)(void *arg), void *arg)
{
	struct form_door door = { .socket = socket, .temporaries = { .make = ask_temporary, .give_back = give_back } };
	int status;

	door.temporaries.arg = &door;
	form->door = &door;
	form->as.temporaries = &door.temporaries;
	status = make(arg);
	fflush(NULL);
	_exit(status);
}

int form_apart(struct form *form, int (*make)(void *arg), void *arg)
{
	int sockets[2];
	pid_t pid;

	io_many_files();
	if (form->reading.no_sandbox)
		return make(arg);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		command_warn("cannot make a socket: %s; --no-sandbox needs none", strerror(errno));
		return EXIT_FAILED;
	}
	pid = sandbox_child_fork();
	if (!pid) {
		close(sockets[0]);
		be_apart(form, sockets[1], make, arg);
	}
	close(sockets[1]);
	if (pid > 0)
		return keep(form, sockets[0], pid);
	close(sockets[0]);
	return EXIT_FAILED;
}

int form_limit(const struct form *form, uint64_t input_size, struct fail *fail)
{
	struct rlimit limit;
	uint64_t max;

	if (form->reading.no_sandbox || form->reading.trust_size ||
	    __builtin_mul_overflow(input_size, size_per_byte, &max) || __builtin_add_overflow(max, size_base, &max))
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &limit))
		return fail_set(fail, -errno, "cannot get the limit of a file's size: %s", strerror(errno));
	if (limit.rlim_cur <= max)
		return 0;
	limit.rlim_cur = limit.rlim_max = (rlim_t)max;
	return setrlimit(RLIMIT_FSIZE, &limit) ?
		       fail_set(fail, -errno, "cannot limit the size of files: %s", strerror(errno)) :
		       0;
}

int form_open(const struct form *form, const char *const *paths, size_t nr, struct trace **ret, struct fail *fail)
{
	uint64_t size = 0;
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++) {
		r = trace_new(paths[i], &ret[i], fail);
		size += r ? 0 : trace_info(ret[i])->size;
	}
	if (!r)
		r = form_limit(form, size, fail);
	if (!r)
		r = reading_load_all(ret, nr, &form->reading, fail);
	for (size_t i = 0; r && i < nr; i++) {
		trace_free(ret[i]);
		ret[i] = NULL;
	}
	return r;
}

static int write_here(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
		      void *arg, struct fail *fail)
{
	cleanup_free char *path = form_path(form, word);
	struct destination to;
	int r = path ? destination_open(path, &to, fail) : fail_memory(fail);

	if (r)
		return r;
	/* Only the name that the user wrote may name an existing file. */
	r = destination_write(&to, form->mode, *word, write, arg, fail);
	destination_release(&to);
	return r;
}

static int write_through(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail),
			 void *arg, struct fail *fail)
{
	cleanup_free char *path = form_path(form, word);
	cleanup_fd int fd = -1;
	int r = path ? get_at_door(form->door, word, &fd, fail) : fail_memory(fail);

	if (!r)
		r = fail_writing(fail, write(arg, fd, fail), path);
	return r ? r : name_at_door(form->door, fail);
}

int form_write(const struct form *form, const char *word, int (*write)(void *arg, int fd, struct fail *fail), void *arg,
	       struct fail *fail)
{
	if (form->door)
		return write_through(form, word, write, arg, fail);
	return write_here(form, word, write, arg, fail);
}

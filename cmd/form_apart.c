// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/form_apart.h"

#include "cmd/apart.h"
#include "cmd/command.h"
#include "cmd/form_options.h"
#include "lib/base/destination.h"
#include "lib/base/fail.h"
#include "lib/base/io.h"
#include "lib/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { COPY_SIZE = 1 << 16 };

/* A request of the reader process. Each is one message. */
struct question {
	enum { ASK_TEMPORARY, ASK_FILE, ASK_NAME } what;
	char word[FORM_WORD];
};

struct answer {
	int err;
	struct fail fail;
};

/* This process' side: the file that was requested and has no name yet. */
struct keeper {
	const struct form *form;
	struct destination to;
	char name[DESTINATION_NAME];
	int fd;      /* -1: there is no file */
	int special; /* where the file is copied to; -1: it gets a name instead */
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
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
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
	return ask(arg, &(struct question){ .what = ASK_TEMPORARY }, ret_fd, fail);
}

int form_door_file(struct form_door *door, const char *word, int *ret_fd, struct fail *fail)
{
	struct question question = { .what = ASK_FILE };

	snprintf(question.word, sizeof(question.word), "%s", word);
	return ask(door, &question, ret_fd, fail);
}

int form_door_name(struct form_door *door, struct fail *fail)
{
	return ask(door, &(struct question){ .what = ASK_NAME }, NULL, fail);
}

static void forget_file(struct keeper *keeper)
{
	if (keeper->fd >= 0 && *keeper->name)
		unlinkat(keeper->to.dir, keeper->name, 0);
	cleanup_fd_close(&keeper->fd);
	cleanup_fd_close(&keeper->special);
	keeper->fd = keeper->special = -1;
	destination_release(&keeper->to);
}

/*
 * The reader process, which a hostile file may have taken over, sent this word: it must not lead to another directory.
 */
static bool word_is_well(const char word[FORM_WORD])
{
	size_t len = strnlen(word, FORM_WORD);

	return len < FORM_WORD && strspn(word, FORM_WORD_LETTERS) == len;
}

static int make_file(struct keeper *keeper, const char *word, struct fail *fail)
{
	cleanup_free char *path = NULL;
	int r;

	if (keeper->fd >= 0 || !word_is_well(word))
		return fail_set(fail, -EPERM, "no file is made for that");
	path = form_path(keeper->form, word);
	r = path ? destination_open(path, &keeper->to, fail) : fail_memory(fail);
	if (r)
		return r;
	*keeper->name = '\0';
	if (keeper->to.kind == DESTINATION_FILE)
		return destination_create(&keeper->to, keeper->name, &keeper->fd, fail);
	if (keeper->to.kind == DESTINATION_SPECIAL)
		r = destination_special(&keeper->to, &keeper->special, fail);
	return r ? r : input_temporary(&keeper->fd, fail);
}

static int copy_out(const struct keeper *keeper, int to, struct fail *fail)
{
	char data[COPY_SIZE];
	uint64_t offset = 0;
	ssize_t got;
	int r;

	while ((got = io_pread(keeper->fd, data, sizeof(data), offset)) > 0) {
		r = io_write(to, data, (size_t)got);
		if (r)
			return fail_set(fail, r, "cannot write '%s': %s", keeper->to.path, strerror(-r));
		offset += (uint64_t)got;
	}
	return got ? fail_set(fail, (int)got, "cannot read the temporary file: %s", strerror((int)-got)) : 0;
}

static int name_file(struct keeper *keeper, struct fail *fail)
{
	int r;

	if (keeper->fd < 0)
		return fail_set(fail, -EPERM, "there is no file to name");
	if (keeper->to.kind == DESTINATION_FILE)
		r = destination_place(&keeper->to, keeper->to.dir, keeper->name, keeper->fd, keeper->form->mode, false,
				      fail);
	else
		r = copy_out(keeper, keeper->to.kind == DESTINATION_SPECIAL ? keeper->special : STDOUT_FILENO, fail);
	if (!r)
		*keeper->name = '\0';
	return r;
}

static int reply_to(struct keeper *keeper, int socket, const struct question *question)
{
	struct answer answer = { .err = 0 };
	cleanup_fd int temporary = -1;
	int fd = -1;

	switch (question->what) {
	case ASK_TEMPORARY:
		answer.err = input_temporary(&temporary, &answer.fail);
		fd = temporary;
		break;
	case ASK_FILE:
		answer.err = make_file(keeper, question->word, &answer.fail);
		fd = keeper->fd;
		break;
	case ASK_NAME:
		answer.err = name_file(keeper, &answer.fail);
		break;
	default:
		answer.err = fail_set(&answer.fail, -EPERM, "no such question");
	}
	if (answer.err || question->what == ASK_NAME)
		forget_file(keeper);
	return send_answer(socket, &answer, answer.err ? -1 : fd);
}

/* Serves requests until the reader process ends, which closes the socket. */
static void keep(const struct form *form, int socket)
{
	struct keeper keeper = { .form = form, .to = DESTINATION_INIT, .fd = -1, .special = -1 };
	struct question question;

	for (;;) {
		ssize_t got = io_again(recv(socket, &question, sizeof(question), 0));

		if (got != (ssize_t)sizeof(question) || reply_to(&keeper, socket, &question))
			break;
	}
	forget_file(&keeper);
}

static void be_apart(struct form *form, int socket, int (*make)(void *arg), void *arg)
{
	struct form_door door = { .socket = socket, .temporaries = { .make = ask_temporary } };
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
	if (form->no_sandbox)
		return make(arg);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		command_warn("cannot make a socket: %s; --no-sandbox needs none", strerror(errno));
		return EXIT_FAILED;
	}
	pid = apart_fork();
	if (!pid) {
		close(sockets[0]);
		be_apart(form, sockets[1], make, arg);
	}
	close(sockets[1]);
	if (pid > 0)
		keep(form, sockets[0]);
	close(sockets[0]);
	return pid > 0 ? apart_end(pid, form->output) : EXIT_FAILED;
}

int form_open(const struct form *form, const char *const *paths, size_t nr, struct trace **ret, struct fail *fail)
{
	int r = 0;

	for (size_t i = 0; !r && i < nr; i++)
		r = trace_new(paths[i], &ret[i], fail);
	if (!r && !form->no_sandbox)
		r = trace_sandbox(ret[0], fail);
	for (size_t i = 0; !r && i < nr; i++)
		r = trace_load(ret[i], fail);
	for (size_t i = 0; r && i < nr; i++) {
		trace_free(ret[i]);
		ret[i] = NULL;
	}
	return r;
}

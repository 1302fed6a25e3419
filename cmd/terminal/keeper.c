// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/terminal/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/command.h"
#include "lib/ground/base/buf.h"
#include "lib/ground/base/io.h"

enum { BY_SIGNAL = 128 };

/* For the signal handlers, which may only call what is safe there. */
static struct {
	struct termios before;
	const char *leave;
	size_t leave_len;
	volatile sig_atomic_t entered;
	volatile pid_t drawing;
	int end_by; /* the signal that ends the drawing process */
} terminal;

/* The signals that the keeper looks at between two waits. */
static volatile sig_atomic_t asked_to_end, asked_to_stop, continued;

/* Async-signal-safe. */
static void restore(void)
{
	if (!terminal.entered)
		return;
	terminal.entered = 0;
	(void)!write(STDOUT_FILENO, terminal.leave, terminal.leave_len);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

static void enter(const struct keeper *keeper)
{
	struct termios raw = terminal.before;

	raw.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	raw.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN | ISIG);
	raw.c_cflag = (raw.c_cflag & ~(tcflag_t)(CSIZE | PARENB)) | CS8;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	terminal.entered = 1;
	tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	(void)!io_write(STDOUT_FILENO, keeper->enter, strlen(keeper->enter));
}

/* A crash: the terminal is restored first, and then the signal does what it does. */
static void on_crash(int sig)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };

	if (terminal.drawing > 0)
		kill(terminal.drawing, terminal.end_by);
	restore();
	sigaction(sig, &usual, NULL);
	raise(sig);
}

static void on_end(int sig)
{
	asked_to_end = sig;
}

static void on_stop(int sig)
{
	asked_to_stop = sig;
}

static void on_continue(int sig)
{
	continued = sig;
}

static void on_child(int sig)
{
	(void)sig;
}

static const struct {
	int sig;
	void (*handler)(int sig);
} handlers[] = {
	{ SIGTERM, on_end },  { SIGHUP, on_end },       { SIGINT, on_end },    { SIGQUIT, on_end },
	{ SIGTSTP, on_stop }, { SIGCONT, on_continue }, { SIGCHLD, on_child },
};

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS };

/* Blocks the signals of the table, so that they come in the wait only. *ret: the mask for the wait. */
static void catch_signals(sigset_t *ret)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < array_size(handlers); i++) {
		const struct sigaction action = { .sa_handler = handlers[i].handler };

		sigaction(handlers[i].sig, &action, NULL);
		sigaddset(&blocked, handlers[i].sig);
	}
	for (size_t i = 0; i < array_size(crashes); i++) {
		const struct sigaction action = { .sa_handler = on_crash };

		sigaction(crashes[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, ret);
}

static void usual_signals(const sigset_t *mask)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };

	for (size_t i = 0; i < array_size(handlers); i++)
		sigaction(handlers[i].sig, &usual, NULL);
	for (size_t i = 0; i < array_size(crashes); i++)
		sigaction(crashes[i], &usual, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static int say(int socket, enum keeper_word word, const char *text)
{
	char letter = (char)word;
	int err = io_write(socket, &letter, 1);

	return err ? err : io_write(socket, text, strlen(text) + 1);
}

/* Stops both processes, as the shell expects, and goes on when it continues them. */
static void stop(const struct keeper *keeper, int socket)
{
	bool entered = terminal.entered;

	restore();
	kill(terminal.drawing, SIGSTOP);
	continued = 0;
	kill(getpid(), SIGSTOP);
	/* Here the shell has continued weft. */
	kill(terminal.drawing, SIGCONT);
	if (entered) {
		tcgetattr(STDIN_FILENO, &terminal.before);
		enter(keeper);
		(void)!say(socket, KEEPER_GO, "");
	}
	asked_to_stop = 0;
}

static bool read_whole(int socket, void *into, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t got = io_read(socket, (char *)into + at, len - at);

		if (got <= 0)
			return false;
		at += (size_t)got;
	}
	return true;
}

/* Hears one wish. False: the drawing process has closed its end. */
static bool hear(const struct keeper *keeper, int socket)
{
	cleanup_free char *text = NULL;
	cleanup_buf struct buf zone = BUF_INIT;
	char answer[256];
	uint32_t len;
	char wish;

	if (!read_whole(socket, &wish, 1) || !read_whole(socket, &len, sizeof(len)) || len > KEEPER_TEXT_MAX)
		return false;
	text = malloc(len + 1);
	if (!text || !read_whole(socket, text, len))
		return false;
	switch (wish) {
	case KEEPER_READY:
		enter(keeper);
		return !say(socket, KEEPER_GO, "");
	case KEEPER_SUSPEND:
		stop(keeper, socket);
		return true;
	case KEEPER_DONE:
		restore();
		return !say(socket, KEEPER_GO, "");
	case KEEPER_SAVE:
		if (!keeper->save)
			return false;
		keeper->save(keeper->save_arg, text, len, answer, sizeof(answer));
		return !say(socket, KEEPER_SAVED, answer);
	case KEEPER_ZONE:
		if (!keeper->zone)
			return false;
		text[len] = '\0';
		keeper->zone(text, &zone);
		return !say(socket, KEEPER_ZONED, buf_str(&zone));
	}
	return false;
}

/* Waits for wishes and signals until the drawing process has ended. */
static void keep(const struct keeper *keeper, int socket, const sigset_t *mask)
{
	struct pollfd wait = { .fd = socket, .events = POLLIN };

	for (;;) {
		int r = ppoll(&wait, 1, NULL, mask);

		if (asked_to_end)
			return;
		if (asked_to_stop)
			stop(keeper, socket);
		if (continued && terminal.entered) {
			/* SIGSTOP cannot be caught; the shell has changed the terminal since. */
			enter(keeper);
			(void)!say(socket, KEEPER_GO, "");
		}
		continued = 0;
		if (r > 0 && !hear(keeper, socket))
			return;
		if (r < 0 && errno != EINTR)
			return;
	}
}

/* Tells which signal killed the drawing process. */
static void tell_killed(const struct keeper *keeper, pid_t pid, int sig)
{
	if (keeper->killed)
		keeper->killed(pid, sig);
	else if (!asked_to_end)
		command_warn("the process that reads the file was killed by signal %d (%s)", sig, strsignal(sig));
}

static int finish(const struct keeper *keeper)
{
	pid_t pid = terminal.drawing;
	int status = 0;

	/* A drawing process that closed the socket ends by itself; otherwise it has no say. */
	if (asked_to_end)
		kill(pid, terminal.end_by);
	if (io_again(waitpid(pid, &status, 0)) < 0)
		return EXIT_FAILED;
	terminal.drawing = 0;
	restore();
	if (WIFSIGNALED(status))
		tell_killed(keeper, pid, WTERMSIG(status));
	if (asked_to_end)
		return BY_SIGNAL + asked_to_end;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

bool keeper_has_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

int keeper_run(const struct keeper *keeper, int (*draw)(void *arg, int socket), void *arg)
{
	int sockets[2];
	sigset_t mask;
	pid_t pid;

	if (tcgetattr(STDIN_FILENO, &terminal.before) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
		command_warn("cannot set up the terminal: %s", strerror(errno));
		return EXIT_FAILED;
	}
	terminal.leave = keeper->leave;
	terminal.leave_len = strlen(keeper->leave);
	terminal.end_by = keeper->waits ? SIGTERM : SIGKILL;
	catch_signals(&mask);
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		command_warn("cannot start a process: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (!pid) {
		close(sockets[0]);
		usual_signals(&mask);
		exit(draw(arg, sockets[1]));
	}
	close(sockets[1]);
	terminal.drawing = pid;
	keep(keeper, sockets[0], &mask);
	close(sockets[0]);
	return finish(keeper);
}

int keeper_wish(int socket, enum keeper_wish wish, const void *text, size_t len)
{
	char head[1 + sizeof(uint32_t)] = { (char)wish };
	uint32_t size = (uint32_t)len;
	int err;

	memcpy(head + 1, &size, sizeof(size));
	err = io_write(socket, head, sizeof(head));
	return err || !len ? err : io_write(socket, text, len);
}

void keeper_done(int socket)
{
	char text[1];
	int word = keeper_wish(socket, KEEPER_DONE, NULL, 0) ? 0 : KEEPER_SAVED;

	/* Answers to older wishes may come first. */
	while (word && word != KEEPER_GO)
		word = keeper_hear(socket, text, sizeof(text));
}

int keeper_hear(int socket, char *into, size_t size)
{
	char word, c;
	size_t len = 0;

	if (!read_whole(socket, &word, 1))
		return 0;
	while (read_whole(socket, &c, 1)) {
		if (!c) {
			into[len] = '\0';
			return word;
		}
		if (len + 1 < size)
			into[len++] = c;
	}
	return 0;
}

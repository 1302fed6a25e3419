// SPDX-License-Identifier: GPL-2.0-only
#include "lib/ground/base/io.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/ground/base/buf.h"
#include "tests/unit/test.h"

enum { MUCH = 1 << 20 };

static void on_signal(int sig)
{
	(void)sig;
}

struct reader {
	int fd;
	pthread_t writer;
	size_t got;
	bool right;
};

/* Reads the bytes so slowly that the writer sleeps, and sends it a signal each time. */
static void *read_much(void *argument)
{
	struct reader *reader = argument;
	uint8_t bytes[4000];
	ssize_t got;

	while ((got = io_read(reader->fd, bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < got; i++)
			reader->right &= bytes[i] == (uint8_t)((reader->got + (size_t)i) % 251);
		reader->got += (size_t)got;
		pthread_kill(reader->writer, SIGUSR1);
	}
	reader->right &= !got;
	return NULL;
}

TEST(io_write_goes_on_after_signals_and_short_writes)
{
	struct sigaction action = { .sa_handler = on_signal }, before;
	struct reader reader = { .writer = pthread_self(), .right = true };
	cleanup_free uint8_t *bytes = malloc(MUCH);
	pthread_t thread;
	int ends[2];

	REQUIRE(bytes && !pipe2(ends, O_CLOEXEC) && !sigaction(SIGUSR1, &action, &before));
	for (size_t i = 0; i < MUCH; i++)
		bytes[i] = (uint8_t)(i % 251);
	reader.fd = ends[0];
	REQUIRE(!pthread_create(&thread, NULL, read_much, &reader));
	CHECK(!io_write(ends[1], bytes, MUCH));
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	CHECK(reader.right);
	CHECK(reader.got == MUCH);
	sigaction(SIGUSR1, &before, NULL);
}

TEST(io_errors_are_those_of_the_system_call)
{
	cleanup_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char byte;

	REQUIRE(full >= 0);
	CHECK(io_write(full, "x", 1) == -ENOSPC);
	CHECK(!io_write(-1, "", 0));
	CHECK(io_write(-1, "x", 1) == -EBADF);
	CHECK(io_pwrite(-1, "x", 1, 0) == -EBADF);
	CHECK(io_read(-1, &byte, 1) == -EBADF);
	CHECK(io_pread(-1, &byte, 1, 0) == -EBADF);
}

TEST(io_read_all_adds_the_whole_file_or_says_that_it_is_too_large)
{
	cleanup_fd int fd = memfd_create("loom", MFD_CLOEXEC);
	cleanup_buf struct buf buf = BUF_INIT;
	cleanup_free char *bytes = calloc(1, MUCH);

	REQUIRE(fd >= 0 && bytes && buf_add_str(&buf, "before"));
	REQUIRE(!io_pwrite(fd, bytes, MUCH, 0) && !io_pwrite(fd, "end", 3, MUCH));
	CHECK(!io_read_all(fd, MUCH + 3, &buf));
	CHECK(buf.len == 6 + MUCH + 3);
	CHECK(buf.len > 9 && !memcmp(buf.data + buf.len - 3, "end", 3) && !memcmp(buf.data, "before", 6));
	buf_clear(&buf);
	REQUIRE(!lseek(fd, 0, SEEK_SET));
	CHECK(io_read_all(fd, MUCH + 2, &buf) == -EFBIG);
	CHECK(io_pread(fd, bytes, 8, MUCH) == 3 && !memcmp(bytes, "end", 3));
}

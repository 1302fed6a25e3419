// SPDX-License-Identifier: GPL-2.0-only
#include "lib/pages/stream/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/ground/base/cleanup.h"
#include "lib/ground/base/fail.h"
#include "lib/ground/base/now.h"
#include "lib/ground/base/out.h"
#include "tests/unit/test.h"

TEST(relay_frame_is_its_head_and_its_bytes)
{
	const struct relay_head want = { RELAY_PAGE, 2, 3, 5 };
	struct relay_head got;
	struct out out;

	REQUIRE(out_init(&out, 64));
	relay_put(&out, RELAY_PAGE, 2, 3, "warp", 5);
	REQUIRE(out_len(&out) == sizeof(got) + 5);
	memcpy(&got, out.start, sizeof(got));
	CHECK(!memcmp(&got, &want, sizeof(got)) && !strcmp(out.start + sizeof(got), "warp"));
	relay_put(&out, RELAY_END, 0, 0, NULL, 0);
	CHECK(out_len(&out) == 2 * sizeof(got) + 5 && !out.failed);
	/* No reader takes a longer one. */
	relay_put(&out, RELAY_PAGE, 0, 0, "", (size_t)RELAY_FRAME_MAX + 1);
	CHECK(out.failed);
	out_release(&out);
}

TEST(relay_head_that_no_frame_has_is_refused)
{
	static const struct {
		struct relay_head head;
		bool first;
		const char *why; /* NULL: a frame can have it */
	} rows[] = {
		{ { RELAY_HELLO, 0, RELAY_VERSION, 0 }, true, NULL },
		{ { RELAY_HELLO, 0, RELAY_VERSION + 1, 0 },
		  true,
		  "weft stream --pages is of another version of weft: it must be the same" },
		{ { RELAY_FACTS, 0, RELAY_VERSION, 0 },
		  true,
		  "these are no pages of weft stream --pages of this byte order" },
		{ { 0x57454654, 0, RELAY_VERSION, 0 },
		  true,
		  "these are no pages of weft stream --pages of this byte order" },
		{ { RELAY_HELLO, 0, RELAY_VERSION, RELAY_FRAME_MAX + 1 },
		  true,
		  "what weft stream --pages writes is damaged" },
		{ { RELAY_PAGE, 0, 0, RELAY_FRAME_MAX }, false, NULL },
		{ { RELAY_PAGE, 0, 0, RELAY_FRAME_MAX + 1 }, false, "what weft stream --pages writes is damaged" },
		{ { RELAY_END, 0, 0, 0 }, false, NULL },
		{ { RELAY_END + 1, 0, 0, 0 }, false, "what weft stream --pages writes is damaged" },
		{ { RELAY_HELLO, 0, RELAY_VERSION, 0 }, false, "what weft stream --pages writes is damaged" },
	};

	for (size_t i = 0; i < array_size(rows); i++) {
		struct fail fail = FAIL_INIT;

		CHECK(relay_check(&rows[i].head, rows[i].first, &fail) == (rows[i].why ? -EBADMSG : 0));
		CHECK_STR(fail.text, rows[i].why ? rows[i].why : "");
	}
}

static bool put(int fd, const void *bytes, size_t len)
{
	return CHECK(write(fd, bytes, len) == (ssize_t)len);
}

static const struct relay_head hello = { RELAY_HELLO, 0, RELAY_VERSION, 0 };

TEST(relay_pipe_gives_a_frame_once_its_last_byte_has_come)
{
	const struct relay_head page = { RELAY_PAGE, 2, 3, 5 }, end = { RELAY_END, 0, 0, 0 };
	struct {
		struct relay_head hello, page;
		char text[5];
	} __attribute__((packed)) bytes = { hello, page, "warp" };
	struct relay_pipe pipe = { .fd = -1 };
	struct fail fail = FAIL_INIT;
	struct relay_head head;
	const uint8_t *data;
	int fds[2];

	REQUIRE(!pipe2(fds, O_CLOEXEC));
	pipe.fd = fds[0];
	for (size_t i = 0; i < sizeof(bytes); i++) {
		if (!CHECK(relay_pipe_next(&pipe, 0, &head, &data, &fail) == 0) || !put(fds[1], (char *)&bytes + i, 1))
			break;
		if (i + 1 == sizeof(hello))
			CHECK(relay_pipe_next(&pipe, 0, &head, &data, &fail) == 1 &&
			      !memcmp(&head, &hello, sizeof(head)));
	}
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == 1);
	CHECK(!memcmp(&head, &page, sizeof(head)) && !memcmp(data, "warp", 5));
	/* Several that come at once are given one after the other; what follows is not asked for. */
	put(fds[1], &bytes.page, sizeof(bytes) - sizeof(hello));
	put(fds[1], &bytes.page, sizeof(bytes) - sizeof(hello));
	put(fds[1], &end, sizeof(end));
	close(fds[1]);
	for (unsigned i = 0; i < 2; i++)
		CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == 1 && head.kind == RELAY_PAGE &&
		      !memcmp(data, "warp", 5));
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == 1 && head.kind == RELAY_END);
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == -ENODATA);
	CHECK_STR(fail.text, "weft has ended before the end of its pages");
	relay_pipe_release(&pipe);
	close(fds[0]);
}

/* Frames of any length, more than a read brings, and one that its writer left in the middle. */
TEST(relay_pipe_reads_frames_of_any_length)
{
	static const uint32_t lengths[] = { 0, 1, 4096, 1 << 20, 3, (1 << 20) - 16, (1 << 20) - 15, 5 << 20, 7 };
	cleanup_fd int fd = memfd_create("frames", MFD_CLOEXEC);
	struct relay_pipe pipe = { .fd = fd };
	struct relay_head head = { RELAY_PAGE, 0, 0, 100 };
	uint8_t *bytes = calloc(1, 5 << 20);
	struct fail fail = FAIL_INIT;
	const uint8_t *data;

	REQUIRE(fd >= 0 && bytes);
	put(fd, &hello, sizeof(hello));
	for (uint32_t i = 0; i < array_size(lengths); i++) {
		memset(bytes, (int)('a' + i), lengths[i]);
		head.len = lengths[i];
		put(fd, &head, sizeof(head));
		put(fd, bytes, lengths[i]);
	}
	head.len = 100;
	put(fd, &head, sizeof(head));
	put(fd, bytes, 99);
	CHECK(!lseek(fd, 0, SEEK_SET));
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == 1 && head.kind == RELAY_HELLO);
	for (uint32_t i = 0; i < array_size(lengths); i++) {
		if (!CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == 1 && head.len == lengths[i]))
			break;
		memset(bytes, (int)('a' + i), lengths[i]);
		CHECK(!memcmp(data, bytes, lengths[i]));
	}
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == -ENODATA);
	/* It may be used for another descriptor. */
	relay_pipe_release(&pipe);
	CHECK(lseek(fd, sizeof(hello), SEEK_SET) == sizeof(hello));
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == 1 && !head.len);
	relay_pipe_release(&pipe);
	free(bytes);
}

TEST(relay_pipe_refuses_what_no_frame_is)
{
	const struct relay_head page = { RELAY_PAGE, 0, 0, RELAY_FRAME_MAX },
				huge = { RELAY_PAGE, 0, 0, RELAY_FRAME_MAX + 1 };
	cleanup_fd int fd = memfd_create("frames", MFD_CLOEXEC), dir = open("/", O_RDONLY | O_CLOEXEC);
	struct relay_pipe pipe = { .fd = fd };
	struct fail fail = FAIL_INIT;
	struct relay_head head;
	const uint8_t *data;

	REQUIRE(fd >= 0 && dir >= 0);
	put(fd, &page, sizeof(page));
	CHECK(!lseek(fd, 0, SEEK_SET));
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == -EBADMSG);
	CHECK_STR(fail.text, "these are no pages of weft stream --pages of this byte order");
	relay_pipe_release(&pipe);
	CHECK(!lseek(fd, 0, SEEK_SET));
	put(fd, &hello, sizeof(hello));
	put(fd, &page, sizeof(page));
	CHECK(!lseek(fd, 0, SEEK_SET));
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == 1);
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == -ENODATA);
	/* A head that claims a quarter of a gigabyte gets the memory for a read. */
	CHECK(pipe.size < 4 << 20);
	relay_pipe_release(&pipe);
	CHECK(lseek(fd, sizeof(hello), SEEK_SET) == sizeof(hello));
	put(fd, &huge, sizeof(huge));
	CHECK(lseek(fd, sizeof(hello), SEEK_SET) == sizeof(hello));
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == -EBADMSG);
	CHECK_STR(fail.text, "what weft stream --pages writes is damaged");
	relay_pipe_release(&pipe);
	pipe.fd = dir;
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == -EISDIR);
	CHECK_STR(fail.text, "cannot read the pages: Is a directory");
	relay_pipe_release(&pipe);
}

static void come(int number)
{
	(void)number;
}

TEST(relay_pipe_waits_until_a_time_or_a_signal)
{
	const struct sigaction comes = { .sa_handler = come };
	const struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction before;
	struct relay_pipe pipe = { .fd = -1 };
	struct fail fail = FAIL_INIT;
	struct relay_head head;
	const uint8_t *data;
	uint64_t end;
	int fds[2];

	REQUIRE(!pipe2(fds, O_CLOEXEC | O_NONBLOCK));
	pipe.fd = fds[0];
	end = now_ns() + 1500000;
	CHECK(relay_pipe_next(&pipe, end, &head, &data, &fail) == 0);
	CHECK(now_ns() >= end);
	/* A time that has passed is now. */
	CHECK(relay_pipe_next(&pipe, end, &head, &data, &fail) == 0);
	REQUIRE(!sigaction(SIGALRM, &comes, &before) && !setitimer(ITIMER_REAL, &often, NULL));
	CHECK(relay_pipe_next(&pipe, UINT64_MAX, &head, &data, &fail) == -EINTR);
	CHECK(relay_pipe_next(&pipe, now_ns() + UINT64_C(3000000000000000), &head, &data, &fail) == -EINTR);
	CHECK(!setitimer(ITIMER_REAL, &never, NULL) && !sigaction(SIGALRM, &before, NULL));
	relay_pipe_release(&pipe);
	close(fds[0]);
	close(fds[1]);
}

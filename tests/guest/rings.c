// SPDX-License-Identifier: GPL-2.0-only
/*
 * rings FILE: reads and writes by io_uring, which makes no system call for them: 3 reads of 64 bytes of FILE by its
 * descriptor, 2 of 32 bytes of /etc/passwd as a fixed file, a write of 5 bytes to /tmp/rings.out, a read of a closed
 * descriptor. Prints what each returned: "READ fd 64". Status 77: this kernel has no io_uring.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	int fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
} ring;

static int begin(void)
{
	struct io_uring_params params = { .flags = 0 };
	size_t sq_size, cq_size;
	char *sq, *cq;

	ring.fd = (int)syscall(__NR_io_uring_setup, 8, &params);
	if (ring.fd < 0)
		return -1;
	sq_size = params.sq_off.array + params.sq_entries * sizeof(unsigned);
	cq_size = params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe);
	sq = mmap(NULL, sq_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQ_RING);
	cq = mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_CQ_RING);
	ring.sqes = mmap(NULL, params.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || ring.sqes == MAP_FAILED)
		return -1;
	ring.sq_tail = (unsigned *)(sq + params.sq_off.tail);
	ring.sq_mask = (unsigned *)(sq + params.sq_off.ring_mask);
	ring.sq_array = (unsigned *)(sq + params.sq_off.array);
	ring.cq_head = (unsigned *)(cq + params.cq_off.head);
	ring.cq_tail = (unsigned *)(cq + params.cq_off.tail);
	ring.cq_mask = (unsigned *)(cq + params.cq_off.ring_mask);
	ring.cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
	return 0;
}

static int ask(unsigned char opcode, int fd, unsigned char flags, void *at, unsigned len)
{
	unsigned tail = *ring.sq_tail, index = tail & *ring.sq_mask;
	struct io_uring_sqe *sqe = &ring.sqes[index];
	int result;

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->fd = fd;
	sqe->flags = flags;
	sqe->addr = (unsigned long)at;
	sqe->len = len;
	ring.sq_array[index] = index;
	__atomic_store_n(ring.sq_tail, tail + 1, __ATOMIC_RELEASE);
	if (syscall(__NR_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -errno;
	result = ring.cqes[*ring.cq_head & *ring.cq_mask].res;
	__atomic_store_n(ring.cq_head, *ring.cq_head + 1, __ATOMIC_RELEASE);
	return result;
}

int main(int argc, char **argv)
{
	static char bytes[64];
	int in = argc > 1 ? open(argv[1], O_RDONLY) : -1, fixed = open("/etc/passwd", O_RDONLY);
	int out = open("/tmp/rings.out", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (in < 0 || fixed < 0 || out < 0)
		return 1;
	if (begin())
		return 77;
	if (syscall(__NR_io_uring_register, ring.fd, IORING_REGISTER_FILES, &fixed, 1))
		return 1;
	for (int i = 0; i < 3; i++)
		printf("READ fd %d\n", ask(IORING_OP_READ, in, 0, bytes, sizeof(bytes)));
	for (int i = 0; i < 2; i++)
		printf("READ fixed %d\n", ask(IORING_OP_READ, 0, IOSQE_FIXED_FILE, bytes, 32));
	printf("WRITE fd %d\n", ask(IORING_OP_WRITE, out, 0, bytes, 5));
	printf("READ closed %d\n", ask(IORING_OP_READ, 99, 0, bytes, 5));
	printf("NOP none %d\n", ask(IORING_OP_NOP, -1, 0, NULL, 0));
	return 0;
}

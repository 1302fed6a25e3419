// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/setup/setup_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/ground/base/buf.h"
#include "lib/ground/base/fail.h"
#include "lib/kernel/refusals/fitting.h"
#include "lib/kernel/setup/setup.h"
#include "lib/kernel/tracefs/instance.h"
#include "lib/kernel/tracefs/tracing.h"
#include "lib/kernel/tracefs/word.h"
#include "lib/kernel/undo/instance_open.h"
#include "lib/meaning/event/own_formats.h"
#include "lib/memory/image/layout.h"

/* MAX_ARGSTR_LEN of kernel/trace/trace_probe.h: no argument of a probe is longer. */
enum { ARGUMENT_MAX = 63 };

/* Of a function that returns a file: neither an error number nor none. */
#define FILE_RETURNED "ret < -4095 || ret > 0"

/* What close_range() closes passes no function that has a probe. */
#define RANGES "events/syscalls/sys_enter_close_range"

/* Where members of the kernel's structures are. */
struct places {
	struct layout_member dentry, inode, ino, mode, super, device, parent, name;
	/* From a struct file to the struct sock, and what that has; not all are found: no addresses. */
	struct layout_member data, sock, port, peer_port, address, peer, address6, peer6, family;
	/* From a struct sock to its struct socket, and from there to the number of the inode. */
	struct layout_member socket;
	uint32_t socket_ino;
	/* Of a UNIX socket. */
	struct layout_member other, bound, bound_len, bound_name;
	bool known;
	bool pointer; /* struct filename has the pointer that the program gave, behind the name: until Linux 6.19 */
};

struct choice {
	struct instance top;
	struct functions *functions;
	struct setup_instance *wanted;
	struct setup_files *files;
	struct places places;
	unsigned long_size;
	bool prints_names;    /* of a struct file: %pD, Linux 6.10 */
	bool counts_nesting;  /* a value may be behind at most 8 pointers: Linux 7.3, which came with casts */
	bool keeps_arguments; /* they can be fetched when the function returns: Linux 6.10 */
};

static void find_sockets(const struct btf *btf, const struct btf_type *file, struct places *places)
{
	struct btf_type inode, socket, sock, alloc, local, address;
	struct layout_member inside;

	if (!layout_structure(btf, "socket", &socket) || !layout_structure(btf, "sock", &sock) ||
	    !layout_structure(btf, "inode", &inode) || !layout_structure(btf, "socket_alloc", &alloc))
		return;
	places->data = layout_find(btf, file, "private_data");
	places->sock = layout_find(btf, &socket, "sk");
	places->family = layout_find(btf, &sock, "__sk_common.skc_family");
	places->port = layout_find(btf, &sock, "__sk_common.skc_num");
	places->peer_port = layout_find(btf, &sock, "__sk_common.skc_dport");
	places->address = layout_find(btf, &sock, "__sk_common.skc_rcv_saddr");
	places->peer = layout_find(btf, &sock, "__sk_common.skc_daddr");
	places->address6 = layout_find(btf, &sock, "__sk_common.skc_v6_rcv_saddr");
	places->peer6 = layout_find(btf, &sock, "__sk_common.skc_v6_daddr");
	inside = layout_find(btf, &alloc, "vfs_inode");
	places->socket = layout_find(btf, &sock, "sk_socket");
	places->socket.found &= inside.found;
	places->socket_ino = inside.offset + layout_find(btf, &inode, "i_ino").offset;
	if (layout_structure(btf, "unix_sock", &local) && layout_structure(btf, "unix_address", &address)) {
		places->other = layout_find(btf, &local, "peer");
		places->bound = layout_find(btf, &local, "addr");
		places->bound_len = layout_find(btf, &address, "len");
		places->bound_name = layout_find(btf, &address, "name");
	}
}

static bool find_places(const struct btf *btf, struct places *places)
{
	struct btf_type file, inode, super, dentry, filename;

	if (!layout_structure(btf, "file", &file) || !layout_structure(btf, "inode", &inode) ||
	    !layout_structure(btf, "super_block", &super) || !layout_structure(btf, "dentry", &dentry))
		return false;
	*places = (struct places){
		.dentry = layout_find(btf, &file, "f_path.dentry"),
		.inode = layout_find(btf, &file, "f_inode"),
		.ino = layout_find(btf, &inode, "i_ino"),
		.mode = layout_find(btf, &inode, "i_mode"),
		.super = layout_find(btf, &inode, "i_sb"),
		.device = layout_find(btf, &super, "s_dev"),
		.parent = layout_find(btf, &dentry, "d_parent"),
		.name = layout_find(btf, &dentry, "d_name.name"),
		.pointer = layout_structure(btf, "filename", &filename) && layout_find(btf, &filename, "uptr").found,
	};
	find_sockets(btf, &file, places);
	return places->dentry.found && places->inode.found && places->ino.found && places->mode.found &&
	       places->super.found && places->device.found && places->parent.found && places->name.found;
}

static void read_places(struct places *places)
{
	cleanup_buf struct buf data = BUF_INIT;
	struct btf btf = { .nr = 0 };

	*places = (struct places){ .known = false };
	if (tracing_read_path("/sys/kernel/btf/vmlinux", &data, NULL))
		return;
	if (!btf_open(&btf, data.data, data.len, NULL))
		places->known = find_places(&btf, places);
	btf_release(&btf);
}

/* Adds the name of the directory that is so many levels above the file of this argument. False: it is too long. */
static bool put_level(const struct places *places, unsigned level, const char *file, struct buf *into)
{
	cleanup_buf struct buf text = BUF_INIT;
	bool ok = buf_addf(&text, "+0(+%u(", places->name.offset);

	for (unsigned i = 0; ok && i < level; i++)
		ok = buf_addf(&text, "+%u(", places->parent.offset);
	ok = ok && buf_addf(&text, "+%u(%s)", places->dentry.offset, file);
	for (unsigned i = 0; ok && i < level; i++)
		ok = buf_add_str(&text, ")");
	ok = ok && buf_add_str(&text, ")):string");
	return ok && text.len <= ARGUMENT_MAX && buf_addf(into, " n%u=%s", level, buf_str(&text));
}

/* What tells of the struct file at `file` which file it is. */
static bool put_file(const struct choice *choice, const char *file, struct buf *into)
{
	const struct places *places = &choice->places;
	unsigned level = 0;

	if (!places->known)
		return buf_addf(into, " n0=%s:%%pD", file);
	while (level < (choice->counts_nesting ? SETUP_FILES_LEVELS_NESTED : SETUP_FILES_LEVELS) &&
	       put_level(places, level, file, into))
		level++;
	choice->files->levels = level;
	return buf_addf(into, " ino=+%u(+%u(%s)):u%u mode=+%u(+%u(%s)):u16 dev=+%u(+%u(+%u(%s))):u32",
			places->ino.offset, places->inode.offset, file, choice->long_size * 8, places->mode.offset,
			places->inode.offset, file, places->device.offset, places->super.offset, places->inode.offset,
			file);
}

/* Takes over the text. */
static bool add_probe(struct choice *choice, struct buf *text)
{
	struct setup_event *event =
		choice->files->nr_probes < SETUP_FILES_PROBES ? setup_add_event(choice->wanted, NULL) : NULL;
	char *probe = event ? buf_take(text, NULL) : NULL;

	if (!probe)
		return false;
	choice->files->probes[choice->files->nr_probes++] = probe;
	event->probe = probe;
	return true;
}

static bool add_descriptors(struct choice *choice)
{
	static const char *const closes[] = { "file_close_fd", "close_fd" };
	cleanup_buf struct buf install = BUF_INIT, dup = BUF_INIT, shut = BUF_INIT;
	bool ok = buf_add_str(&install, "p fd_install fd=$arg1:s32") && put_file(choice, "$arg2", &install) &&
		  add_probe(choice, &install);

	if (ok && function_exists(choice->functions, NULL, "do_dup2") == 1)
		ok = buf_add_str(&dup, "p do_dup2 fd=$arg3:s32") && put_file(choice, "$arg2", &dup) &&
		     add_probe(choice, &dup);
	for (size_t i = 0; ok && i < array_size(closes); i++) {
		if (function_exists(choice->functions, NULL, closes[i]) != 1)
			continue;
		return buf_addf(&shut, "p %s fd=$arg1:s32", closes[i]) && add_probe(choice, &shut);
	}
	return ok;
}

/*
 * The compiler may have put the first part of getname_flags() into the functions that call it; all of these then call
 * the rest. The name is read from the kernel's own copy, so it is there even if the program had never touched its
 * memory. Behind the name is the pointer that the program gave, until Linux 6.19; the first argument is the same.
 */
static bool add_names(struct choice *choice)
{
	static const char rest[] = "getname_flags.part.0";
	bool split = function_exists(choice->functions, NULL, rest) == 1;
	const char *function = split ? rest : "getname_flags";
	cleanup_buf struct buf text = BUF_INIT;
	bool ok;

	if (!split && function_exists(choice->functions, NULL, function) != 1)
		return true;
	ok = buf_addf(&text, "r %s name=+0(+0($retval)):string", function);
	if (ok && choice->keeps_arguments && !split)
		ok = buf_addf(&text, " from=$arg1:x%u", choice->long_size * 8);
	else if (ok && (choice->places.pointer || !choice->places.known))
		ok = buf_addf(&text, " from=+%u($retval):x%u", choice->long_size, choice->long_size * 8);
	choice->files->names = ok && add_probe(choice, &text);
	return choice->files->names;
}

/* The argument NAME: what is so many bytes into the struct sock at `sock`. */
static bool put_of_sock(const char *sock, const char *name, unsigned offset, const char *type, struct buf *into)
{
	return buf_addf(into, " %s=+%u(%s):%s", name, offset, sock, type);
}

/* Between which addresses it is. */
static bool put_addresses(const struct places *places, const char *sock, struct buf *into)
{
	return put_of_sock(sock, "family", places->family.offset, "u16", into) &&
	       put_of_sock(sock, "sport", places->port.offset, "u16", into) &&
	       put_of_sock(sock, "peer", places->peer_port.offset, "x8[2]", into) &&
	       put_of_sock(sock, "saddr", places->address.offset, "x8[4]", into) &&
	       put_of_sock(sock, "daddr", places->peer.offset, "x8[4]", into) &&
	       (!places->address6.found || !places->peer6.found ||
		(put_of_sock(sock, "saddr_v6", places->address6.offset, "x8[16]", into) &&
		 put_of_sock(sock, "daddr_v6", places->peer6.offset, "x8[16]", into)));
}

/* The argument NAME: the inode of the struct socket at `socket`. */
static bool put_socket_ino(const struct choice *choice, const char *name, const char *socket, struct buf *into)
{
	return buf_addf(into, " %s=+%u(%s):u%u", name, choice->places.socket_ino, socket, choice->long_size * 8);
}

/* The bytes of a struct sockaddr_un: its length, a path, and a name without a file, which begins with a zero byte. */
static bool put_bound(const char *len, const char *address, unsigned offset, struct buf *into)
{
	/* of sun_path */
	enum { PATH = 2 };

	return buf_addf(into, " len=%s path=+%u(%s):string abstract=+%u(%s):string", len, offset + PATH, address,
			offset + PATH + 1, address);
}

/*
 * With whom a UNIX socket is connected, and what its name is. A number behind a null pointer is whatever was in the
 * buffer before, so the pointers say whether the numbers are there.
 */
static bool put_unix(const struct choice *choice, const char *sock, struct buf *into)
{
	const struct places *places = &choice->places;
	const unsigned bits = choice->long_size * 8;
	char other[2 * ARGUMENT_MAX], bound[2 * ARGUMENT_MAX], len[3 * ARGUMENT_MAX];

	if (!places->socket.found || !places->other.found || !places->bound.found || !places->bound_len.found ||
	    !places->bound_name.found)
		return true;
	snprintf(other, sizeof(other), "+%u(+%u(%s))", places->socket.offset, places->other.offset, sock);
	snprintf(bound, sizeof(bound), "+%u(%s)", places->bound.offset, sock);
	snprintf(len, sizeof(len), "+%u(%s):u32", places->bound_len.offset, bound);
	return buf_addf(into, " to=+%u(%s):x%u tosk=%s:x%u addr=%s:x%u", places->other.offset, sock, bits, other, bits,
			bound, bits) &&
	       put_socket_ino(choice, "pino", other, into) && put_bound(len, bound, places->bound_name.offset, into);
}

/*
 * Which struct sock is behind the inode of a new socket, and between which addresses it is if it was accepted. Then
 * sock:inet_sock_set_state tells of it. What is returned instead of a file is an error number, which the filter drops.
 */
static bool add_new_sockets(struct choice *choice)
{
	static const char *const makers[] = { "sock_alloc_file", "do_accept" };
	const struct places *places = &choice->places;
	char sock[ARGUMENT_MAX + 1];
	bool ok = true;

	snprintf(sock, sizeof(sock), "+%u(+%u($retval))", places->sock.offset, places->data.offset);
	for (size_t i = 0; ok && i < array_size(makers); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		if (function_exists(choice->functions, NULL, makers[i]) != 1)
			continue;
		ok = buf_addf(&text, "r %s ret=$retval:s64 ino=+%u(+%u($retval)):u%u sk=%s:x%u", makers[i],
			      places->ino.offset, places->inode.offset, choice->long_size * 8, sock,
			      choice->long_size * 8) &&
		     (!i || (put_addresses(places, sock, &text) && put_unix(choice, sock, &text))) &&
		     add_probe(choice, &text);
		if (ok)
			choice->wanted->events[choice->wanted->nr_events - 1].filter = FILE_RETURNED;
	}
	return ok;
}

/*
 * These functions are called when UDP has given a socket its addresses, by bind(2), by connect(2) or by the first
 * datagram: when the kernel unlocks the socket. No datagram needs the lock, so they are called seldom.
 */
static bool add_datagrams(struct choice *choice)
{
	static const char *const unlocks[] = { "ip4_datagram_release_cb", "ip6_datagram_release_cb" };
	const struct places *places = &choice->places;
	char socket[ARGUMENT_MAX + 1];
	bool ok = true;

	snprintf(socket, sizeof(socket), "+%u($arg1)", places->socket.offset);
	for (size_t i = 0; ok && i < array_size(unlocks); i++) {
		cleanup_buf struct buf text = BUF_INIT;

		if (function_exists(choice->functions, NULL, unlocks[i]) != 1)
			continue;
		/* One that is being closed has no struct socket, and then no inode. */
		ok = buf_addf(&text, "p %s socket=%s:x%u", unlocks[i], socket, choice->long_size * 8) &&
		     put_socket_ino(choice, "ino", socket, &text) && put_addresses(places, "$arg1", &text) &&
		     add_probe(choice, &text);
	}
	return ok;
}

/* Where the function has succeeded, that is what the filter asks. */
static bool add_done(struct choice *choice, struct buf *text)
{
	if (!add_probe(choice, text))
		return false;
	choice->wanted->events[choice->wanted->nr_events - 1].filter = "ret == 0";
	return true;
}

/*
 * UNIX sockets that socketpair(2) makes, that get a name, and that send all datagrams to another one. Those of streams
 * are connected when they are accepted. A kernel that has forgotten the arguments when a function returns does not tell
 * to whom datagrams go, and the name is that of the call.
 */
static bool add_local(struct choice *choice)
{
	const struct places *places = &choice->places;
	cleanup_buf struct buf pair = BUF_INIT, bind = BUF_INIT, bound = BUF_INIT, aim = BUF_INIT;
	bool ok = true;
	char sock[ARGUMENT_MAX + 1];

	if (function_exists(choice->functions, NULL, "unix_socketpair") == 1)
		ok = buf_add_str(&pair, "p unix_socketpair") && put_socket_ino(choice, "ino", "$arg1", &pair) &&
		     put_socket_ino(choice, "pino", "$arg2", &pair) && add_probe(choice, &pair);
	snprintf(sock, sizeof(sock), "+%u($arg1)", places->sock.offset);
	if (ok && function_exists(choice->functions, NULL, "unix_dgram_connect") == 1) {
		ok = buf_addf(&aim, choice->keeps_arguments ? "r unix_dgram_connect ret=$retval:s32" :
							      "p unix_dgram_connect") &&
		     put_socket_ino(choice, "ino", "$arg1", &aim);
		if (ok && choice->keeps_arguments)
			ok = put_unix(choice, sock, &aim) && add_done(choice, &aim);
		else if (ok)
			ok = add_probe(choice, &aim);
	}
	if (!ok || function_exists(choice->functions, NULL, "unix_bind") != 1)
		return ok;
	if (choice->keeps_arguments)
		return buf_add_str(&bound, "r unix_bind ret=$retval:s32") &&
		       put_socket_ino(choice, "ino", "$arg1", &bound) && put_unix(choice, sock, &bound) &&
		       add_done(choice, &bound);
	return buf_add_str(&bind, "p unix_bind") && put_socket_ino(choice, "ino", "$arg1", &bind) &&
	       put_bound("$arg3:u32", "$arg2", 0, &bind) && add_probe(choice, &bind) &&
	       buf_add_str(&bound, "r unix_bind ret=$retval:s32") && add_done(choice, &bound);
}

static bool add_sockets(struct choice *choice)
{
	const struct places *places = &choice->places;

	if (!places->known || !places->data.found || !places->sock.found || !places->family.found ||
	    !places->port.found || !places->peer_port.found || !places->address.found || !places->peer.found ||
	    !instance_has(&choice->top, "events/sock/inet_sock_set_state"))
		return true;
	return add_new_sockets(choice) && (!places->socket.found || (add_datagrams(choice) && add_local(choice))) &&
	       setup_add_event(choice->wanted, "sock:inet_sock_set_state");
}

/* A probe that the kernel may refuse. */
static bool add_wish(struct choice *choice, struct buf *text, const char *filter)
{
	struct setup_event *event;

	if (!add_probe(choice, text))
		return false;
	event = &choice->wanted->events[choice->wanted->nr_events - 1];
	event->optional = true;
	event->filter = filter;
	return true;
}

/*
 * What io_uring reads and writes makes no system call of its own. Its events have the request, its descriptor and its
 * result; which file a fixed one is, the function that finds it tells.
 */
static bool add_rings(struct choice *choice)
{
	static const char *const events[] = { "io_uring:io_uring_submit_req", "io_uring:io_uring_submit_sqe",
					      "io_uring:io_uring_file_get", "io_uring:io_uring_complete" };
	const char *function = "io_file_get_fixed";
	cleanup_buf struct buf ask = BUF_INIT, file = BUF_INIT;
	bool ok = true;

	for (size_t i = 0; ok && i < array_size(events); i++) {
		char path[64];

		snprintf(path, sizeof(path), "events/io_uring/%s", strchr(events[i], ':') + 1);
		ok = !instance_has(&choice->top, path) || setup_add_event(choice->wanted, events[i]);
	}
	if (!ok || function_exists(choice->functions, NULL, function) != 1)
		return ok;
	if (!choice->keeps_arguments)
		ok = buf_addf(&ask, "p %s req=$arg1:x%u", function, choice->long_size * 8) &&
		     add_wish(choice, &ask, NULL);
	ok = ok && buf_addf(&file, "r %s ret=$retval:s64", function);
	if (ok && choice->keeps_arguments)
		ok = buf_addf(&file, " req=$arg1:x%u", choice->long_size * 8);
	return ok && put_file(choice, "$retval", &file) && add_wish(choice, &file, FILE_RETURNED);
}

static int choose(struct choice *choice, struct setup *setup, struct fail *fail)
{
	struct instance *top = &choice->top;
	cleanup_buf struct buf readme = BUF_INIT;

	choice->functions = &setup->functions;
	if (!instance_has(top, "kprobe_events") || function_exists(choice->functions, NULL, "fd_install") != 1)
		return fail_set(
			fail, -EOPNOTSUPP,
			"--files: this kernel has no probes of its functions (CONFIG_KPROBE_EVENTS), which tell "
			"what is behind a descriptor: leave out --files, or have the names for which programs call "
			"open() of libc, not those that libc and the dynamic linker open themselves, from a uprobe, "
			"as in --probe 'open=/lib/x86_64-linux-gnu/libc.so.6:open name=+0(%%di):ustring', which "
			"'weft hist -i FILE weft:open --keys name' counts");
	read_places(&choice->places);
	if (instance_read(top, "README", &readme, NULL))
		buf_clear(&readme);
	choice->prints_names = strstr(buf_str(&readme), "%pD");
	choice->counts_nesting = strstr(buf_str(&readme), "[(structname");
	choice->keeps_arguments = strstr(buf_str(&readme), "return probes support: $retval, $arg<N>");
	if (!choice->places.known && !choice->prints_names)
		return fail_set(
			fail, -EOPNOTSUPP,
			"--files: this kernel tells neither its structures (CONFIG_DEBUG_INFO_BTF) nor the name "
			"of a file to a probe (%%pD, Linux 6.10): leave out --files");
	choice->long_size = kernel_long_size(top);
	choice->wanted = setup_add_instance(setup, OWN_BUFFER_FILES);
	if (!choice->wanted)
		return fail_memory(fail);
	choice->wanted->own = true;
	choice->wanted->clock = setup->instances[0].clock;
	choice->wanted->size = setup->instances[0].size;
	if (!add_descriptors(choice) || !add_names(choice) || !add_sockets(choice) || !add_rings(choice) ||
	    !setup_add_event(choice->wanted, "task:task_newtask") ||
	    !setup_add_event(choice->wanted, "sched:sched_process_exec") ||
	    (instance_has(top, RANGES) && !setup_add_event(choice->wanted, "syscalls:sys_enter_close_range")))
		return fail_memory(fail);
	return 0;
}

int setup_files_add(struct setup *setup, struct setup_files *ret, struct fail *fail)
{
	struct tracing tracing = { .dir = NULL };
	struct choice choice = { .files = ret };
	int err = tracing_find(&tracing, fail);

	*ret = (struct setup_files){ .nr_probes = 0 };
	if (!err) {
		choice.top = instance_top(&tracing);
		err = choose(&choice, setup, fail);
	}
	tracing_release(&tracing);
	return err;
}

void setup_files_release(struct setup_files *files)
{
	for (size_t i = 0; i < files->nr_probes; i++)
		free(files->probes[i]);
	*files = (struct setup_files){ .nr_probes = 0 };
}

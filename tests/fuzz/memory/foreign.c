// SPDX-License-Identifier: GPL-2.0-only
/*
 * MemorySanitizer knows only of bytes that code of its own build has written. For each call of zlib, libzstd, libelf,
 * and of the C library where the sanitizer of clang 14 does not know it, that writes into memory of weft (the linker's
 * --wrap), this says which bytes it wrote; what lies behind them stays unknown.
 */
#include <gelf.h>
#include <regex.h>
#include <sanitizer/msan_interface.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

/* Libraries that call them, too, find these. */
#pragma GCC visibility push(default)

size_t __real_LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t __wrap_LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
int __real_inflate(z_streamp stream, int flush);
int __wrap_inflate(z_streamp stream, int flush);
int __real_deflate(z_streamp stream, int flush);
int __wrap_deflate(z_streamp stream, int flush);
int __real_uncompress(Bytef *to, uLongf *len, const Bytef *from, uLong from_len);
int __wrap_uncompress(Bytef *to, uLongf *len, const Bytef *from, uLong from_len);
size_t __real_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t size, const void *from, size_t len);
size_t __wrap_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t size, const void *from, size_t len);
size_t __real_ZSTD_decompressDCtx(ZSTD_DCtx *context, void *to, size_t size, const void *from, size_t len);
size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx *context, void *to, size_t size, const void *from, size_t len);
size_t __real_ZSTD_decompressStream(ZSTD_DStream *stream, ZSTD_outBuffer *out, ZSTD_inBuffer *in);
size_t __wrap_ZSTD_decompressStream(ZSTD_DStream *stream, ZSTD_outBuffer *out, ZSTD_inBuffer *in);
Elf_Data *__real_elf_getdata(Elf_Scn *section, Elf_Data *data);
Elf_Data *__wrap_elf_getdata(Elf_Scn *section, Elf_Data *data);
GElf_Ehdr *__real_gelf_getehdr(Elf *elf, GElf_Ehdr *header);
GElf_Ehdr *__wrap_gelf_getehdr(Elf *elf, GElf_Ehdr *header);
GElf_Phdr *__real_gelf_getphdr(Elf *elf, int at, GElf_Phdr *header);
GElf_Phdr *__wrap_gelf_getphdr(Elf *elf, int at, GElf_Phdr *header);
GElf_Shdr *__real_gelf_getshdr(Elf_Scn *section, GElf_Shdr *header);
GElf_Shdr *__wrap_gelf_getshdr(Elf_Scn *section, GElf_Shdr *header);
GElf_Sym *__real_gelf_getsym(Elf_Data *data, int at, GElf_Sym *symbol);
GElf_Sym *__wrap_gelf_getsym(Elf_Data *data, int at, GElf_Sym *symbol);
size_t __real_gelf_getnote(Elf_Data *data, size_t at, GElf_Nhdr *head, size_t *name, size_t *desc);
size_t __wrap_gelf_getnote(Elf_Data *data, size_t at, GElf_Nhdr *head, size_t *name, size_t *desc);
char *__real_elf_strptr(Elf *elf, size_t section, size_t at);
char *__wrap_elf_strptr(Elf *elf, size_t section, size_t at);
int __real_elf_getphdrnum(Elf *elf, size_t *ret);
int __wrap_elf_getphdrnum(Elf *elf, size_t *ret);
int __real_elf_getshdrstrndx(Elf *elf, size_t *ret);
int __wrap_elf_getshdrstrndx(Elf *elf, size_t *ret);
size_t __real_regerror(int err, const regex_t *of, char *into, size_t size);
size_t __wrap_regerror(int err, const regex_t *of, char *into, size_t size);
int __real_fstat64(int fd, struct stat *ret);
int __wrap_fstat64(int fd, struct stat *ret);
int __real_stat64(const char *path, struct stat *ret);
int __wrap_stat64(const char *path, struct stat *ret);
int __real_lstat64(const char *path, struct stat *ret);
int __wrap_lstat64(const char *path, struct stat *ret);
int __real_fstatat64(int dir, const char *path, struct stat *ret, int flags);
int __wrap_fstatat64(int dir, const char *path, struct stat *ret, int flags);

/* Of libFuzzer, for the mutator of whole files. */
size_t __wrap_LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	size_t len = __real_LLVMFuzzerMutate(data, size, max);

	__msan_unpoison(data, len);
	return len;
}

static int wrote(z_streamp stream, const Bytef *from, int result)
{
	__msan_unpoison(stream, sizeof(*stream));
	__msan_unpoison(from, (size_t)(stream->next_out - from));
	return result;
}

int __wrap_inflate(z_streamp stream, int flush)
{
	const Bytef *from = stream->next_out;

	return wrote(stream, from, __real_inflate(stream, flush));
}

int __wrap_deflate(z_streamp stream, int flush)
{
	const Bytef *from = stream->next_out;

	return wrote(stream, from, __real_deflate(stream, flush));
}

int __wrap_uncompress(Bytef *to, uLongf *len, const Bytef *from, uLong from_len)
{
	int r = __real_uncompress(to, len, from, from_len);

	__msan_unpoison(len, sizeof(*len));
	__msan_unpoison(to, r == Z_OK ? *len : 0);
	return r;
}

size_t __wrap_ZSTD_compress2(ZSTD_CCtx *context, void *to, size_t size, const void *from, size_t len)
{
	size_t r;

	/* What it packs ends in a file, so all of it must be known. */
	__msan_check_mem_is_initialized(from, len);
	r = __real_ZSTD_compress2(context, to, size, from, len);
	__msan_unpoison(to, ZSTD_isError(r) ? 0 : r);
	return r;
}

size_t __wrap_ZSTD_decompressDCtx(ZSTD_DCtx *context, void *to, size_t size, const void *from, size_t len)
{
	size_t r = __real_ZSTD_decompressDCtx(context, to, size, from, len);

	__msan_unpoison(to, ZSTD_isError(r) ? 0 : r);
	return r;
}

size_t __wrap_ZSTD_decompressStream(ZSTD_DStream *stream, ZSTD_outBuffer *out, ZSTD_inBuffer *in)
{
	size_t before = out->pos, r = __real_ZSTD_decompressStream(stream, out, in);

	__msan_unpoison((char *)out->dst + before, out->pos - before);
	return r;
}

Elf_Data *__wrap_elf_getdata(Elf_Scn *section, Elf_Data *data)
{
	Elf_Data *ret = __real_elf_getdata(section, data);

	if (ret) {
		__msan_unpoison(ret, sizeof(*ret));
		__msan_unpoison(ret->d_buf, ret->d_buf ? ret->d_size : 0);
	}
	return ret;
}

GElf_Ehdr *__wrap_gelf_getehdr(Elf *elf, GElf_Ehdr *header)
{
	GElf_Ehdr *ret = __real_gelf_getehdr(elf, header);

	__msan_unpoison(header, ret ? sizeof(*header) : 0);
	return ret;
}

GElf_Phdr *__wrap_gelf_getphdr(Elf *elf, int at, GElf_Phdr *header)
{
	GElf_Phdr *ret = __real_gelf_getphdr(elf, at, header);

	__msan_unpoison(header, ret ? sizeof(*header) : 0);
	return ret;
}

GElf_Shdr *__wrap_gelf_getshdr(Elf_Scn *section, GElf_Shdr *header)
{
	GElf_Shdr *ret = __real_gelf_getshdr(section, header);

	__msan_unpoison(header, ret ? sizeof(*header) : 0);
	return ret;
}

GElf_Sym *__wrap_gelf_getsym(Elf_Data *data, int at, GElf_Sym *symbol)
{
	GElf_Sym *ret = __real_gelf_getsym(data, at, symbol);

	__msan_unpoison(symbol, ret ? sizeof(*symbol) : 0);
	return ret;
}

size_t __wrap_gelf_getnote(Elf_Data *data, size_t at, GElf_Nhdr *head, size_t *name, size_t *desc)
{
	size_t ret = __real_gelf_getnote(data, at, head, name, desc);

	if (ret) {
		__msan_unpoison(head, sizeof(*head));
		__msan_unpoison(name, sizeof(*name));
		__msan_unpoison(desc, sizeof(*desc));
	}
	return ret;
}

char *__wrap_elf_strptr(Elf *elf, size_t section, size_t at)
{
	char *ret = __real_elf_strptr(elf, section, at);

	if (ret)
		__msan_unpoison_string(ret);
	return ret;
}

static int told(struct stat *ret, int r)
{
	__msan_unpoison(ret, r ? 0 : sizeof(*ret));
	return r;
}

int __wrap_fstat64(int fd, struct stat *ret)
{
	return told(ret, __real_fstat64(fd, ret));
}

int __wrap_stat64(const char *path, struct stat *ret)
{
	return told(ret, __real_stat64(path, ret));
}

int __wrap_lstat64(const char *path, struct stat *ret)
{
	return told(ret, __real_lstat64(path, ret));
}

int __wrap_fstatat64(int dir, const char *path, struct stat *ret, int flags)
{
	return told(ret, __real_fstatat64(dir, path, ret, flags));
}

int __wrap_elf_getphdrnum(Elf *elf, size_t *ret)
{
	int r = __real_elf_getphdrnum(elf, ret);

	__msan_unpoison(ret, r ? 0 : sizeof(*ret));
	return r;
}

int __wrap_elf_getshdrstrndx(Elf *elf, size_t *ret)
{
	int r = __real_elf_getshdrstrndx(elf, ret);

	__msan_unpoison(ret, r ? 0 : sizeof(*ret));
	return r;
}

size_t __wrap_regerror(int err, const regex_t *of, char *into, size_t size)
{
	/* After a regcomp() that failed, not all of it is set; the sanitizer asks for all of it. */
	__msan_unpoison(of, sizeof(*of));
	return __real_regerror(err, of, into, size);
}

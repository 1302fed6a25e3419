// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals, their causes and what became of them: include/uapi/asm-generic/siginfo.h, include/trace/events/signal.h
 * (enum of TRACE_SIGNAL_DELIVERED and its neighbours).
 */
#include "include/weft/plugin.h"
#include "plugins/words.h"

enum { SIG, CODE, FATE };

static const char *const generate_fields[] = { "sig", "code", "result", NULL };
static const char *const deliver_fields[] = { "sig", "code", NULL };
static const char *const generate_facts[] = { "signal", "cause", "fate", NULL };
static const char *const deliver_facts[] = { "signal", "cause", NULL };

static const struct word any_codes[] = {
	{ 0, "SI_USER" },
	{ 0x80, "SI_KERNEL" },
	{ (uint64_t)-1, "SI_QUEUE" },
	{ (uint64_t)-2, "SI_TIMER" },
	{ (uint64_t)-3, "SI_MESGQ" },
	{ (uint64_t)-4, "SI_ASYNCIO" },
	{ (uint64_t)-5, "SI_SIGIO" },
	{ (uint64_t)-6, "SI_TKILL" },
};
static const struct word illegal_codes[] = {
	{ 1, "ILL_ILLOPC" }, { 2, "ILL_ILLOPN" }, { 3, "ILL_ILLADR" }, { 4, "ILL_ILLTRP" },
	{ 5, "ILL_PRVOPC" }, { 6, "ILL_PRVREG" }, { 7, "ILL_COPROC" }, { 8, "ILL_BADSTK" },
};
static const struct word trap_codes[] = {
	{ 1, "TRAP_BRKPT" }, { 2, "TRAP_TRACE" }, { 3, "TRAP_BRANCH" }, { 4, "TRAP_HWBKPT" }, { 5, "TRAP_UNK" },
};
static const struct word bus_codes[] = {
	{ 1, "BUS_ADRALN" }, { 2, "BUS_ADRERR" }, { 3, "BUS_OBJERR" }, { 4, "BUS_MCEERR_AR" }, { 5, "BUS_MCEERR_AO" },
};
static const struct word float_codes[] = {
	{ 1, "FPE_INTDIV" }, { 2, "FPE_INTOVF" }, { 3, "FPE_FLTDIV" }, { 4, "FPE_FLTOVF" },
	{ 5, "FPE_FLTUND" }, { 6, "FPE_FLTRES" }, { 7, "FPE_FLTINV" }, { 8, "FPE_FLTSUB" },
};
static const struct word memory_codes[] = {
	{ 1, "SEGV_MAPERR" }, { 2, "SEGV_ACCERR" },  { 3, "SEGV_BNDERR" },
	{ 4, "SEGV_PKUERR" }, { 8, "SEGV_MTEAERR" }, { 9, "SEGV_MTESERR" },
};
static const struct word child_codes[] = {
	{ 1, "CLD_EXITED" },  { 2, "CLD_KILLED" },  { 3, "CLD_DUMPED" },
	{ 4, "CLD_TRAPPED" }, { 5, "CLD_STOPPED" }, { 6, "CLD_CONTINUED" },
};
static const struct word system_codes[] = { { 1, "SYS_SECCOMP" }, { 2, "SYS_USER_DISPATCH" } };

/* Whose codes above 0 belong to which signal. */
static const struct {
	const char *sig;
	const struct word *codes;
	size_t nr;
} codes_of[] = {
	{ "SIGILL", WORDS(illegal_codes) }, { "SIGTRAP", WORDS(trap_codes) },   { "SIGBUS", WORDS(bus_codes) },
	{ "SIGFPE", WORDS(float_codes) },   { "SIGSEGV", WORDS(memory_codes) }, { "SIGCHLD", WORDS(child_codes) },
	{ "SIGSYS", WORDS(system_codes) },
};

static const struct word fates[] = {
	{ 0, "delivered" }, { 1, "ignored" }, { 2, "already-pending" }, { 3, "overflow-fail" }, { 4, "lose-info" },
};

static void put_signal(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	int64_t code = (int64_t)host->integer(record, CODE, 0);
	const char *cause = word_of(WORDS(any_codes), (uint64_t)code);
	char sig[16];
	size_t len = 0;

	if (WEFT_HOST_HAS(host, argument))
		len = host->argument(record, "kill", "sig", host->integer(record, SIG, 0), sig, sizeof(sig) - 1);
	sig[len] = '\0';
	if (!len)
		return;
	host->put_text(output, "signal", sig, len);
	for (size_t i = 0; !cause && i < sizeof(codes_of) / sizeof(codes_of[0]); i++)
		if (!strcmp(codes_of[i].sig, sig))
			cause = word_of(codes_of[i].codes, codes_of[i].nr, (uint64_t)code);
	put_string(host, "cause", cause, output);
}

static void format_generate(const struct weft_host *host, const struct weft_record *record, struct weft_output *output)
{
	put_signal(host, record, output);
	put_word(host, "fate", WORDS(fates), host->integer(record, FATE, 0), output);
}

static const struct weft_handler handlers[] = {
	{ "signal_generate", generate_fields, format_generate, generate_facts },
	{ "signal_deliver", deliver_fields, put_signal, deliver_facts },
};

WEFT_PLUGIN("signal", handlers);

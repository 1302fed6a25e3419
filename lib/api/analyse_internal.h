/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_API_ANALYSE_INTERNAL_H
#define WEFT_API_ANALYSE_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "include/weft/weft.h"
#include "lib/answers/frame/run.h"
#include "lib/answers/why/why.h"
#include "lib/ground/base/cleanup.h"
#include "lib/meaning/reader/extent.h"

struct event;
struct fail;
struct query;

struct weft_result {
	struct analysis_run *runs;
	size_t nr_runs;
	struct weft_table *tables;
	size_t nr_tables;
};

/* What several files have in common: only one of them asks the caller at a time. */
struct api_turns {
	pthread_mutex_t lock;
	size_t files;
	double done; /* of all files */
	bool interrupted;
};

/* What all runs share that one call makes. */
struct api_request {
	const char *const *names;
	size_t nr;
	struct weft_analyse_options options;
	struct why_options why;
	bool explains; /* `why` was given */
	struct api_turns turns;
};

/* Asks the caller now and then whether the reading should end, and tells how much is done. */
struct api_asking {
	struct api_request *request;
	weft_reader *reader;
	unsigned events;
	double done; /* of this file */
	struct extent extent;
	bool interrupted;
};

/* The caller destroys the lock of its turns, also after a failure. */
int must_check api_request_take(struct api_request *request, const struct weft_analyse_options *options, size_t files,
				struct fail *fail);

/* Of a result of zeros: one run for each name, and, when their findings are there, the tables. */
int must_check api_result_name(weft_result *result, const char *const *names, size_t nr, struct fail *fail);
int must_check api_result_end(weft_result *result, const char *sort, struct fail *fail);

/* Starts a reader of one file for an analysis. */
int must_check api_analysis_start(weft_reader *reader, unsigned threads, struct fail *fail);
const struct query *api_query_of(const weft_reader *reader);

/* Call begin when the reader has started; api_ask() sees each event, and stops the reader; end makes -EINTR of that. */
int must_check api_ask_begin(struct api_asking *asking, struct fail *fail);
void api_ask(void *asking, const struct event *event);
bool api_ask_now(struct api_asking *asking);
int must_check api_ask_end(struct api_asking *asking, int r, struct fail *fail);

#endif

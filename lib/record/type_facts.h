/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WEFT_RECORD_TYPE_FACTS_H
#define WEFT_RECORD_TYPE_FACTS_H

#include "lib/base/cleanup.h"

struct fail;
struct ledger;

/*
 * Of the running kernel's type information what the text of this recording depends on (lib/probe/types.h): enumerators that its
 * formats name, and the functions that may have been traced with their arguments. Most recordings need nothing of it, and
 * then it is not read; where there is none, nothing is added. Loads the ledger.
 */
int must_check facts_of_types(struct ledger *ledger, struct fail *fail);

#endif

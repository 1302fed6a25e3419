/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_RECORD_TYPE_FACTS_INTERNAL_H
#define WEFT_KERNEL_RECORD_TYPE_FACTS_INTERNAL_H

#include "lib/ground/base/cleanup.h"

struct fail;
struct ledger;

/*
 * Saves the part of the running kernel's type information on which the text of this recording depends
 * (lib/memory/image/types.h): the enumerators that its formats name, and the functions that may have been traced with
 * their arguments. Most recordings need none of it; then it is not read. Nothing is added if the kernel has no type
 * information. Loads the ledger.
 */
int must_check facts_of_types(struct ledger *ledger, struct fail *fail);

#endif

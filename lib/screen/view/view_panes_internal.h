/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_SCREEN_VIEW_VIEW_PANES_INTERNAL_H
#define WEFT_SCREEN_VIEW_VIEW_PANES_INTERNAL_H

#include "lib/screen/view/view.h"

/* All panes, in the order of their letters: a new one has a line here and one in the list. */
extern const struct pane_ops events_pane;   /* 1, pane_events.c */
extern const struct pane_ops timeline_pane; /* 2, pane_timeline.c */
extern const struct pane_ops calls_pane;    /* 3, pane_calls.c */
extern const struct pane_ops tables_pane;   /* 4, pane_tables.c */
extern const struct pane_ops details_pane;  /* 5, pane_details.c */

#define VIEW_PANES &events_pane, &timeline_pane, &calls_pane, &tables_pane, &details_pane

#endif

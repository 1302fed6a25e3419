/*
 * weft_some - some functions
 * --------------------------
 * What they have in common.
 */

/* Has a page. */
int weft_some_one(void);

int weft_some_other(void);

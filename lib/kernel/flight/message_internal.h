/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEFT_KERNEL_FLIGHT_MESSAGE_INTERNAL_H
#define WEFT_KERNEL_FLIGHT_MESSAGE_INTERNAL_H

/* Gives a line to flight_options::tell; a long one is cut. */
__attribute__((format(printf, 2, 3))) void message_line(void (*tell)(const char *text), const char *format, ...);

#endif

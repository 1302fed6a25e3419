// SPDX-License-Identifier: LGPL-2.1-or-later
#include "lib/kernel/flight/message_internal.h"

#include <stdarg.h>
#include <stdio.h>

void message_line(void (*tell)(const char *text), const char *format, ...)
{
	char text[1200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	tell(text);
}

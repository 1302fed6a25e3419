// SPDX-License-Identifier: GPL-2.0-only
#include "lib/kernel/tracefs/kconfig.h"

#include <string.h>

#include "tests/unit/test.h"

TEST(kconfig_names_the_option_of_a_tracer_a_file_and_a_trigger)
{
	char hint[KCONFIG_HINT_SIZE];

	CHECK(!strcmp(kconfig_find(KCONFIG_TRACER, "hwlat")->option, "CONFIG_HWLAT_TRACER"));
	CHECK(!strcmp(kconfig_find(KCONFIG_TRIGGER, "hist:keys=pid")->option, "CONFIG_HIST_TRIGGERS"));
	CHECK(!strcmp(kconfig_hint(KCONFIG_FILE, "buffer_subbuf_size_kb", hint), "; it came with Linux 6.8"));
	CHECK(!*kconfig_hint(KCONFIG_FILE, "tracing_on", hint));
}

TEST(kconfig_finds_a_file_by_its_directory_and_an_option_without_its_no)
{
	CHECK(!strcmp(kconfig_find(KCONFIG_FILE, "hwlat_detector/width")->option, "CONFIG_HWLAT_TRACER"));
	CHECK(!strcmp(kconfig_find(KCONFIG_FILE, "osnoise/timerlat_period_us")->option, "CONFIG_TIMERLAT_TRACER"));
	CHECK(!strcmp(kconfig_find(KCONFIG_OPTION, "nofunction-fork")->option, "CONFIG_FUNCTION_TRACER"));
	CHECK(!kconfig_find(KCONFIG_FILE, "no/such/file"));
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# What systemd reads of weft-flight, as `make install` puts it: judged by systemd itself, which need not run.
load lib

setup()
{
	need_command systemd-analyze
	root=$BATS_TEST_TMPDIR/root
	make -s install BUILD="$BUILD" DESTDIR="$root" PREFIX=/usr/local > /dev/null
	units=$root/usr/local/lib/systemd/system
	# systemd looks whether the program exists.
	sed -i 's|ExecStart=/usr/local/bin/weft |ExecStart=/usr/bin/env |' "$units"/weft-*.service
}

@test "flight unit: systemd finds nothing wrong with the units" {
	run -0 systemd-analyze verify --man=no "$units/weft-flight.service" "$units/weft-dump@.service"
	[ -z "$output" ]
}

@test "flight unit: what the services may do is little" {
	run -0 systemd-analyze security --offline=yes --threshold=24 "$units/weft-flight.service"
	run -0 systemd-analyze security --offline=yes --threshold=10 "$units/weft-dump@.service"
}

@test "flight unit: a flight begins with the options that are installed, and with no more rights than the unit has" {
	need_tracefs
	need_command setpriv
	# As /etc/weft/flight.d has it: what the umask of the one who runs the tests allows does not matter.
	chmod -R go-w "$root/etc/weft"
	[ -e /dev/kmsg ] || sed -i /kmsg/d "$root"/etc/weft/flight.d/*
	caps=$(sed -n 's/^CapabilityBoundingSet=//p' "$units/weft-flight.service" | tr '[:upper:]' '[:lower:]' | sed -e 's/cap_/,+/g' -e 's/ //g')
	run -0 setpriv --bounding-set "-all$caps" --no-new-privs weft flight start --name "test-$$" --config "$root/etc/weft/flight.d" --check
	[[ "$output" == *"the flight could begin"* ]]
}

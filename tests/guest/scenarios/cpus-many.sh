# SPDX-License-Identifier: GPL-2.0-only
# kernel: possible_cpus=256
# A server's firmware announces more CPUs than there are: two of 256 are online, and only they have buffers.

# many: makes 400 reads and writes, each with an event when it begins
many() { dd if=/dev/zero of=/dev/null bs=1 count=200 2> /dev/null; }
# counted FILE: counts them in the text
counted() { grep -cE ' dd-[0-9]+ .* sys_(read|write)\(' "$1"; }

scenario() {
	local possible="$(cat /sys/devices/system/cpu/possible)" rw='-e syscalls:sys_enter_read -e syscalls:sys_enter_write'

	[ "$possible" = 0-255 ] || { skip "everything" "this kernel knows the CPUs $possible, whatever it is told"; return; }
	weft doctor > /tmp/d.txt 2>&1
	check "weft doctor finds that recording works" status_is $? 0 /tmp/d.txt
	# shellcheck disable=SC2086 # words
	record "a recording ends well" 0 -F $rw -- dd if=/dev/zero of=/dev/null bs=1 count=200
	text
	check "it has what the command did" more "$(counted /tmp/r.txt)" 399
	check "of the CPUs that there are" matches /tmp/r.txt '#P:2$'
	whole
	peers
	# shellcheck disable=SC2086
	timeout 100 weft stream -F $rw -- dd if=/dev/zero of=/dev/null bs=1 count=200 > /tmp/s.txt 2> /tmp/s.err
	check "so does a stream" status_is $? 0 /tmp/s.err
	check "which prints what the command did" more "$(counted /tmp/s.txt)" 399
	# shellcheck disable=SC2086
	timeout 100 weft start -B many $rw 2> /tmp/s.err
	check "tracing is started" status_is $? 0 /tmp/s.err
	many
	timeout 100 weft extract -B many -o /tmp/x.dat 2> /tmp/x.err
	check "what it left is extracted" status_is $? 0 /tmp/x.err
	weft report /tmp/x.dat > /tmp/x.txt
	check "all of it" more "$(counted /tmp/x.txt)" 399
	timeout 100 weft stat -B many > /tmp/x.txt 2>&1
	check "weft stat tells of the instance" status_is $? 0 /tmp/x.txt
	timeout 100 weft reset > /tmp/x.err 2>&1
	check "weft reset ends well" status_is $? 0 /tmp/x.err
	check "nothing is left of it" lacks_instance many
}
lacks_instance() { [ ! -d "$T/instances/$1" ] || { echo "instances/$1 is there"; return 1; }; }

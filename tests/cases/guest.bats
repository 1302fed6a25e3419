#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A guest beside its host: what the host did with the guest's CPUs while its tasks had them.
load lib

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit 1
}

# Two recordings that are made up: "CPU 0/TCG" is the guest's CPU, 500 of the host, and 501 is CPU 1.
make_pair()
{
	cat > host.txt <<'END'
          <idle>-0       [000] d..2. 1.000000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=CPU 0/TCG next_pid=500 next_prio=120
          <idle>-0       [001] d..2. 1.000000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=CPU 1/TCG next_pid=501 next_prio=120
       CPU 0/TCG-500     [000] d..2. 2.000000: sched_switch: prev_comm=CPU 0/TCG prev_pid=500 prev_prio=120 prev_state=R ==> next_comm=make next_pid=77 next_prio=120
            make-77      [000] d..2. 2.500000: sched_switch: prev_comm=make prev_pid=77 prev_prio=120 prev_state=S ==> next_comm=CPU 0/TCG next_pid=500 next_prio=120
       CPU 0/TCG-500     [000] d..2. 3.000000: sched_switch: prev_comm=CPU 0/TCG prev_pid=500 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
          <idle>-0       [000] d..3. 3.100000: sched_waking: comm=CPU 0/TCG pid=500 prio=120 target_cpu=000
          <idle>-0       [000] d..2. 3.200000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=CPU 0/TCG next_pid=500 next_prio=120
       CPU 0/TCG-500     [000] d..3. 4.000000: sched_waking: comm=make pid=77 prio=120 target_cpu=000
       CPU 1/TCG-501     [001] d..3. 4.000000: sched_waking: comm=make pid=78 prio=120 target_cpu=000
END
	cat > guest.txt <<'END'
          <idle>-0       [000] d..2. 1.500000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=sh next_pid=7 next_prio=120
              sh-7       [000] d..2. 3.600000: sched_switch: prev_comm=sh prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
END
	weft import -q -o host.dat host.txt
	weft import -q -o guest.dat guest.txt
	weft merge -q -o all.dat host.dat guest.dat
}

# cells TABLE COLUMN... of the first row, from JSON
cells()
{
	jq -r --arg table "$1" '[.[$table][0] | '"$(printf '.%s,' "${@:2}" | sed 's/,$//')"'] | map(tostring) | join(" ")' out.json
}

@test "sched --host: what a guest's task ran is the guest's time, waits for a host CPU, and halts, to the ns" {
	need_command jq
	make_pair
	weft sched -B guest --host host --format json all.dat > out.json
	[ "$(cells host comm pid run_ns vcpu_ran_ns vcpu_waited_ns vcpu_exit_ns vcpu_halted_ns vcpu_unknown_ns)" = \
		"sh 7 2100000000 1400000000 600000000 0 100000000 0" ]
	[ "$(cells tasks run_ns)" = 2100000000 ]
	[ "$(cells vcpus cpu host_pid)" = "0 500" ]
	# Nobody compared the clocks.
	[ "$(cells host vcpu_unsure_ns)" = null ]
	run -0 weft sched -B guest --host host all.dat
	[[ "$output" == *"nobody knows how exactly the times of host and guest agree"* ]]
	[[ "$output" == *"without kvm_entry and kvm_exit"* ]]
	weft sched -B guest --host host --vcpus 501 --format json all.dat > out.json
	[ "$(cells host vcpu_ran_ns vcpu_waited_ns)" = "2100000000 0" ]
	# The same tables without the host's, and in the schema.
	diff <(weft sched -B guest all.dat | grep -v '^#') <(weft sched guest.dat | grep -v '^#')
	weft sched --host host --format schema | jq -e '.properties.host and .properties.vcpus and .properties.vcpu_exits' > /dev/null
	weft sched --format schema | jq -e '.properties.host == null' > /dev/null
}

@test "sched --host: a host that cannot be meant is refused" {
	make_pair
	run -1 weft sched -B guest --host guest all.dat
	[[ "$output" == *"--host: 'guest' is the guest itself: choose the guest with -B"* ]]
	run -1 weft sched -B guest --host nobody all.dat
	[[ "$output" == *"--host: 'all.dat' has no buffer 'nobody'"* ]]
	run -1 weft sched --host host all.dat
	[[ "$output" == *"choose the guest with -B"* ]]
	sed 's/CPU \([01]\).TCG/qemu/g' host.txt > plain.txt
	weft import -q -o plain.dat plain.txt
	weft merge -q -o all.dat plain.dat guest.dat
	run -1 weft sched -B guest --host plain all.dat
	[[ "$output" == *"no thread there is known as a CPU of a guest"*"--vcpus tells them"* ]]
	sed 's/CPU 1.TCG/CPU 0\/KVM/g' host.txt > two.txt
	weft import -q -o two.dat two.txt
	weft merge -q -o all.dat two.dat guest.dat
	run -1 weft sched -B guest --host two all.dat
	[[ "$output" == *"there are several guests"*"500 (CPU 0), 501 (CPU 0)"*"--vcpus tells them"* ]]
	weft sched -B guest --host two --vcpus 500 all.dat > text
	grep -qE '^sh +7 +2.1 s +1.4 s +600.0 ms' text
	run -2 weft sched --vcpus 5 all.dat
	[[ "$output" == *"--vcpus needs --host"* ]]
	run -2 weft sched -B guest --host two --by process all.dat
	run -2 weft syscalls -B guest --host two --every 1s all.dat
	run -2 weft syscalls -B guest --host two --vcpus 0,x all.dat
}

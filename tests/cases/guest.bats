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
	grep -qE '^sh +7 +2.10 s +1.40 s +600.0 ms' text
	run -2 weft sched --vcpus 5 all.dat
	[[ "$output" == *"--vcpus needs --host"* ]]
	run -2 weft sched -B guest --host two --by process all.dat
	run -2 weft syscalls -B guest --host two --every 1s all.dat
	run -2 weft syscalls -B guest --host two --vcpus 0,x all.dat
}

# await CONDITION...: waits until the command succeeds, for two minutes at most
await()
{
	for _ in $(seq 2400); do
		! "$@" || return 0
		sleep 0.05
	done
	echo "in vain: $*"
	return 1
}

# bats test_tags=long
@test "sched --host: a guest that QEMU emulates waits for the host's CPU as long as the host's kernel says" {
	need_tracefs
	need_shared kernels/bzImage-6.12-alltracers
	need_command qemu-system-x86_64
	need_command jq
	need_command taskset
	mkdir share
	"$BATS_TEST_DIRNAME/../guest/initramfs" initramfs - "$(command -v weft)"
	cat > share/guest.sh <<'END'
for entry in /sys/class/virtio-ports/*; do
	if [ "$(cat "$entry/name")" = weft ]; then port=/dev/${entry##*/}; fi
done
until [ -e /host/end ]; do
	weft serve --allow-command <> "$port" >&0 2> /tmp/said
	sleep 0.1
done
END
	read -ra qemu < <("$BATS_TEST_DIRNAME/../guest/machine" qemu 6.12 tcg,thread=multi)
	timeout 600 "${qemu[@]:1}" -name guest,debug-threads=on -nographic -no-reboot -nic none -kernel "$SHARED/kernels/bzImage-6.12-alltracers" \
		-initrd initramfs -append "console=ttyS0 quiet panic=1 no_timer_check mitigations=off" \
		-virtfs local,path=share,mount_tag=h,security_model=none,id=h \
		-device virtio-serial -chardev socket,id=weft,path=door,server=on,wait=off -device virtserialport,chardev=weft,name=weft \
		< /dev/null > console.txt 2>&1 3>&- &
	guest=$!
	await [ -S door ]
	thread=$(grep -l '^CPU 0/TCG$' "/proc/$(pgrep -P $guest)"/task/*/comm)
	thread=${thread%/comm}
	weft record -q -o guest.dat --on unix:door -e sched -- \
		sh -c ': > /host/ready; until [ -e /host/go ]; do :; done; i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; : > /host/done; until [ -e /host/stop ]; do :; done' 3>&- &
	near=$!
	await [ -e share/ready ]
	# The host's recording has the thread alone, from before to after the work; somebody else wants the same CPU.
	weft record -q -o host.dat --on here --rsh env -P "${thread##*/}" -e sched_switch -e sched_waking -e sched_wakeup -- \
		sh -c ': > recording; until [ -e enough ]; do sleep 0.05; done' 3>&- &
	host=$!
	await [ -e recording ]
	taskset -pc 0 "${thread##*/}" > /dev/null
	taskset -c 0 sh -c 'until [ -e enough ]; do :; done' 3>&- &
	read -r ran0 waited0 _ < "$thread/schedstat"
	: > share/go
	await [ -e share/done ]
	read -r ran1 waited1 _ < "$thread/schedstat"
	: > share/stop
	wait $near
	: > enough
	wait $host
	: > share/end
	weft merge -o all.dat host.dat guest.dat
	weft sched -B guest --host host --format json all.dat > out.json
	weft sched -B guest --host host --table host --table vcpus all.dat
	[ "$(cells vcpus cpu host_pid)" = "0 ${thread##*/}" ]
	# Each task's parts are its time; the one that works has waited as the host's kernel counted, but for the edges.
	jq -e 'all(.host[]; .run_ns == .vcpu_ran_ns + .vcpu_waited_ns + .vcpu_exit_ns + .vcpu_halted_ns + .vcpu_unknown_ns)' out.json
	jq -e 'all(.host[]; .vcpu_unsure_ns != null)' out.json
	waited=$((waited1 - waited0))
	ran=$((ran1 - ran0))
	echo "the host's kernel: ran $ran, waited $waited"
	[ "$waited" -gt 0 ]
	[ "$(jq '[.vcpus[].vcpu_waited_ns] | add' out.json)" -ge $((waited * 9 / 10)) ]
	[ "$(jq '[.vcpus[].vcpu_ran_ns] | add' out.json)" -ge $((ran * 9 / 10)) ]
	wait $guest
}

#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# A guest beside its host: what the host did with the guest's CPUs while its tasks had them.
load lib
load screens

setup()
{
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown()
{
	screen_end
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

# columns NAME FROM LENGTH: the columns of the row with this name, as "TIME CHARACTER" where they begin, in ms.
columns()
{
	screen_show | sed 's/^.//' | awk -v name="$1" -v from="$2" -v length_="$3" '
		index($0, name) == 1 { for (i = 20; i <= length($0); i++) print from + (i - 20) * length_, substr($0, i, 1) }'
}

# drawn FILE LENGTH: prints those columns that lie in one of the lines "FROM UNTIL PATTERN" of the file, and are not so drawn.
drawn()
{
	awk -v length_="$2" 'NR == FNR { from[NR] = $1; until[NR] = $2; pattern[NR] = $3; nr = NR; next }
		{ for (i = 1; i <= nr; i++) if ($1 >= from[i] && $1 + length_ <= until[i]) { if ($2 !~ pattern[i]) print; seen[i]++ } }
		END { for (i = 1; i <= nr; i++) if (!seen[i]) print "no column from " from[i] }' "$1" -
}

@test "view --host: a guest's CPU is above the host's thread that it is, and both say where it did not run" {
	local from length
	make_pair
	screen_start 150 24 "$WEFT" view --ascii --host host all.dat
	# Both machines are in the list.
	screen_await "[host]"
	screen_await "[guest]"
	screen_keys 2
	screen_await "the host's clock was not compared"
	screen_await_not "~"
	screen_show | grep -A 1 '^ CPU 0 ' | grep -q '^   CPU 0/TCG-500 '
	read -r length from < <(screen_show | sed -nE '2s/.*column is ([0-9]+)\.0 ms;.* ([0-9])\.([0-9]{3})000 to .*/\1 \2\3/p')
	# What make_pair made, in ms.
	printf '%s\n' '1000 2000 #' '2000 2500 w' '2500 3000 #' '3000 3100 [.]' '3100 3200 w' '3200 4000 #' > thread
	columns '  CPU 0/TCG-500' "$from" "$length" | drawn thread "$length" > bad
	printf '%s\n' '1500 2000 [][sh=#]' '2000 2500 w' '2500 3000 #' '3000 3100 [.]' '3100 3200 w' '3200 3600 #' > tasks
	columns 'CPU 0' "$from" "$length" | drawn tasks "$length" >> bad
	cat bad
	[ ! -s bad ]
	screen_keys j j
	screen_await "in all: ran 2.30 s, waited for a CPU of the host 600.0 ms, halted 100.0 ms; without kvm events exits are not known"
	screen_keys c
	screen_await "weft sched --cpu 0 -B guest --host host --since"
	screen_end
	screen_start 150 24 "$WEFT" view --host host --vcpus 12 all.dat
	screen_await "[guest]"
	screen_keys 2
	screen_await "  vCPU-12 "
	screen_end
	screen_start 150 24 "$WEFT" view --host nobody all.dat
	screen_await "--host: 'all.dat' has no buffer 'nobody'"
	screen_await "STATUS 1"
}

# lengths FILE: how long what is on the tracks of a guest's CPUs lasts, in an export for Perfetto
lengths()
{
	weft export -q --to perfetto --host host -o guest.pftrace "$1" 2> note.txt
	protoc -I"$BATS_TEST_DIRNAME/export" --decode=weft.Trace "$BATS_TEST_DIRNAME/export/perfetto.proto" < guest.pftrace > decoded
	python3 "$BATS_TEST_DIRNAME/export/perfetto.py" lengths decoded
}

@test "export --host: Perfetto has the guest's tasks and what the host did with its CPU beside the host's thread" {
	need_command protoc
	need_command python3
	make_pair
	# A second CPU, which has no task; both begin with the ns of the first event, and with one that the import adds.
	lengths all.dat | grep -v 'not known' > lengths
	printf '%s\t%d\t%s\t%d\n' 'tasks of the guest' 0 sh-7 2100000000 'tasks of the guest' 1 halted 100000000 \
		'tasks of the guest' 1 'waits for a CPU of the host' 600000000 'what the thread did' 0 halted 100000000 \
		'what the thread did' 0 ran 5300000001 'what the thread did' 0 'waits for a CPU of the host' 600000000 | diff - lengths
	grep -q 'nobody knows how exactly the times of host and guest agree' note.txt
	python3 "$BATS_TEST_DIRNAME/export/perfetto_rules.py" guest.pftrace
	# Whatever orders them in Perfetto: they are children of the thread's track, the guest's tasks first.
	awk '/^packet/ { uuid = parent = rank = "" } $1 == "uuid:" { uuid = $2 } $1 == "parent_uuid:" { parent = $2 }
		$1 == "tid:" { of[uuid] = $2 } $1 == "sibling_order_rank:" { rank = $2 } $1 == "name:" { name[uuid] = $0 }
		parent { up[uuid] = parent } rank { at[uuid] = rank }
		END { for (uuid in at) { sub(/^ *name: /, "", name[uuid]); print of[up[up[uuid]]], at[uuid], name[uuid] } }' decoded | sort > tree
	printf '%s\n' '500 1 "tasks of the guest"' '500 2 "what the thread did"' '501 1 "tasks of the guest"' '501 2 "what the thread did"' | diff - tree
	run -2 weft export --to chrome --host host all.dat
	[[ "$output" == *"format 'chrome' shows no guest beside its host"* ]]
	run -2 weft export --to perfetto -B guest --host host all.dat
	run -1 weft export --to perfetto --host nobody all.dat
	[[ "$output" == *"--host: 'all.dat' has no buffer 'nobody'"* ]]
}

@test "export: machines of a merged file have rows of their own in Chrome's form, and none has two slices at a time" {
	need_command python3
	make_pair
	weft export -q --to chrome all.dat 2> /dev/null | python3 -c 'import json, sys
names, rows = {}, {}
for event in json.load(sys.stdin)["traceEvents"]:
    if event["name"] == "process_name":
        assert names.setdefault(event["pid"], event["args"]["name"]) == event["args"]["name"]
    elif event["ph"] == "X":
        rows.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"], event["name"]))
for row in rows.values():
    row.sort()
    assert all(one[1] <= next[0] + 0.002 for one, next in zip(row, row[1:])), row
print(sorted({names[pid] + " " + name for (pid, tid), row in rows.items() for _, _, name in row}))' > rows
	grep -qF "'CPUs (guest) sh'" rows
	grep -qF "'CPUs (host) CPU 0/TCG', 'CPUs (host) CPU 1/TCG', 'CPUs (host) make'" rows
	run ! grep -qF -e "'CPUs (host) sh'" -e "'CPUs (guest) make'" rows
}

@test "export --host: a page of a guest has what the host's thread did below each of its CPUs" {
	need_command node
	make_pair
	weft export -q --to html --host host -o page.html all.dat 2> note.txt
	node "$BATS_TEST_DIRNAME/export/html.js" page.html | awk -F '\t' '$1 == "vcpu" && $3 == 0 { print $4, $5, $7 }' > slices
	# What make_pair made, from the first to the last event of the guest.
	printf '%s\n' '1500000000 500000000 ran' '2000000000 500000000 waits for a CPU of the host' '2500000000 500000000 ran' '3000000000 100000000 halted' \
		'3100000000 100000000 waits for a CPU of the host' '3200000000 400000000 ran' | diff - slices
	diff <(node "$BATS_TEST_DIRNAME/export/html.js" page.html | grep -v '^vcpu') \
		<(weft export -q --to html -B guest -o alone.html all.dat && node "$BATS_TEST_DIRNAME/export/html.js" alone.html)
	node -e 'const fs = require("fs"), page = fs.readFileSync("page.html", "utf8");
		const script = (id) => new RegExp("<script id=\"" + id + "\">\\n([\\s\\S]*?)</script>").exec(page)[1];
		const data = /<script type="application\/json" id="data">\n([\s\S]*?)<\/script>/.exec(page)[1];
		const [model, rows] = new Function(script("model") + "; return [model, rows];")();
		console.log(rows.make(model.open(data)).list.map((row) => row.full).join("\n"));' > rows
	[ "$(head -n 2 rows)" = $'CPU 0\nCPU 0 on the host' ]
}

# bats test_tags=long
@test "sched --host: a guest that QEMU emulates waits for the host's CPU as long as the host's kernel says" {
	need_tracefs
	need_shared kernels/bzImage-6.12-alltracers
	need_command qemu-system-x86_64
	need_command jq
	need_command protoc
	need_command python3
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
	# Perfetto has the same beside the host's thread, and the time line below the guest's CPU.
	lengths all.dat > lengths
	[ "$(awk -F '\t' '$1 == "what the thread did" && $3 == "waits for a CPU of the host" { print $4 }' lengths)" -ge $((waited * 9 / 10)) ]
	[ "$(awk -F '\t' '$1 == "what the thread did" && $3 == "ran" { print $4 }' lengths)" -ge $((ran * 9 / 10)) ]
	# All tasks: those of weft, too.
	weft sched -B guest --host host --self --format json all.dat > out.json
	[ "$(awk -F '\t' '$1 == "tasks of the guest" && $2 == 1 && $3 == "waits for a CPU of the host" { print $4 }' lengths)" = \
		"$(jq '[.host[].vcpu_waited_ns] | add' out.json)" ]
	python3 "$BATS_TEST_DIRNAME/export/perfetto_rules.py" guest.pftrace
	screen_start 150 24 "$WEFT" view -B guest --host host all.dat
	screen_await "[1 events]"
	screen_keys 2
	screen_await "  CPU 0/TCG-${thread##*/}"
	screen_show | grep -A 1 '^ CPU 0 ' | grep -q "^   CPU 0/TCG-${thread##*/} .*[░▒▓]"
	screen_end
	wait $guest
}

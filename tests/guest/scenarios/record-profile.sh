# SPDX-License-Identifier: GPL-2.0-only
# record --profile: the ticks of CPUs with stacks, of a program that measures what its functions take (tests/guest/shares.c).
# samples FUNCTION: of the table by function
samples() { awk -F, -v name="$1" '$1 == name { sum += $4 } END { print sum + 0 }' /tmp/profile.csv; }

# share_is SAMPLES ALL MEASURED ALL: the shares are the same but for 15 %
share_is() { awk -v a="$1" -v b="$2" -v c="$3" -v d="$4" 'BEGIN { off = a / b - c / d; if (off > 0.15 || off < -0.15) { print a, b, c, d; exit 1 } }'; }

scenario() {
	local all took hz

	command -v shares > /dev/null || { skip "record --profile" "no program for it in this guest"; return; }
	remember
	record "weft records what CPUs do" 0 --profile -- sh -c 'shares 3 > /tmp/measured'
	unchanged "the instance of weft's own goes with the recording"
	weft stacks --on-cpu --by function --format csv --top 0 --comm shares /tmp/r.dat > /tmp/profile.csv 2> /tmp/err
	check "weft stacks --on-cpu reads it" status_is $? 0 /tmp/err
	all=$(($(samples six) + $(samples three) + $(samples one)))
	took=$(awk '{ sum += $2 } END { print sum }' /tmp/measured)
	check "there are many samples" more "$all" 100
	check "a function that takes 60 % of the time has so many of the samples" share_is "$(samples six)" "$all" "$(awk '/^six/ { print $2 }' /tmp/measured)" "$took"
	check "so has one of 30 %" share_is "$(samples three)" "$all" "$(awk '/^three/ { print $2 }' /tmp/measured)" "$took"
	check "and one of 10 %" share_is "$(samples one)" "$all" "$(awk '/^one/ { print $2 }' /tmp/measured)" "$took"
	weft stacks --on-cpu --comm shares /tmp/r.dat > /tmp/profile.txt 2>&1
	check "functions stand below those that call them" matches /tmp/profile.txt '^six +[0-9,]+ .* six < work < main'
	check "nothing of the tick is in the stacks" lacks /tmp/profile.txt 'hrtimer_interrupt|tick_'
	hz=$(weft info /tmp/r.dat | sed -n 's/.*HZ *\([0-9]*\).*/\1/p')
	check "the rate is told" matches /tmp/profile.txt "^# [0-9,]+ samples, .* ${hz:-[0-9]+} a second"
	weft export --to folded --comm shares /tmp/r.dat > /tmp/folded 2> /tmp/err
	check "a flame graph has the same stacks" matches /tmp/folded '^shares;.*main;work;six [0-9]+$'
	cp /tmp/r.dat /tmp/measured $OUT/
}

# SPDX-License-Identifier: GPL-2.0-only
# weft block --by file: the bytes of disk requests by file, beside what dd wrote and read.
# bytes NAME INODE OPERATION: those of the requests for this file
bytes() {
	awk -F, -v name="$1" -v inode="inode $2 of" -v op="$3" '
		FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next }
		($col["file"] == name || index($col["file"], inode) == 1) && $col["operation"] == op { sum += $col["bytes"] }
		END { print sum + 0 }' /tmp/by.csv
}

# column FILE COLUMN: its sum
column() { awk -F, -v name="$2" 'FNR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } { sum += $col[name] } END { print sum + 0 }' "$1"; }

scenario() {
	local module events='' files='' a b

	for module in crc16 crc32c_generic crc32c-cryptoapi mbcache jbd2 ext4; do
		[ ! -e /host/modules/$module.ko ] || insmod /host/modules/$module.ko 2> /dev/null
	done
	mkdir -p /tmp/disk
	if ! { [ -x /usr/bin/mke2fs ] && /usr/bin/mke2fs -q -F -t ext4 /dev/vda && mount -t ext4 /dev/vda /tmp/disk; } > /tmp/disk.out 2>&1; then
		skip "block --by file" "no ext4 here: $(head -c 100 /tmp/disk.out)"
		return
	fi
	[ ! -e $T/kprobe_events ] || files=--files
	for module in filemap:mm_filemap_add_to_page_cache ext4:ext4_writepages ext4:ext4_writepages_result iomap; do
		[ ! -e $T/events/${module%:*} ] || events="$events -e $module"
	done
	cat > /tmp/load <<-'END'
		dd if=/dev/zero of=/tmp/disk/a bs=64k count=32 conv=fsync
		dd if=/dev/zero of=/tmp/disk/b bs=64k count=16 conv=fsync
		echo 3 > /proc/sys/vm/drop_caches
		dd if=/tmp/disk/a of=/dev/null bs=64k
		dd if=/tmp/disk/b of=/dev/null bs=64k iflag=direct
	END
	# shellcheck disable=SC2086 # words
	record "weft records requests and files" 0 $files -e block -e raw_syscalls $events -- sh /tmp/load
	a=$(stat -c %i /tmp/disk/a) b=$(stat -c %i /tmp/disk/b)
	weft block --by file --top 0 --table requests --format csv /tmp/r.dat > /tmp/by.csv 2> /tmp/err
	check "weft block --by file reads them" status_is $? 0 /tmp/err
	weft block --top 0 --table requests --format csv /tmp/r.dat > /tmp/all.csv
	cp /tmp/by.csv /tmp/all.csv /tmp/r.dat $OUT/
	check "what was written back is for the file" equal "$(bytes /tmp/disk/a "$a" write)" 2097152
	check "so is that of the other" equal "$(bytes /tmp/disk/b "$b" write)" 1048576
	check "what was read through the page cache is for the file" equal "$(bytes /tmp/disk/a "$a" read)" 2097152
	if [ -e $T/events/iomap/iomap_iter ]; then
		check "so is what was read past it" equal "$(bytes /tmp/disk/b "$b" read)" 1048576
	fi
	check "no request is left out" equal "$(column /tmp/by.csv requests) $(column /tmp/by.csv bytes)" "$(column /tmp/all.csv requests) $(column /tmp/all.csv bytes)"
	if [ -n "$files" ] && [ -e /sys/kernel/btf/vmlinux ]; then
		check "files have their names" matches /tmp/by.csv '^/tmp/disk/a,'
		weft block --file '*/disk/b' --top 0 --table requests --format csv /tmp/r.dat > /tmp/b.csv
		check "--file chooses requests" equal "$(column /tmp/b.csv bytes)" "$(($(bytes /tmp/disk/b "$b" write) + $(bytes /tmp/disk/b "$b" read)))"
	fi
	umount /tmp/disk
}

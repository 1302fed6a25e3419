# SPDX-License-Identifier: GPL-2.0-only
# An event that prints the address of a struct page, and records its number. 5.10 never hashes the address.
scenario() {
	if [ ! -e /proc/kcore ] || ! grep -q ' vmemmap_base$' /proc/kallsyms; then
		skip pages "this kernel does not tell where its array of struct page lies"
		return
	fi
	VARIANTS=
	live pages load -e kmem:mm_page_free $([ ! -e $T/options/hash-ptr ] || echo -O nohash-ptr)
}

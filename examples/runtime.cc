// SPDX-License-Identifier: GPL-2.0-only
// runtime FILE: how long each task had a CPU, in ns, the longest first.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>
#include <weft/weft.h>

using file_ptr = std::unique_ptr<weft_file, decltype(&weft_file_free)>;
using reader_ptr = std::unique_ptr<weft_reader, decltype(&weft_reader_free)>;
using times = std::map<std::pair<int32_t, std::string>, uint64_t>;

extern "C" {
static int add_run(void *arg, const weft_slice *run)
{
	const std::string name(run->name, run->name_len);

	(*static_cast<times *>(arg))[{ run->pid, name }] += run->to - run->from;
	return 0;
}
}

int main(int argc, char **argv)
{
	weft_file *opened = nullptr;
	weft_error error = {};
	times spent;

	if (argc != 2 || weft_file_open(argv[1], nullptr, &opened, &error)) {
		std::fprintf(stderr, "runtime: %s\n", argc != 2 ? "usage: runtime FILE" : error.text);
		return 1;
	}
	file_ptr file(opened, weft_file_free);
	reader_ptr reader(weft_reader_new(), weft_reader_free);
	if (!reader || weft_reader_add(reader.get(), file.get(), nullptr, &error) ||
	    weft_reader_slices(reader.get(), 1u << WEFT_SLICE_RUN, add_run, &spent, &error)) {
		std::fprintf(stderr, "runtime: %s\n", error.text);
		return 1;
	}
	std::vector<std::pair<times::key_type, uint64_t>> rows(spent.begin(), spent.end());
	std::stable_sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
	for (const auto &row : rows)
		std::printf("%s %d %llu\n", row.first.second.c_str(), row.first.first,
			    static_cast<unsigned long long>(row.second));
	return 0;
}

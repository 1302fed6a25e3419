# bash completion of weft                                          SPDX-License-Identifier: GPL-2.0-only

# Made by completions/generate from the option tables: do not edit.
_weft_commands='record stream top flight recover extract snapshot bench report view trace-cmd export sql info check pack convert split merge import summary sched syscalls irq latency graph block locks stacks memory power tasks diff start stop restart clear set reset show mark profile-functions stack list probe hist stat doctor instance help'
_weft_formats='ftrace trace_pipe json pretty trace-cmd'

_weft_options()
{
	case $1 in
	record) echo '--event -e --for --filter -f --trigger -R --probe --disable -v --ignore-missing -i --stacktrace -T --tracer -p --function -l --no-function -n --graph-function -g --no-graph-function --max-graph-depth --option -O --func-stack --thresh --max-latency-reset --hwlat --osnoise --pid -P --no-pid --follow-children -c --buffer-size -b --cpu-buffer-size --subbuf-size --buffer-percent --syscall-data --absolute-time --clock -C --cpus -M --instance -B --cmdlines-size --config --dry-run --only-command -F --user --wait --output -o --compression --file-version --mode --temp-dir --save --all-symbols --quiet -q --all-formats -a --no-filter --max-size -m --duration --sync --recorder-cpu --priority -r --fail-on-lost' ;;
	stream) echo '--event -e --for --filter -f --trigger -R --probe --disable -v --ignore-missing -i --stacktrace -T --tracer -p --function -l --no-function -n --graph-function -g --no-graph-function --max-graph-depth --option -O --func-stack --thresh --max-latency-reset --hwlat --osnoise --pid -P --no-pid --follow-children -c --buffer-size -b --cpu-buffer-size --subbuf-size --buffer-percent --syscall-data --absolute-time --clock -C --cpus -M --instance -B --cmdlines-size --config --dry-run --only-command -F --user --wait --format --summary --every --top --color --nanoseconds -t --raw --no-self --self --latency --limit --duration --no-filter --fail-on-lost --quiet -q --decode --no-plugins -N --plugin-dir' ;;
	top) echo '--event -e --for --filter -f --trigger -R --probe --disable -v --ignore-missing -i --stacktrace -T --tracer -p --function -l --no-function -n --graph-function -g --no-graph-function --max-graph-depth --option -O --func-stack --thresh --max-latency-reset --hwlat --osnoise --pid -P --no-pid --follow-children -c --buffer-size -b --cpu-buffer-size --subbuf-size --buffer-percent --syscall-data --absolute-time --clock -C --cpus -M --instance -B --cmdlines-size --config --dry-run --only-command -F --user --wait --every --duration --color --ascii' ;;
	flight) echo '--event -e --for --filter -f --trigger -R --probe --disable -v --ignore-missing -i --stacktrace -T --tracer -p --function -l --no-function -n --graph-function -g --no-graph-function --max-graph-depth --option -O --func-stack --thresh --max-latency-reset --hwlat --osnoise --pid -P --no-pid --follow-children -c --buffer-size -b --cpu-buffer-size --subbuf-size --buffer-percent --syscall-data --absolute-time --clock -C --cpus -M --instance -B --cmdlines-size --config --dry-run --when --keep --max-memory --keep-in --before --after --ragged --cool-down --output-dir -o --max-files --max-bytes --max-per-hour --mode --upload --upload-user --upload-timeout --duration --name --check --reason --format --brief' ;;
	recover) echo '--output -o --mode --quiet -q' ;;
	extract) echo '--no-sandbox --trust-size --instance -B --all -a --snapshot -s --dump --btf --symbols --hash-key --output -o --compression --file-version --mode --temp-dir --save --all-symbols --quiet -q' ;;
	snapshot) echo '--instance -B --take -s --clear -r --free -f --cpu -c --on --count' ;;
	bench) echo '--runs --warmup --prepare --ignore-failure --seed --save --against --for --plain --keep --fail-if --format --top' ;;
	report) echo '--input -i -F --self --event -e --filter -f --invert -v --longer --no-hardirq -I --no-softirq -S --no-self --limit --tail --instance -B --cpu --pid --comm --since --until --around --before --after --format --color --nanoseconds -t --ts-diff --ts-offset --raw -R --raw-event -r --option -O --latency-format -l --traceevent-plugins --stored --decode --no-plugins -N --plugin-dir --quiet -q --threads --no-sandbox --trust-size' ;;
	view) echo '--input -i --instance -B --cpu --pid --comm --since --until --around --before --after --event -e --filter -f --invert -v --color --ascii --no-mouse --nanoseconds -t --decode --no-plugins -N --plugin-dir --no-sandbox --trust-size' ;;
	trace-cmd) echo '' ;;
	export) echo '--input -i --to --output -o --event -e --filter -f --invert -v --longer --no-hardirq -I --no-softirq -S --no-self --limit --tail --instance -B --cpu --pid --comm --since --until --around --before --after --fields --weight --max-size --diff --partition --decode --no-plugins -N --plugin-dir --mode --quiet -q --no-sandbox --trust-size' ;;
	sql) echo '--input -i --event -e --filter -f --invert -v --longer --no-hardirq -I --no-softirq -S --no-self --limit --tail --instance -B --cpu --pid --comm --since --until --around --before --after --format --decode --no-plugins -N --plugin-dir --quiet -q --no-sandbox --trust-size' ;;
	info) echo '--input -i --dump --no-events --no-sandbox --trust-size --settings --setting --instance -B' ;;
	check) echo '--input -i --quiet -q --no-sandbox --trust-size' ;;
	pack) echo '--output -o --pages --kallsyms --all-symbols --events --latency --latency-sample --btf --maps --instance -B --compression --file-version --mode --script --quiet -q' ;;
	convert) echo '--input -i --output -o --file-version --compression --mode --quiet -q --no-sandbox --trust-size' ;;
	split) echo '--input -i --every --size --count --by --event -e --filter -f --invert -v --longer --no-hardirq -I --no-softirq -S --no-self --limit --tail --instance -B --cpu --pid --comm --since --until --around --before --after --output -o --file-version --compression --mode --quiet -q --no-sandbox --trust-size' ;;
	merge) echo '--offset --match --output -o --file-version --compression --mode --quiet -q --no-sandbox --trust-size' ;;
	import) echo '--input -i --formats-from --strict --output -o --file-version --compression --mode --quiet -q --no-sandbox --trust-size' ;;
	summary) echo '--input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	sched) echo '--timehist --chain --idle-while-waiting --map --rt --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	syscalls) echo '--by --failures --slowest --longer --trace --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	irq) echo '--input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	latency) echo '--worst --longer --rt --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	graph) echo '--by --tree --slowest --longer --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	block) echo '--by --operation --sizes --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	locks) echo '--by --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	stacks) echo '--by --event -e --filter -f --invert -v --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	memory) echo '--input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	power) echo '--input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	tasks) echo '--by --tree --input -i --self --instance -B --cpu --pid --comm --since --until --around --before --after --limit --tail --every --format --sort --top --no-sandbox --trust-size' ;;
	diff) echo '--of --by --old --new --figure --per --match --row --instance -B --cpu --pid --comm --since --until --around --before --after --least --fail-if --one-run --format --top --no-sandbox --trust-size' ;;
	start) echo '--event -e --for --filter -f --trigger -R --probe --disable -v --ignore-missing -i --stacktrace -T --tracer -p --function -l --no-function -n --graph-function -g --no-graph-function --max-graph-depth --option -O --func-stack --thresh --max-latency-reset --hwlat --osnoise --pid -P --no-pid --follow-children -c --buffer-size -b --cpu-buffer-size --subbuf-size --buffer-percent --syscall-data --absolute-time --clock -C --cpus -M --instance -B --cmdlines-size --config --dry-run --only-command -F --user --wait --boot --stack-tracer --free-on-exit' ;;
	stop) echo '--instance -B --all -a --top -t' ;;
	restart) echo '--instance -B --all -a --top -t' ;;
	clear) echo '--errors --instance -B --all -a --top -t' ;;
	set) echo '--event -e --for --filter -f --trigger -R --probe --disable -v --ignore-missing -i --stacktrace -T --tracer -p --function -l --no-function -n --graph-function -g --no-graph-function --max-graph-depth --option -O --func-stack --thresh --max-latency-reset --hwlat --osnoise --pid -P --no-pid --follow-children -c --buffer-size -b --cpu-buffer-size --subbuf-size --buffer-percent --syscall-data --absolute-time --clock -C --cpus -M --instance -B --cmdlines-size --config --dry-run --add --remove --ftrace-enabled --stack-tracer --tracepoint-printk --traceoff-on-warning --dump-on-oops' ;;
	reset) echo '--instance -B --all -a --probes --yes -y' ;;
	show) echo '--instance -B --follow -p --snapshot -s --cpu -c --tracing_on --current_tracer --buffer_size --buffer_total_size --buffer_subbuf_size --buffer_percent --ftrace_filter --ftrace_notrace --ftrace_pid --graph_function --graph_notrace --cpumask --hist --trigger' ;;
	mark) echo '--inject --raw --instance -B' ;;
	profile-functions) echo '--function -l --no-function -n --option -O --duration --user --sort --limit' ;;
	stack) echo '--function -l --reset' ;;
	list) echo '--events -e --tracers -t --clocks -C --options -o --functions -f --input -i --full -F --instance -B' ;;
	probe) echo '--synthetic --all -a --dry-run --instance -B' ;;
	hist) echo '--keys --values --sort --filter -f --size --latency --key --ns --sql --name --dry-run --instance -B --only-command -F --follow-children -c --duration --live --interval --input -i --decode --no-plugins -N --plugin-dir --no-sandbox --trust-size --since --until --around --before --after --format' ;;
	stat) echo '--full --check --instance -B' ;;
	doctor) echo '' ;;
	instance) echo '' ;;
	help) echo '' ;;
	esac
}

# The type of the arguments that are no options.
_weft_argument()
{
	case $1 in
	record) echo 'COMMAND' ;;
	stream) echo 'COMMAND' ;;
	top) echo 'COMMAND' ;;
	flight) echo 'start|dump|status|explain' ;;
	recover) echo 'FILE' ;;
	snapshot) echo 'take|free|clear|show' ;;
	bench) echo 'COMMAND' ;;
	report) echo 'FILE' ;;
	view) echo 'FILE' ;;
	trace-cmd) echo 'COMMAND' ;;
	export) echo 'FILE' ;;
	sql) echo 'FILE' ;;
	info) echo 'FILE' ;;
	check) echo 'FILE' ;;
	pack) echo 'DIR' ;;
	convert) echo 'FILE' ;;
	split) echo 'FILE' ;;
	merge) echo 'FILE' ;;
	import) echo 'TEXT' ;;
	summary) echo 'FILE' ;;
	sched) echo 'FILE' ;;
	syscalls) echo 'FILE' ;;
	irq) echo 'FILE' ;;
	latency) echo 'FILE' ;;
	graph) echo 'FILE' ;;
	block) echo 'FILE' ;;
	locks) echo 'FILE' ;;
	stacks) echo 'FILE' ;;
	memory) echo 'FILE' ;;
	power) echo 'FILE' ;;
	tasks) echo 'FILE' ;;
	diff) echo 'summary|sched|latency|syscalls|graph|irq|block|locks|stacks|memory|power|tasks' ;;
	start) echo 'COMMAND' ;;
	show) echo 'NAME' ;;
	mark) echo 'TEXT' ;;
	profile-functions) echo 'COMMAND' ;;
	stack) echo 'show|start|stop|reset' ;;
	list) echo 'events|systems|tracers|clocks|options|functions|instances|formats|syscalls|plugins' ;;
	probe) echo 'add|list|remove' ;;
	hist) echo 'EVENT' ;;
	instance) echo 'list|create|remove' ;;
	help) echo 'HELP' ;;
	esac
}

# The type of the first argument behind --.
_weft_behind()
{
	case $1 in
	summary) echo 'COMMAND' ;;
	sched) echo 'COMMAND' ;;
	syscalls) echo 'COMMAND' ;;
	irq) echo 'COMMAND' ;;
	latency) echo 'COMMAND' ;;
	graph) echo 'COMMAND' ;;
	block) echo 'COMMAND' ;;
	locks) echo 'COMMAND' ;;
	stacks) echo 'COMMAND' ;;
	memory) echo 'COMMAND' ;;
	power) echo 'COMMAND' ;;
	tasks) echo 'COMMAND' ;;
	*) _weft_argument "$1" ;;
	esac
}

# The type of the argument that option $2 of command $1 needs; with "optional" also of one that it may have.
_weft_metavar()
{
	case $1:$2 in
	record:--event|record:-e) echo 'EVENT' ;;
	record:--for) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	record:--filter|record:-f) echo 'FILTER' ;;
	record:--trigger|record:-R) echo 'TRIGGER' ;;
	record:--probe) echo 'DEFINITION' ;;
	record:--tracer|record:-p) echo 'TRACER' ;;
	record:--function|record:-l) echo 'FUNCTION' ;;
	record:--no-function|record:-n) echo 'FUNCTION' ;;
	record:--graph-function|record:-g) echo 'FUNCTION' ;;
	record:--no-graph-function) echo 'FUNCTION' ;;
	record:--max-graph-depth) echo 'N' ;;
	record:--option|record:-O) echo 'OPTION' ;;
	record:--thresh) echo 'TIME' ;;
	record:--hwlat) echo 'KEY=VALUE' ;;
	record:--osnoise) echo 'KEY=VALUE' ;;
	record:--pid|record:-P) echo 'PID' ;;
	record:--no-pid) echo 'PID' ;;
	record:--buffer-size|record:-b) echo 'SIZE' ;;
	record:--cpu-buffer-size) echo 'CPULIST=SIZE' ;;
	record:--subbuf-size) echo 'SIZE' ;;
	record:--buffer-percent) echo 'N' ;;
	record:--syscall-data) echo 'N' ;;
	record:--clock|record:-C) echo 'CLOCK' ;;
	record:--cpus|record:-M) echo 'CPULIST' ;;
	record:--instance|record:-B) echo 'INSTANCE' ;;
	record:--cmdlines-size) echo 'N' ;;
	record:--config) echo 'FILE' ;;
	record:--user) echo 'USER' ;;
	record:--output|record:-o) echo 'FILE' ;;
	record:--compression) echo 'zstd|none' ;;
	record:--file-version) echo '6|7' ;;
	record:--mode) echo 'MODE' ;;
	record:--temp-dir) echo 'DIR' ;;
	record:--save) echo 'hist|stack|stat' ;;
	record:--max-size|record:-m) echo 'SIZE' ;;
	record:--duration) echo 'TIME' ;;
	record:--sync) echo 'TIME' ;;
	record:--recorder-cpu) echo 'CPULIST' ;;
	record:--priority|record:-r) echo 'PRIO' ;;
	stream:--event|stream:-e) echo 'EVENT' ;;
	stream:--for) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	stream:--filter|stream:-f) echo 'FILTER' ;;
	stream:--trigger|stream:-R) echo 'TRIGGER' ;;
	stream:--probe) echo 'DEFINITION' ;;
	stream:--tracer|stream:-p) echo 'TRACER' ;;
	stream:--function|stream:-l) echo 'FUNCTION' ;;
	stream:--no-function|stream:-n) echo 'FUNCTION' ;;
	stream:--graph-function|stream:-g) echo 'FUNCTION' ;;
	stream:--no-graph-function) echo 'FUNCTION' ;;
	stream:--max-graph-depth) echo 'N' ;;
	stream:--option|stream:-O) echo 'OPTION' ;;
	stream:--thresh) echo 'TIME' ;;
	stream:--hwlat) echo 'KEY=VALUE' ;;
	stream:--osnoise) echo 'KEY=VALUE' ;;
	stream:--pid|stream:-P) echo 'PID' ;;
	stream:--no-pid) echo 'PID' ;;
	stream:--buffer-size|stream:-b) echo 'SIZE' ;;
	stream:--cpu-buffer-size) echo 'CPULIST=SIZE' ;;
	stream:--subbuf-size) echo 'SIZE' ;;
	stream:--buffer-percent) echo 'N' ;;
	stream:--syscall-data) echo 'N' ;;
	stream:--clock|stream:-C) echo 'CLOCK' ;;
	stream:--cpus|stream:-M) echo 'CPULIST' ;;
	stream:--instance|stream:-B) echo 'INSTANCE' ;;
	stream:--cmdlines-size) echo 'N' ;;
	stream:--config) echo 'FILE' ;;
	stream:--user) echo 'USER' ;;
	stream:--format) echo 'FORMAT' ;;
	stream:--summary) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	stream:--every) echo 'TIME' ;;
	stream:--top) echo 'N' ;;
	stream:--color) echo 'auto|always|never' ;;
	stream:--latency) echo 'TIME' ;;
	stream:--limit) echo 'N' ;;
	stream:--duration) echo 'TIME' ;;
	stream:--plugin-dir) echo 'DIR' ;;
	top:--event|top:-e) echo 'EVENT' ;;
	top:--for) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	top:--filter|top:-f) echo 'FILTER' ;;
	top:--trigger|top:-R) echo 'TRIGGER' ;;
	top:--probe) echo 'DEFINITION' ;;
	top:--tracer|top:-p) echo 'TRACER' ;;
	top:--function|top:-l) echo 'FUNCTION' ;;
	top:--no-function|top:-n) echo 'FUNCTION' ;;
	top:--graph-function|top:-g) echo 'FUNCTION' ;;
	top:--no-graph-function) echo 'FUNCTION' ;;
	top:--max-graph-depth) echo 'N' ;;
	top:--option|top:-O) echo 'OPTION' ;;
	top:--thresh) echo 'TIME' ;;
	top:--hwlat) echo 'KEY=VALUE' ;;
	top:--osnoise) echo 'KEY=VALUE' ;;
	top:--pid|top:-P) echo 'PID' ;;
	top:--no-pid) echo 'PID' ;;
	top:--buffer-size|top:-b) echo 'SIZE' ;;
	top:--cpu-buffer-size) echo 'CPULIST=SIZE' ;;
	top:--subbuf-size) echo 'SIZE' ;;
	top:--buffer-percent) echo 'N' ;;
	top:--syscall-data) echo 'N' ;;
	top:--clock|top:-C) echo 'CLOCK' ;;
	top:--cpus|top:-M) echo 'CPULIST' ;;
	top:--instance|top:-B) echo 'INSTANCE' ;;
	top:--cmdlines-size) echo 'N' ;;
	top:--config) echo 'FILE' ;;
	top:--user) echo 'USER' ;;
	top:--every) echo 'TIME' ;;
	top:--duration) echo 'TIME' ;;
	top:--color) echo 'auto|always|never' ;;
	flight:--event|flight:-e) echo 'EVENT' ;;
	flight:--for) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	flight:--filter|flight:-f) echo 'FILTER' ;;
	flight:--trigger|flight:-R) echo 'TRIGGER' ;;
	flight:--probe) echo 'DEFINITION' ;;
	flight:--tracer|flight:-p) echo 'TRACER' ;;
	flight:--function|flight:-l) echo 'FUNCTION' ;;
	flight:--no-function|flight:-n) echo 'FUNCTION' ;;
	flight:--graph-function|flight:-g) echo 'FUNCTION' ;;
	flight:--no-graph-function) echo 'FUNCTION' ;;
	flight:--max-graph-depth) echo 'N' ;;
	flight:--option|flight:-O) echo 'OPTION' ;;
	flight:--thresh) echo 'TIME' ;;
	flight:--hwlat) echo 'KEY=VALUE' ;;
	flight:--osnoise) echo 'KEY=VALUE' ;;
	flight:--pid|flight:-P) echo 'PID' ;;
	flight:--no-pid) echo 'PID' ;;
	flight:--buffer-size|flight:-b) echo 'SIZE' ;;
	flight:--cpu-buffer-size) echo 'CPULIST=SIZE' ;;
	flight:--subbuf-size) echo 'SIZE' ;;
	flight:--buffer-percent) echo 'N' ;;
	flight:--syscall-data) echo 'N' ;;
	flight:--clock|flight:-C) echo 'CLOCK' ;;
	flight:--cpus|flight:-M) echo 'CPULIST' ;;
	flight:--instance|flight:-B) echo 'INSTANCE' ;;
	flight:--cmdlines-size) echo 'N' ;;
	flight:--config) echo 'FILE' ;;
	flight:--when) echo 'CONDITION' ;;
	flight:--keep) echo 'TIME' ;;
	flight:--max-memory) echo 'SIZE' ;;
	flight:--keep-in) echo 'ring|kernel|persistent' ;;
	flight:--before) echo 'TIME' ;;
	flight:--after) echo 'TIME' ;;
	flight:--cool-down) echo 'TIME' ;;
	flight:--output-dir|flight:-o) echo 'DIR' ;;
	flight:--max-files) echo 'N' ;;
	flight:--max-bytes) echo 'SIZE' ;;
	flight:--max-per-hour) echo 'N' ;;
	flight:--mode) echo 'MODE' ;;
	flight:--upload) echo 'COMMAND' ;;
	flight:--upload-user) echo 'USER' ;;
	flight:--upload-timeout) echo 'TIME' ;;
	flight:--duration) echo 'TIME' ;;
	flight:--name) echo 'NAME' ;;
	flight:--reason) echo 'TEXT' ;;
	flight:--format) echo 'text|json|csv' ;;
	recover:--output|recover:-o) echo 'FILE' ;;
	recover:--mode) echo 'MODE' ;;
	extract:--instance|extract:-B) echo 'INSTANCE' ;;
	extract:--dump) echo 'FILE' ;;
	extract:--btf) echo 'FILE' ;;
	extract:--symbols) echo 'FILE' ;;
	extract:--output|extract:-o) echo 'FILE' ;;
	extract:--compression) echo 'zstd|none' ;;
	extract:--file-version) echo '6|7' ;;
	extract:--mode) echo 'MODE' ;;
	extract:--temp-dir) echo 'DIR' ;;
	extract:--save) echo 'hist|stack|stat' ;;
	snapshot:--instance|snapshot:-B) echo 'INSTANCE' ;;
	snapshot:--cpu|snapshot:-c) echo 'CPU' ;;
	snapshot:--on) echo 'EVENT' ;;
	snapshot:--count) echo 'N' ;;
	bench:--runs) echo 'N' ;;
	bench:--warmup) echo 'N' ;;
	bench:--prepare) echo 'COMMAND' ;;
	bench:--seed) echo 'N' ;;
	bench:--save) echo 'FILE' ;;
	bench:--against) echo 'FILE' ;;
	bench:--for) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	bench:--keep) echo 'DIR' ;;
	bench:--fail-if) echo 'CONDITION' ;;
	bench:--format) echo 'text|json|csv' ;;
	bench:--top) echo 'N' ;;
	report:--input|report:-i) echo 'FILE' ;;
	report:-F) echo 'FILTER' ;;
	report:--event|report:-e) echo 'EVENT' ;;
	report:--filter|report:-f) echo 'FILTER' ;;
	report:--longer) echo 'TIME' ;;
	report:--limit) echo 'N' ;;
	report:--tail) echo 'N' ;;
	report:--instance|report:-B) echo 'NAME' ;;
	report:--cpu) echo 'CPULIST' ;;
	report:--pid) echo 'PID' ;;
	report:--comm) echo 'NAME' ;;
	report:--since) echo 'TIME' ;;
	report:--until) echo 'TIME' ;;
	report:--around) echo 'MARK' ;;
	report:--before) echo 'TIME' ;;
	report:--after) echo 'TIME' ;;
	report:--format) echo 'FORMAT' ;;
	report:--color) echo 'auto|always|never' ;;
	report:--ts-offset) echo 'NS' ;;
	report:--raw-event|report:-r) echo 'EVENT' ;;
	report:--option|report:-O) echo 'OPTION' ;;
	report:--stored) echo 'NAME' ;;
	report:--plugin-dir) echo 'DIR' ;;
	report:--threads) echo 'N' ;;
	view:--input|view:-i) echo 'FILE' ;;
	view:--instance|view:-B) echo 'NAME' ;;
	view:--cpu) echo 'CPULIST' ;;
	view:--pid) echo 'PID' ;;
	view:--comm) echo 'NAME' ;;
	view:--since) echo 'TIME' ;;
	view:--until) echo 'TIME' ;;
	view:--around) echo 'MARK' ;;
	view:--before) echo 'TIME' ;;
	view:--after) echo 'TIME' ;;
	view:--event|view:-e) echo 'EVENT' ;;
	view:--filter|view:-f) echo 'FILTER' ;;
	view:--color) echo 'auto|always|never' ;;
	view:--plugin-dir) echo 'DIR' ;;
	export:--input|export:-i) echo 'FILE' ;;
	export:--to) echo 'jsonl|csv|perfetto|sqlite|chrome|folded|flame|speedscope|html|parquet|ctf|pprof|firefox' ;;
	export:--output|export:-o) echo 'FILE' ;;
	export:--event|export:-e) echo 'EVENT' ;;
	export:--filter|export:-f) echo 'FILTER' ;;
	export:--longer) echo 'TIME' ;;
	export:--limit) echo 'N' ;;
	export:--tail) echo 'N' ;;
	export:--instance|export:-B) echo 'NAME' ;;
	export:--cpu) echo 'CPULIST' ;;
	export:--pid) echo 'PID' ;;
	export:--comm) echo 'NAME' ;;
	export:--since) echo 'TIME' ;;
	export:--until) echo 'TIME' ;;
	export:--around) echo 'MARK' ;;
	export:--before) echo 'TIME' ;;
	export:--after) echo 'TIME' ;;
	export:--fields) echo 'FIELD' ;;
	export:--weight) echo 'self-time|off-cpu|count' ;;
	export:--max-size) echo 'SIZE' ;;
	export:--diff) echo 'FILE' ;;
	export:--partition) echo 'KEY=VALUE' ;;
	export:--plugin-dir) echo 'DIR' ;;
	export:--mode) echo 'MODE' ;;
	sql:--input|sql:-i) echo 'FILE' ;;
	sql:--event|sql:-e) echo 'EVENT' ;;
	sql:--filter|sql:-f) echo 'FILTER' ;;
	sql:--longer) echo 'TIME' ;;
	sql:--limit) echo 'N' ;;
	sql:--tail) echo 'N' ;;
	sql:--instance|sql:-B) echo 'NAME' ;;
	sql:--cpu) echo 'CPULIST' ;;
	sql:--pid) echo 'PID' ;;
	sql:--comm) echo 'NAME' ;;
	sql:--since) echo 'TIME' ;;
	sql:--until) echo 'TIME' ;;
	sql:--around) echo 'MARK' ;;
	sql:--before) echo 'TIME' ;;
	sql:--after) echo 'TIME' ;;
	sql:--format) echo 'text|json|csv' ;;
	sql:--plugin-dir) echo 'DIR' ;;
	info:--input|info:-i) echo 'FILE' ;;
	info:--dump) echo 'FILE' ;;
	info:--setting) echo 'NAME' ;;
	info:--instance|info:-B) echo 'INSTANCE' ;;
	check:--input|check:-i) echo 'FILE' ;;
	pack:--output|pack:-o) echo 'FILE' ;;
	pack:--pages) echo 'FILE' ;;
	pack:--kallsyms) echo 'FILE' ;;
	pack:--events) echo 'DIR' ;;
	pack:--latency) echo 'FILE' ;;
	pack:--latency-sample) echo 'FILE' ;;
	pack:--btf) echo 'FILE' ;;
	pack:--maps) echo 'PID:FILE' ;;
	pack:--instance|pack:-B) echo 'INSTANCE' ;;
	pack:--compression) echo 'CODEC' ;;
	pack:--file-version) echo 'N' ;;
	pack:--mode) echo 'MODE' ;;
	convert:--input|convert:-i) echo 'FILE' ;;
	convert:--output|convert:-o) echo 'FILE' ;;
	convert:--file-version) echo '6|7' ;;
	convert:--compression) echo 'zstd|none' ;;
	convert:--mode) echo 'MODE' ;;
	split:--input|split:-i) echo 'FILE' ;;
	split:--every) echo 'TIME' ;;
	split:--size) echo 'SIZE' ;;
	split:--count) echo 'N' ;;
	split:--by) echo 'cpu|event' ;;
	split:--event|split:-e) echo 'EVENT' ;;
	split:--filter|split:-f) echo 'FILTER' ;;
	split:--longer) echo 'TIME' ;;
	split:--limit) echo 'N' ;;
	split:--tail) echo 'N' ;;
	split:--instance|split:-B) echo 'NAME' ;;
	split:--cpu) echo 'CPULIST' ;;
	split:--pid) echo 'PID' ;;
	split:--comm) echo 'NAME' ;;
	split:--since) echo 'TIME' ;;
	split:--until) echo 'TIME' ;;
	split:--around) echo 'MARK' ;;
	split:--before) echo 'TIME' ;;
	split:--after) echo 'TIME' ;;
	split:--output|split:-o) echo 'FILE' ;;
	split:--file-version) echo '6|7' ;;
	split:--compression) echo 'zstd|none' ;;
	split:--mode) echo 'MODE' ;;
	merge:--offset) echo 'FILE=NS' ;;
	merge:--match) echo 'EVENT' ;;
	merge:--output|merge:-o) echo 'FILE' ;;
	merge:--file-version) echo '6|7' ;;
	merge:--compression) echo 'zstd|none' ;;
	merge:--mode) echo 'MODE' ;;
	import:--input|import:-i) echo 'FILE' ;;
	import:--formats-from) echo 'FILE' ;;
	import:--output|import:-o) echo 'FILE' ;;
	import:--file-version) echo '6|7' ;;
	import:--compression) echo 'zstd|none' ;;
	import:--mode) echo 'MODE' ;;
	summary:--input|summary:-i) echo 'FILE' ;;
	summary:--instance|summary:-B) echo 'NAME' ;;
	summary:--cpu) echo 'CPULIST' ;;
	summary:--pid) echo 'PID' ;;
	summary:--comm) echo 'NAME' ;;
	summary:--since) echo 'TIME' ;;
	summary:--until) echo 'TIME' ;;
	summary:--around) echo 'MARK' ;;
	summary:--before) echo 'TIME' ;;
	summary:--after) echo 'TIME' ;;
	summary:--limit) echo 'N' ;;
	summary:--tail) echo 'N' ;;
	summary:--every) echo 'TIME' ;;
	summary:--format) echo 'text|json|csv' ;;
	summary:--sort) echo 'COLUMN' ;;
	summary:--top) echo 'N' ;;
	sched:--chain) echo 'TASK' ;;
	sched:--input|sched:-i) echo 'FILE' ;;
	sched:--instance|sched:-B) echo 'NAME' ;;
	sched:--cpu) echo 'CPULIST' ;;
	sched:--pid) echo 'PID' ;;
	sched:--comm) echo 'NAME' ;;
	sched:--since) echo 'TIME' ;;
	sched:--until) echo 'TIME' ;;
	sched:--around) echo 'MARK' ;;
	sched:--before) echo 'TIME' ;;
	sched:--after) echo 'TIME' ;;
	sched:--limit) echo 'N' ;;
	sched:--tail) echo 'N' ;;
	sched:--every) echo 'TIME' ;;
	sched:--format) echo 'text|json|csv' ;;
	sched:--sort) echo 'task|pid|run|wait|w/idle|sleep|d|unknown|vol|invol|wakeups|migr|p50|p99|max|delay_max_at' ;;
	sched:--top) echo 'N' ;;
	syscalls:--by) echo 'syscall|task|process|errno|cpu' ;;
	syscalls:--slowest) echo 'N' ;;
	syscalls:--longer) echo 'TIME' ;;
	syscalls:--input|syscalls:-i) echo 'FILE' ;;
	syscalls:--instance|syscalls:-B) echo 'NAME' ;;
	syscalls:--cpu) echo 'CPULIST' ;;
	syscalls:--pid) echo 'PID' ;;
	syscalls:--comm) echo 'NAME' ;;
	syscalls:--since) echo 'TIME' ;;
	syscalls:--until) echo 'TIME' ;;
	syscalls:--around) echo 'MARK' ;;
	syscalls:--before) echo 'TIME' ;;
	syscalls:--after) echo 'TIME' ;;
	syscalls:--limit) echo 'N' ;;
	syscalls:--tail) echo 'N' ;;
	syscalls:--every) echo 'TIME' ;;
	syscalls:--format) echo 'text|json|csv' ;;
	syscalls:--sort) echo 'syscall|calls|errors|total|%|p50|p90|p99|max|max_at|on_cpu_ns|blocked|wait' ;;
	syscalls:--top) echo 'N' ;;
	irq:--input|irq:-i) echo 'FILE' ;;
	irq:--instance|irq:-B) echo 'NAME' ;;
	irq:--cpu) echo 'CPULIST' ;;
	irq:--pid) echo 'PID' ;;
	irq:--comm) echo 'NAME' ;;
	irq:--since) echo 'TIME' ;;
	irq:--until) echo 'TIME' ;;
	irq:--around) echo 'MARK' ;;
	irq:--before) echo 'TIME' ;;
	irq:--after) echo 'TIME' ;;
	irq:--limit) echo 'N' ;;
	irq:--tail) echo 'N' ;;
	irq:--every) echo 'TIME' ;;
	irq:--format) echo 'text|json|csv' ;;
	irq:--sort) echo 'kind|source|count|total|self|%|p50|p99|max|max_at|peak|peak_at|d-p50|d-p99|d-max|delay_max_at' ;;
	irq:--top) echo 'N' ;;
	latency:--worst) echo 'N' ;;
	latency:--longer) echo 'TIME' ;;
	latency:--input|latency:-i) echo 'FILE' ;;
	latency:--instance|latency:-B) echo 'NAME' ;;
	latency:--cpu) echo 'CPULIST' ;;
	latency:--pid) echo 'PID' ;;
	latency:--comm) echo 'NAME' ;;
	latency:--since) echo 'TIME' ;;
	latency:--until) echo 'TIME' ;;
	latency:--around) echo 'MARK' ;;
	latency:--before) echo 'TIME' ;;
	latency:--after) echo 'TIME' ;;
	latency:--limit) echo 'N' ;;
	latency:--tail) echo 'N' ;;
	latency:--every) echo 'TIME' ;;
	latency:--format) echo 'text|json|csv' ;;
	latency:--sort) echo 'delay|task|pid|prio|cpu|from|queue|idle|irq|softirq|before|resched|others|unknown|waker|cause' ;;
	latency:--top) echo 'N' ;;
	graph:--by) echo 'function|errno' ;;
	graph:--tree) echo 'FUNC' ;;
	graph:--slowest) echo 'FUNC' ;;
	graph:--longer) echo 'TIME' ;;
	graph:--input|graph:-i) echo 'FILE' ;;
	graph:--instance|graph:-B) echo 'NAME' ;;
	graph:--cpu) echo 'CPULIST' ;;
	graph:--pid) echo 'PID' ;;
	graph:--comm) echo 'NAME' ;;
	graph:--since) echo 'TIME' ;;
	graph:--until) echo 'TIME' ;;
	graph:--around) echo 'MARK' ;;
	graph:--before) echo 'TIME' ;;
	graph:--after) echo 'TIME' ;;
	graph:--limit) echo 'N' ;;
	graph:--tail) echo 'N' ;;
	graph:--every) echo 'TIME' ;;
	graph:--format) echo 'text|json|csv' ;;
	graph:--sort) echo 'function|calls|total|self|irq|off-cpu|p50|p99|max|max_at' ;;
	graph:--top) echo 'N' ;;
	block:--by) echo 'device|operation|task' ;;
	block:--operation) echo 'LIST' ;;
	block:--input|block:-i) echo 'FILE' ;;
	block:--instance|block:-B) echo 'NAME' ;;
	block:--cpu) echo 'CPULIST' ;;
	block:--pid) echo 'PID' ;;
	block:--comm) echo 'NAME' ;;
	block:--since) echo 'TIME' ;;
	block:--until) echo 'TIME' ;;
	block:--around) echo 'MARK' ;;
	block:--before) echo 'TIME' ;;
	block:--after) echo 'TIME' ;;
	block:--limit) echo 'N' ;;
	block:--tail) echo 'N' ;;
	block:--every) echo 'TIME' ;;
	block:--format) echo 'text|json|csv' ;;
	block:--sort) echo 'device|op|requests|bytes|/s|bytes/s|size|q2c_p50_ns|q2c_p99_ns|q2c_max_ns|q2d_p50_ns|q2d_p99_ns|q2d_max_ns|d2c|d2c_p50_ns|d2c_p99_ns|d2c_max_ns|max_at' ;;
	block:--top) echo 'N' ;;
	locks:--by) echo 'lock|caller|task' ;;
	locks:--input|locks:-i) echo 'FILE' ;;
	locks:--instance|locks:-B) echo 'NAME' ;;
	locks:--cpu) echo 'CPULIST' ;;
	locks:--pid) echo 'PID' ;;
	locks:--comm) echo 'NAME' ;;
	locks:--since) echo 'TIME' ;;
	locks:--until) echo 'TIME' ;;
	locks:--around) echo 'MARK' ;;
	locks:--before) echo 'TIME' ;;
	locks:--after) echo 'TIME' ;;
	locks:--limit) echo 'N' ;;
	locks:--tail) echo 'N' ;;
	locks:--every) echo 'TIME' ;;
	locks:--format) echo 'text|json|csv' ;;
	locks:--sort) echo 'lock|type|waits|total|p50|p99|max|max_at|spin|sleep|given_up|woken_by' ;;
	locks:--top) echo 'N' ;;
	stacks:--by) echo 'stack|function|task' ;;
	stacks:--event|stacks:-e) echo 'EVENT' ;;
	stacks:--filter|stacks:-f) echo 'FILTER' ;;
	stacks:--input|stacks:-i) echo 'FILE' ;;
	stacks:--instance|stacks:-B) echo 'NAME' ;;
	stacks:--cpu) echo 'CPULIST' ;;
	stacks:--pid) echo 'PID' ;;
	stacks:--comm) echo 'NAME' ;;
	stacks:--since) echo 'TIME' ;;
	stacks:--until) echo 'TIME' ;;
	stacks:--around) echo 'MARK' ;;
	stacks:--before) echo 'TIME' ;;
	stacks:--after) echo 'TIME' ;;
	stacks:--limit) echo 'N' ;;
	stacks:--tail) echo 'N' ;;
	stacks:--every) echo 'TIME' ;;
	stacks:--format) echo 'text|json|csv' ;;
	stacks:--sort) echo 'function|event|count|stack' ;;
	stacks:--top) echo 'N' ;;
	memory:--input|memory:-i) echo 'FILE' ;;
	memory:--instance|memory:-B) echo 'NAME' ;;
	memory:--cpu) echo 'CPULIST' ;;
	memory:--pid) echo 'PID' ;;
	memory:--comm) echo 'NAME' ;;
	memory:--since) echo 'TIME' ;;
	memory:--until) echo 'TIME' ;;
	memory:--around) echo 'MARK' ;;
	memory:--before) echo 'TIME' ;;
	memory:--after) echo 'TIME' ;;
	memory:--limit) echo 'N' ;;
	memory:--tail) echo 'N' ;;
	memory:--every) echo 'TIME' ;;
	memory:--format) echo 'text|json|csv' ;;
	memory:--sort) echo 'caller|allocs|asked|given|freed|alive|alive_bytes|oldest|moved|failed' ;;
	memory:--top) echo 'N' ;;
	power:--input|power:-i) echo 'FILE' ;;
	power:--instance|power:-B) echo 'NAME' ;;
	power:--cpu) echo 'CPULIST' ;;
	power:--pid) echo 'PID' ;;
	power:--comm) echo 'NAME' ;;
	power:--since) echo 'TIME' ;;
	power:--until) echo 'TIME' ;;
	power:--around) echo 'MARK' ;;
	power:--before) echo 'TIME' ;;
	power:--after) echo 'TIME' ;;
	power:--limit) echo 'N' ;;
	power:--tail) echo 'N' ;;
	power:--every) echo 'TIME' ;;
	power:--format) echo 'text|json|csv' ;;
	power:--sort) echo 'cpu|idle|%|wakeups|/s|too_deep|too_shallow' ;;
	power:--top) echo 'N' ;;
	tasks:--by) echo 'task|program|parent' ;;
	tasks:--input|tasks:-i) echo 'FILE' ;;
	tasks:--instance|tasks:-B) echo 'NAME' ;;
	tasks:--cpu) echo 'CPULIST' ;;
	tasks:--pid) echo 'PID' ;;
	tasks:--comm) echo 'NAME' ;;
	tasks:--since) echo 'TIME' ;;
	tasks:--until) echo 'TIME' ;;
	tasks:--around) echo 'MARK' ;;
	tasks:--before) echo 'TIME' ;;
	tasks:--after) echo 'TIME' ;;
	tasks:--limit) echo 'N' ;;
	tasks:--tail) echo 'N' ;;
	tasks:--every) echo 'TIME' ;;
	tasks:--format) echo 'text|json|csv' ;;
	tasks:--sort) echo 'task|pid|parent|kind|life|run|exit|children|execs|began|ended|program' ;;
	tasks:--top) echo 'N' ;;
	diff:--of) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	diff:--by) echo 'syscall|task|process|errno|cpu|device|operation|lock|caller|stack|function|part|state' ;;
	diff:--old) echo 'FILE' ;;
	diff:--new) echo 'FILE' ;;
	diff:--figure) echo 'p50|p99|rate|total' ;;
	diff:--per) echo 'second|cpu-second|run|EVENT' ;;
	diff:--match) echo 'OLD=NEW' ;;
	diff:--row) echo 'NAME' ;;
	diff:--instance|diff:-B) echo 'NAME' ;;
	diff:--cpu) echo 'CPULIST' ;;
	diff:--pid) echo 'PID' ;;
	diff:--comm) echo 'NAME' ;;
	diff:--since) echo 'TIME' ;;
	diff:--until) echo 'TIME' ;;
	diff:--around) echo 'MARK' ;;
	diff:--before) echo 'TIME' ;;
	diff:--after) echo 'TIME' ;;
	diff:--least) echo 'PERCENT' ;;
	diff:--fail-if) echo 'CONDITION' ;;
	diff:--format) echo 'text|json|csv' ;;
	diff:--top) echo 'N' ;;
	start:--event|start:-e) echo 'EVENT' ;;
	start:--for) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	start:--filter|start:-f) echo 'FILTER' ;;
	start:--trigger|start:-R) echo 'TRIGGER' ;;
	start:--probe) echo 'DEFINITION' ;;
	start:--tracer|start:-p) echo 'TRACER' ;;
	start:--function|start:-l) echo 'FUNCTION' ;;
	start:--no-function|start:-n) echo 'FUNCTION' ;;
	start:--graph-function|start:-g) echo 'FUNCTION' ;;
	start:--no-graph-function) echo 'FUNCTION' ;;
	start:--max-graph-depth) echo 'N' ;;
	start:--option|start:-O) echo 'OPTION' ;;
	start:--thresh) echo 'TIME' ;;
	start:--hwlat) echo 'KEY=VALUE' ;;
	start:--osnoise) echo 'KEY=VALUE' ;;
	start:--pid|start:-P) echo 'PID' ;;
	start:--no-pid) echo 'PID' ;;
	start:--buffer-size|start:-b) echo 'SIZE' ;;
	start:--cpu-buffer-size) echo 'CPULIST=SIZE' ;;
	start:--subbuf-size) echo 'SIZE' ;;
	start:--buffer-percent) echo 'N' ;;
	start:--syscall-data) echo 'N' ;;
	start:--clock|start:-C) echo 'CLOCK' ;;
	start:--cpus|start:-M) echo 'CPULIST' ;;
	start:--instance|start:-B) echo 'INSTANCE' ;;
	start:--cmdlines-size) echo 'N' ;;
	start:--config) echo 'FILE' ;;
	start:--user) echo 'USER' ;;
	stop:--instance|stop:-B) echo 'INSTANCE' ;;
	restart:--instance|restart:-B) echo 'INSTANCE' ;;
	clear:--instance|clear:-B) echo 'INSTANCE' ;;
	set:--event|set:-e) echo 'EVENT' ;;
	set:--for) echo 'summary|sched|syscalls|irq|latency|graph|block|locks|stacks|memory|power|tasks' ;;
	set:--filter|set:-f) echo 'FILTER' ;;
	set:--trigger|set:-R) echo 'TRIGGER' ;;
	set:--probe) echo 'DEFINITION' ;;
	set:--tracer|set:-p) echo 'TRACER' ;;
	set:--function|set:-l) echo 'FUNCTION' ;;
	set:--no-function|set:-n) echo 'FUNCTION' ;;
	set:--graph-function|set:-g) echo 'FUNCTION' ;;
	set:--no-graph-function) echo 'FUNCTION' ;;
	set:--max-graph-depth) echo 'N' ;;
	set:--option|set:-O) echo 'OPTION' ;;
	set:--thresh) echo 'TIME' ;;
	set:--hwlat) echo 'KEY=VALUE' ;;
	set:--osnoise) echo 'KEY=VALUE' ;;
	set:--pid|set:-P) echo 'PID' ;;
	set:--no-pid) echo 'PID' ;;
	set:--buffer-size|set:-b) echo 'SIZE' ;;
	set:--cpu-buffer-size) echo 'CPULIST=SIZE' ;;
	set:--subbuf-size) echo 'SIZE' ;;
	set:--buffer-percent) echo 'N' ;;
	set:--syscall-data) echo 'N' ;;
	set:--clock|set:-C) echo 'CLOCK' ;;
	set:--cpus|set:-M) echo 'CPULIST' ;;
	set:--instance|set:-B) echo 'INSTANCE' ;;
	set:--cmdlines-size) echo 'N' ;;
	set:--config) echo 'FILE' ;;
	set:--ftrace-enabled) echo 'on|off' ;;
	set:--stack-tracer) echo 'on|off' ;;
	set:--tracepoint-printk) echo 'on|off' ;;
	set:--traceoff-on-warning) echo 'on|off' ;;
	set:--dump-on-oops) echo 'off|on|orig_cpu' ;;
	reset:--instance|reset:-B) echo 'INSTANCE' ;;
	show:--instance|show:-B) echo 'INSTANCE' ;;
	show:--cpu|show:-c) echo 'N' ;;
	show:--hist) echo 'EVENT' ;;
	show:--trigger) echo 'EVENT' ;;
	mark:--inject) echo 'EVENT' ;;
	mark:--raw) echo 'N' ;;
	mark:--instance|mark:-B) echo 'INSTANCE' ;;
	profile-functions:--function|profile-functions:-l) echo 'FUNCTION' ;;
	profile-functions:--no-function|profile-functions:-n) echo 'FUNCTION' ;;
	profile-functions:--option|profile-functions:-O) echo 'OPTION' ;;
	profile-functions:--duration) echo 'TIME' ;;
	profile-functions:--user) echo 'USER' ;;
	profile-functions:--sort) echo 'time|hits|average|name' ;;
	profile-functions:--limit) echo 'N' ;;
	stack:--function|stack:-l) echo 'FUNCTION' ;;
	list:--input|list:-i) echo 'FILE' ;;
	list:--instance|list:-B) echo 'INSTANCE' ;;
	probe:--instance|probe:-B) echo 'INSTANCE' ;;
	hist:--keys) echo 'KEY' ;;
	hist:--values) echo 'FIELD' ;;
	hist:--sort) echo 'KEY' ;;
	hist:--filter|hist:-f) echo 'FILTER' ;;
	hist:--size) echo 'N' ;;
	hist:--latency) echo 'EVENT..EVENT' ;;
	hist:--key) echo 'FIELD' ;;
	hist:--sql) echo 'QUERY' ;;
	hist:--name) echo 'NAME' ;;
	hist:--instance|hist:-B) echo 'INSTANCE' ;;
	hist:--duration) echo 'TIME' ;;
	hist:--interval) echo 'TIME' ;;
	hist:--input|hist:-i) echo 'FILE' ;;
	hist:--plugin-dir) echo 'DIR' ;;
	hist:--since) echo 'TIME' ;;
	hist:--until) echo 'TIME' ;;
	hist:--around) echo 'MARK' ;;
	hist:--before) echo 'TIME' ;;
	hist:--after) echo 'TIME' ;;
	hist:--format) echo 'table|json|kernel' ;;
	stat:--instance|stat:-B) echo 'INSTANCE' ;;
	esac
	[[ ${3:-} ]] || return 0
	case $1:$2 in
	record:--wait) echo 'TIME' ;;
	stream:--wait) echo 'TIME' ;;
	top:--wait) echo 'TIME' ;;
	report:--traceevent-plugins) echo 'DIR' ;;
	start:--wait) echo 'TIME' ;;
	start:--stack-tracer) echo 'FUNCTION,...' ;;
	esac
}

_weft_tracefs()
{
	local dir
	for dir in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[[ -r $dir/$1 ]] && { printf '%s' "$dir/$1"; return; }
	done
	return 1
}

# Prints those lines of standard input that begin with $1, as the shell has to read them: an event, an instance or a file
# may have any name, and no name is a command. compgen -W would carry out what is in $() of its words.
_weft_matching()
{
	local word quoted
	while IFS= read -r word; do
		[[ $word ]] || continue
		printf -v quoted %q "$word"
		[[ $word == "$1"* || $quoted == "$1"* ]] && printf '%s\n' "$quoted"
	done
}

# Prints each word of standard input on a line of its own.
_weft_lines()
{
	tr -s ' \t' '\n'
}

# What an argument of type $1 may be, given its beginning $2.
_weft_values()
{
	local file
	case $1 in
	FILE) compgen -f -- "$2" ;;
	DIR) compgen -d -- "$2" ;;
	COMMAND) compgen -c -- "$2" ;;
	HELP) _weft_lines <<< "$_weft_commands" | _weft_matching "$2" ;;
	USER) compgen -u -- "$2" ;;
	PID) printf '%s\n' /proc/[0-9]* | sed 's|.*/||' | _weft_matching "$2" ;;
	EVENT) file=$(_weft_tracefs available_events) || return 0
		awk -F: 'BEGIN { print "all" } !seen[$1]++ { print $1 } { print }' "$file" | _weft_matching "$2" ;;
	TRACER) file=$(_weft_tracefs available_tracers) && _weft_lines < "$file" | _weft_matching "$2" ;;
	CLOCK) file=$(_weft_tracefs trace_clock) && tr -d '[]' < "$file" | _weft_lines | _weft_matching "$2" ;;
	OPTION) file=$(_weft_tracefs trace_options) && sed 's/^no//; p; s/^/no/' "$file" | _weft_matching "$2" ;;
	FUNCTION) [[ $2 ]] && file=$(_weft_tracefs available_filter_functions) &&
		start=$2 awk 'index($1, ENVIRON["start"]) == 1 { print $1 }' "$file" 2> /dev/null | _weft_matching "$2" ;;
	INSTANCE) file=$(_weft_tracefs instances) && (shopt -s nullglob && cd -- "$file" && printf '%s\n' *) 2> /dev/null | _weft_matching "$2" ;;
	CPULIST) _weft_matching "$2" < /sys/devices/system/cpu/online ;;
	FORMAT) _weft_lines <<< "$_weft_formats" | _weft_matching "$2" ;;
	*'|'*) tr '|' '\n' <<< "$1" | _weft_matching "$2" ;;
	esac
}

# Offers the values of type $1 that begin with $2. readline itself quotes names of files.
_weft_offer()
{
	mapfile -t COMPREPLY < <(_weft_values "$1" "$2")
	case $1 in FILE | DIR) compopt -o filenames 2> /dev/null ;; esac
}

_weft()
{
	local line=${COMP_LINE:0:COMP_POINT} cur='' command='' metavar='' end='' word
	local -a words
	read -ra words <<< "$line"
	[[ $line == *[[:space:]] ]] || { cur=${words[-1]}; unset 'words[-1]'; }
	COMPREPLY=()

	# The command, whether an option before the cursor waits for its argument, and whether the options have ended.
	for word in "${words[@]:1}"; do
		if [[ -n $metavar ]]; then
			metavar=''
		elif [[ -z $command ]]; then
			command=$word
		elif [[ -n $end ]]; then
			:
		elif [[ $word == -- ]] || [[ $word != -* && $(_weft_argument "$command") == COMMAND ]]; then
			end=$word
		elif [[ $word == -* ]]; then
			metavar=$(_weft_metavar "$command" "$word")
		fi
	done

	if [[ -n $metavar ]]; then
		_weft_offer "$metavar" "$cur"
	elif [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(_weft_lines <<< "$_weft_commands --help --version" | _weft_matching "$cur")
	elif [[ -n $end ]]; then
		if [[ $end == -- && ${words[-1]} == -- ]]; then
			_weft_offer "$(_weft_behind "$command")" "$cur"
		else
			_weft_offer FILE "$cur"
		fi
	elif [[ $cur == --*=* ]]; then
		metavar=$(_weft_metavar "$command" "${cur%%=*}" optional)
		_weft_offer "$metavar" "${cur#*=}"
		[[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/"${cur%%=*}="}")
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(_weft_lines <<< "$(_weft_options "$command") --help --usage --version" | _weft_matching "$cur")
	else
		_weft_offer "$(_weft_argument "$command")" "$cur"
	fi

	# readline replaces only what follows the last colon.
	word=${cur#--*=}
	if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
		COMPREPLY=("${COMPREPLY[@]#"${word%:*}":}")
	fi
}

complete -o bashdefault -o default -F _weft weft

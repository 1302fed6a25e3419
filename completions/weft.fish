# fish completion of weft                                          SPDX-License-Identifier: GPL-2.0-only

function __weft_tracefs
    for dir in /sys/kernel/tracing /sys/kernel/debug/tracing
        if test -r $dir/$argv[1]
            echo $dir/$argv[1]
            return
        end
    end
    return 1
end

# The command of the line, when it is the one asked for; with "none": there is no command yet.
function __weft_using
    set -l words (commandline -opc)
    if test (count $words) -lt 2
        test $argv[1] = none
    else
        test $argv[1] = $words[2]
    end
end

# What an argument of this type may be.
function __weft_values
    set -l file
    switch $argv[1]
        case PID
            __fish_complete_pids
        case USER
            __fish_complete_users
        case COMMAND
            __fish_complete_command
        case EVENT
            set file (__weft_tracefs available_events); and awk -F: '!seen[$1]++ { print $1 } { print } END { print "all" }' $file
        case TRACER
            set file (__weft_tracefs available_tracers); and tr ' ' '\n' <$file
        case CLOCK
            set file (__weft_tracefs trace_clock); and tr -d '[]' <$file | tr ' ' '\n'
        case OPTION
            set file (__weft_tracefs trace_options); and sed 's/^no//; p; s/^/no/' $file
        case FUNCTION
            set file (__weft_tracefs available_filter_functions)
            and awk -v start=(commandline -ct) 'index($1, start) == 1 { print $1 }' $file 2>/dev/null
        case INSTANCE
            set file (__weft_tracefs instances); and ls $file 2>/dev/null
        case CPULIST
            cat /sys/devices/system/cpu/online
        case '*|*'
            string split '|' -- $argv[1]
    end
end

complete -c weft -f
complete -c weft -n '__weft_using none' -l help -d 'list the commands'
complete -c weft -n '__weft_using none' -l version -d 'print the version'
# Made by completions/generate from the option tables: do not edit.
complete -c weft -n '__weft_using none' -a record -d 'record what the kernel does while a command runs'
complete -c weft -n '__weft_using record' -s e -l event -x -a '(__weft_values "EVENT")' -d 'Trace EVENT: system:event, a system, a bare event name, globs in either part, or all'
complete -c weft -n '__weft_using record' -s f -l filter -x -a '(__weft_values "FILTER")' -d 'Only those of the -e before it that the kernel'\''s FILTER lets pass'
complete -c weft -n '__weft_using record' -s R -l trigger -x -a '(__weft_values "TRIGGER")' -d 'Set TRIGGER on the events of the -e before it'
complete -c weft -n '__weft_using record' -l probe -x -a '(__weft_values "DEFINITION")' -d 'Make a probe, as weft-probe(1) has it, and trace it; it goes when this ends. -f and -R may follow'
complete -c weft -n '__weft_using record' -s v -l disable -d 'From here on -e takes events out of those chosen before'
complete -c weft -n '__weft_using record' -s i -l ignore-missing -d 'Only warn about events that this kernel does not have'
complete -c weft -n '__weft_using record' -s T -l stacktrace -d 'Store the kernel stack with each event'
complete -c weft -n '__weft_using record' -s p -l tracer -x -a '(__weft_values "TRACER")' -d 'Use TRACER, such as function or function_graph'
complete -c weft -n '__weft_using record' -s l -l function -x -a '(__weft_values "FUNCTION")' -d 'Trace only FUNCTION, which may be a glob'
complete -c weft -n '__weft_using record' -s n -l no-function -x -a '(__weft_values "FUNCTION")' -d 'Do not trace FUNCTION'
complete -c weft -n '__weft_using record' -s g -l graph-function -x -a '(__weft_values "FUNCTION")' -d 'function_graph: only FUNCTION and what it calls'
complete -c weft -n '__weft_using record' -l max-graph-depth -x -a '(__weft_values "N")' -d 'function_graph: at most N calls deep'
complete -c weft -n '__weft_using record' -s O -l option -x -a '(__weft_values "OPTION")' -d 'Set the trace option OPTION, or clear it as noOPTION'
complete -c weft -n '__weft_using record' -l func-stack -d 'Store the kernel stack with each function; only with -l'
complete -c weft -n '__weft_using record' -s P -l pid -x -a '(__weft_values "PID")' -d 'Trace only these tasks'
complete -c weft -n '__weft_using record' -s c -l follow-children -d 'With -F or -P: their children, too'
complete -c weft -n '__weft_using record' -s b -l buffer-size -x -a '(__weft_values "SIZE")' -d 'Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB'
complete -c weft -n '__weft_using record' -s C -l clock -x -a '(__weft_values "CLOCK")' -d 'Stamp events with CLOCK'
complete -c weft -n '__weft_using record' -s M -l cpus -x -a '(__weft_values "CPULIST")' -d 'Trace only these CPUs: a list such as 0-3,7, or a hex mask'
complete -c weft -n '__weft_using record' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'What follows is for INSTANCE: an existing one is used and left as it was, otherwise it is made (and removed again)'
complete -c weft -n '__weft_using record' -l cmdlines-size -x -a '(__weft_values "N")' -d 'Let the kernel remember the names of N tasks (0: as it is; recordings: 32768)'
complete -c weft -n '__weft_using record' -s F -l only-command -d 'Trace only what COMMAND does'
complete -c weft -n '__weft_using record' -l user -x -a '(__weft_values "USER")' -d 'Run COMMAND as USER'
complete -c weft -n '__weft_using record' -s o -l output -r -F -d 'Write FILE (default trace.dat); - is standard output'
complete -c weft -n '__weft_using record' -l compression -x -a '(__weft_values "zstd|none")' -d 'How to pack the file (default zstd:1)'
complete -c weft -n '__weft_using record' -l file-version -x -a '(__weft_values "6|7")' -d 'Write version 7 (default), or 6, which is not compressed'
complete -c weft -n '__weft_using record' -l temp-dir -x -a '(__fish_complete_directories)' -d 'Keep the data in DIR until the file is finished (default: beside the output)'
complete -c weft -n '__weft_using record' -l save -x -a '(__weft_values "hist|stack|stat")' -d 'Save what the kernel counted as well: every histogram, the deepest stack, or trace_stat; repeatable'
complete -c weft -n '__weft_using record' -s q -l quiet -d 'Print no summary'
complete -c weft -n '__weft_using record' -s a -l all-formats -d 'Save the formats of all events, not only of those recorded'
complete -c weft -n '__weft_using record' -l no-filter -d 'Record weft'\''s own threads, too'
complete -c weft -n '__weft_using record' -s m -l max-size -x -a '(__weft_values "SIZE")' -d 'Keep at most SIZE of each CPU'\''s recorded data: the oldest is dropped, and counted'
complete -c weft -n '__weft_using record' -l duration -x -a '(__weft_values "TIME")' -d 'Stop after TIME: 500ms, 10s, 2m; a bare number counts seconds'
complete -c weft -n '__weft_using record' -l fail-on-lost -d 'Exit with status 123 when events were lost'
complete -c weft -n '__weft_using none' -a stream -d 'print what the kernel does while it does it'
complete -c weft -n '__weft_using stream' -s e -l event -x -a '(__weft_values "EVENT")' -d 'Trace EVENT: system:event, a system, a bare event name, globs in either part, or all'
complete -c weft -n '__weft_using stream' -s f -l filter -x -a '(__weft_values "FILTER")' -d 'Only those of the -e before it that the kernel'\''s FILTER lets pass'
complete -c weft -n '__weft_using stream' -s R -l trigger -x -a '(__weft_values "TRIGGER")' -d 'Set TRIGGER on the events of the -e before it'
complete -c weft -n '__weft_using stream' -l probe -x -a '(__weft_values "DEFINITION")' -d 'Make a probe, as weft-probe(1) has it, and trace it; it goes when this ends. -f and -R may follow'
complete -c weft -n '__weft_using stream' -s v -l disable -d 'From here on -e takes events out of those chosen before'
complete -c weft -n '__weft_using stream' -s i -l ignore-missing -d 'Only warn about events that this kernel does not have'
complete -c weft -n '__weft_using stream' -s T -l stacktrace -d 'Store the kernel stack with each event'
complete -c weft -n '__weft_using stream' -s p -l tracer -x -a '(__weft_values "TRACER")' -d 'Use TRACER, such as function or function_graph'
complete -c weft -n '__weft_using stream' -s l -l function -x -a '(__weft_values "FUNCTION")' -d 'Trace only FUNCTION, which may be a glob'
complete -c weft -n '__weft_using stream' -s n -l no-function -x -a '(__weft_values "FUNCTION")' -d 'Do not trace FUNCTION'
complete -c weft -n '__weft_using stream' -s g -l graph-function -x -a '(__weft_values "FUNCTION")' -d 'function_graph: only FUNCTION and what it calls'
complete -c weft -n '__weft_using stream' -l max-graph-depth -x -a '(__weft_values "N")' -d 'function_graph: at most N calls deep'
complete -c weft -n '__weft_using stream' -s O -l option -x -a '(__weft_values "OPTION")' -d 'Set the trace option OPTION, or clear it as noOPTION'
complete -c weft -n '__weft_using stream' -l func-stack -d 'Store the kernel stack with each function; only with -l'
complete -c weft -n '__weft_using stream' -s P -l pid -x -a '(__weft_values "PID")' -d 'Trace only these tasks'
complete -c weft -n '__weft_using stream' -s c -l follow-children -d 'With -F or -P: their children, too'
complete -c weft -n '__weft_using stream' -s b -l buffer-size -x -a '(__weft_values "SIZE")' -d 'Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB'
complete -c weft -n '__weft_using stream' -s C -l clock -x -a '(__weft_values "CLOCK")' -d 'Stamp events with CLOCK'
complete -c weft -n '__weft_using stream' -s M -l cpus -x -a '(__weft_values "CPULIST")' -d 'Trace only these CPUs: a list such as 0-3,7, or a hex mask'
complete -c weft -n '__weft_using stream' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'What follows is for INSTANCE: an existing one is used and left as it was, otherwise it is made (and removed again)'
complete -c weft -n '__weft_using stream' -l cmdlines-size -x -a '(__weft_values "N")' -d 'Let the kernel remember the names of N tasks (0: as it is; recordings: 32768)'
complete -c weft -n '__weft_using stream' -s F -l only-command -d 'Trace only what COMMAND does'
complete -c weft -n '__weft_using stream' -l user -x -a '(__weft_values "USER")' -d 'Run COMMAND as USER'
complete -c weft -n '__weft_using stream' -l format -x -a 'ftrace trace_pipe' -d 'Print as FORMAT (default: ftrace, the kernel'\''s own text)'
complete -c weft -n '__weft_using stream' -s t -l nanoseconds -d 'Print time stamps with nine digits'
complete -c weft -n '__weft_using stream' -l raw -d 'Print each field as field=value instead of the event'\''s text'
complete -c weft -n '__weft_using stream' -l decode -d 'Add behind an event what a plugin knows of it'
complete -c weft -n '__weft_using stream' -l plugin-dir -x -a '(__fish_complete_directories)' -d 'Take the plugins of --decode from DIR'
complete -c weft -n '__weft_using stream' -l latency -x -a '(__weft_values "TIME")' -d 'Print an event at most TIME after it happened (default 100ms)'
complete -c weft -n '__weft_using stream' -l limit -x -a '(__weft_values "N")' -d 'End after N events'
complete -c weft -n '__weft_using stream' -l duration -x -a '(__weft_values "TIME")' -d 'End after TIME: 500ms, 10s, 2m; a bare number counts seconds'
complete -c weft -n '__weft_using stream' -l no-filter -d 'Trace weft itself, too'
complete -c weft -n '__weft_using stream' -l fail-on-lost -d 'Exit with status 123 when events were lost'
complete -c weft -n '__weft_using stream' -s q -l quiet -d 'Print no summary'
complete -c weft -n '__weft_using none' -a recover -d 'finish the file of a recording that was killed'
complete -c weft -n '__weft_using recover' -s o -l output -r -F -d 'Write FILE (default: the one that was to be recorded, unless it exists)'
complete -c weft -n '__weft_using none' -a extract -d 'make a file of what the kernel'\''s buffers hold'
complete -c weft -n '__weft_using extract' -s o -l output -r -F -d 'Write FILE (default trace.dat); - is standard output'
complete -c weft -n '__weft_using extract' -l compression -x -a '(__weft_values "zstd|none")' -d 'How to pack the file (default zstd:1)'
complete -c weft -n '__weft_using extract' -l file-version -x -a '(__weft_values "6|7")' -d 'Write version 7 (default), or 6, which is not compressed'
complete -c weft -n '__weft_using extract' -l temp-dir -x -a '(__fish_complete_directories)' -d 'Keep the data in DIR until the file is finished (default: beside the output)'
complete -c weft -n '__weft_using extract' -l save -x -a '(__weft_values "hist|stack|stat")' -d 'Save what the kernel counted as well: every histogram, the deepest stack, or trace_stat; repeatable'
complete -c weft -n '__weft_using extract' -s q -l quiet -d 'Print no summary'
complete -c weft -n '__weft_using extract' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Extract the buffer of INSTANCE, '\'''\'' being the top one; repeatable'
complete -c weft -n '__weft_using extract' -s s -l snapshot -d 'Extract the snapshot instead of the buffer'
complete -c weft -n '__weft_using none' -a report -d 'print a recorded trace as the kernel would'
complete -c weft -n '__weft_using report' -s i -l input -r -F -d 'Read FILE; '\''-'\'' is standard input (default: trace.dat)'
complete -c weft -n '__weft_using report' -s B -l instance -x -a '(__weft_values "NAME")' -d 'Print only the buffer of this instance; '\'''\'' is the top one'
complete -c weft -n '__weft_using report' -s e -l event -x -a '(__weft_values "EVENT")' -d 'Print only EVENT: system:event, system or event, with globs; repeatable'
complete -c weft -n '__weft_using report' -l cpu -x -a '(__weft_values "CPULIST")' -d 'Print only events of these CPUs, such as 0-3,7'
complete -c weft -n '__weft_using report' -l pid -x -a '(__weft_values "PID")' -d 'Print only events of these tasks; a list with commas, repeatable'
complete -c weft -n '__weft_using report' -l comm -x -a '(__weft_values "NAME")' -d 'Print only events of tasks of this name, a glob; repeatable'
complete -c weft -n '__weft_using report' -l since -x -a '(__weft_values "TIME")' -d 'Begin at TIME, in seconds as the trace prints them'
complete -c weft -n '__weft_using report' -l until -x -a '(__weft_values "TIME")' -d 'End at TIME, that one included'
complete -c weft -n '__weft_using report' -s n -l limit -x -a '(__weft_values "N")' -d 'End after N events'
complete -c weft -n '__weft_using report' -l tail -x -a '(__weft_values "N")' -d 'Print only the last N events'
complete -c weft -n '__weft_using report' -l format -x -a 'ftrace trace_pipe' -d 'Print as FORMAT (default: ftrace, the kernel'\''s own text)'
complete -c weft -n '__weft_using report' -s t -l nanoseconds -d 'Print time stamps with nine digits'
complete -c weft -n '__weft_using report' -s R -l raw -d 'Print each field as field=value instead of the event'\''s text'
complete -c weft -n '__weft_using report' -s O -l option -x -a '(__weft_values "OPTION")' -d 'Print as with this trace option, or without it: noOPTION; repeatable'
complete -c weft -n '__weft_using report' -l decode -d 'Add behind an event what a plugin knows of it: names of system calls and errors'
complete -c weft -n '__weft_using report' -l plugin-dir -x -a '(__fish_complete_directories)' -d 'Take the plugins of --decode from DIR'
complete -c weft -n '__weft_using report' -l stored -x -a '(__weft_values "NAME")' -d 'Print a text that the recording keeps instead: hist, stack, stat or a file'\''s name'
complete -c weft -n '__weft_using report' -l threads -x -a '(__weft_values "N")' -d 'Use N threads (default: one for each CPU of this machine, at most 8)'
complete -c weft -n '__weft_using none' -a info -d 'tell what is in a recording'
complete -c weft -n '__weft_using info' -s i -l input -r -F -d 'Look into FILE (default: trace.dat); - is standard input'
complete -c weft -n '__weft_using info' -l no-events -d 'Do not read the events: no counts, no times'
complete -c weft -n '__weft_using info' -l settings -d 'List the tracefs settings kept in the file instead'
complete -c weft -n '__weft_using info' -l setting -x -a '(__weft_values "NAME")' -d 'Print the one called NAME as it was, and nothing else'
complete -c weft -n '__weft_using info' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'With --settings and --setting: those of this instance'
complete -c weft -n '__weft_using none' -a check -d 'verify a recording'
complete -c weft -n '__weft_using check' -s i -l input -r -F -d 'Check FILE (default: trace.dat); - is standard input'
complete -c weft -n '__weft_using check' -s q -l quiet -d 'Say nothing of a file that is whole'
complete -c weft -n '__weft_using none' -a pack -d 'build a trace.dat from plain copies of tracefs files'
complete -c weft -n '__weft_using pack' -s o -l output -r -F -d 'Write to FILE (default: trace.dat); - is standard output'
complete -c weft -n '__weft_using pack' -l pages -r -F -d 'Take pages, and whatever DIR lacks, from the trace.dat FILE (default: DIR/trace.dat if there is one)'
complete -c weft -n '__weft_using pack' -l kallsyms -r -F -d 'Take the symbols from FILE, a copy of /proc/kallsyms'
complete -c weft -n '__weft_using pack' -l events -x -a '(__fish_complete_directories)' -d 'Take formats of events that are missing from DIR/SYSTEM/EVENT/format; repeatable'
complete -c weft -n '__weft_using pack' -l latency -r -F -d 'Keep FILE, the text of a latency tracer'\''s trace file, word for word'
complete -c weft -n '__weft_using pack' -l latency-sample -r -F -d 'FILE is what trace printed with the option latency-format: learn from it what no other file tells'
complete -c weft -n '__weft_using pack' -l maps -x -a '(__weft_values "PID:FILE")' -d 'FILE is a copy of /proc/PID/maps, for the option sym-userobj; repeatable'
complete -c weft -n '__weft_using pack' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'DIR describes this instance instead of the top buffer'
complete -c weft -n '__weft_using pack' -l compression -x -a '(__weft_values "CODEC")' -d 'zstd[:LEVEL] (the default) or none'
complete -c weft -n '__weft_using pack' -l file-version -x -a '(__weft_values "N")' -d 'Version 7 of trace.dat (the default), or 6, which is never compressed'
complete -c weft -n '__weft_using pack' -s q -l quiet -d 'No summary'
complete -c weft -n '__weft_using none' -a start -d 'trace into the kernel'\''s buffers, without a file'
complete -c weft -n '__weft_using start' -s e -l event -x -a '(__weft_values "EVENT")' -d 'Trace EVENT: system:event, a system, a bare event name, globs in either part, or all'
complete -c weft -n '__weft_using start' -s f -l filter -x -a '(__weft_values "FILTER")' -d 'Only those of the -e before it that the kernel'\''s FILTER lets pass'
complete -c weft -n '__weft_using start' -s R -l trigger -x -a '(__weft_values "TRIGGER")' -d 'Set TRIGGER on the events of the -e before it'
complete -c weft -n '__weft_using start' -l probe -x -a '(__weft_values "DEFINITION")' -d 'Make a probe, as weft-probe(1) has it, and trace it; it goes when this ends. -f and -R may follow'
complete -c weft -n '__weft_using start' -s v -l disable -d 'From here on -e takes events out of those chosen before'
complete -c weft -n '__weft_using start' -s i -l ignore-missing -d 'Only warn about events that this kernel does not have'
complete -c weft -n '__weft_using start' -s T -l stacktrace -d 'Store the kernel stack with each event'
complete -c weft -n '__weft_using start' -s p -l tracer -x -a '(__weft_values "TRACER")' -d 'Use TRACER, such as function or function_graph'
complete -c weft -n '__weft_using start' -s l -l function -x -a '(__weft_values "FUNCTION")' -d 'Trace only FUNCTION, which may be a glob'
complete -c weft -n '__weft_using start' -s n -l no-function -x -a '(__weft_values "FUNCTION")' -d 'Do not trace FUNCTION'
complete -c weft -n '__weft_using start' -s g -l graph-function -x -a '(__weft_values "FUNCTION")' -d 'function_graph: only FUNCTION and what it calls'
complete -c weft -n '__weft_using start' -l max-graph-depth -x -a '(__weft_values "N")' -d 'function_graph: at most N calls deep'
complete -c weft -n '__weft_using start' -s O -l option -x -a '(__weft_values "OPTION")' -d 'Set the trace option OPTION, or clear it as noOPTION'
complete -c weft -n '__weft_using start' -l func-stack -d 'Store the kernel stack with each function; only with -l'
complete -c weft -n '__weft_using start' -s P -l pid -x -a '(__weft_values "PID")' -d 'Trace only these tasks'
complete -c weft -n '__weft_using start' -s c -l follow-children -d 'With -F or -P: their children, too'
complete -c weft -n '__weft_using start' -s b -l buffer-size -x -a '(__weft_values "SIZE")' -d 'Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB'
complete -c weft -n '__weft_using start' -s C -l clock -x -a '(__weft_values "CLOCK")' -d 'Stamp events with CLOCK'
complete -c weft -n '__weft_using start' -s M -l cpus -x -a '(__weft_values "CPULIST")' -d 'Trace only these CPUs: a list such as 0-3,7, or a hex mask'
complete -c weft -n '__weft_using start' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'What follows is for INSTANCE: an existing one is used and left as it was, otherwise it is made (and removed again)'
complete -c weft -n '__weft_using start' -l cmdlines-size -x -a '(__weft_values "N")' -d 'Let the kernel remember the names of N tasks (0: as it is; recordings: 32768)'
complete -c weft -n '__weft_using start' -s F -l only-command -d 'Trace only what COMMAND does'
complete -c weft -n '__weft_using start' -l user -x -a '(__weft_values "USER")' -d 'Run COMMAND as USER'
complete -c weft -n '__weft_using none' -a stop -d 'stop tracing; the buffers keep what they hold'
complete -c weft -n '__weft_using stop' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Of INSTANCE instead of the top one; repeatable'
complete -c weft -n '__weft_using stop' -s a -l all -d 'Of all instances, but not of the top one'
complete -c weft -n '__weft_using stop' -s t -l top -d 'Of the top one, too'
complete -c weft -n '__weft_using none' -a restart -d 'go on tracing after stop'
complete -c weft -n '__weft_using restart' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Of INSTANCE instead of the top one; repeatable'
complete -c weft -n '__weft_using restart' -s a -l all -d 'Of all instances, but not of the top one'
complete -c weft -n '__weft_using restart' -s t -l top -d 'Of the top one, too'
complete -c weft -n '__weft_using none' -a clear -d 'empty the buffers'
complete -c weft -n '__weft_using clear' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Of INSTANCE instead of the top one; repeatable'
complete -c weft -n '__weft_using clear' -s a -l all -d 'Of all instances, but not of the top one'
complete -c weft -n '__weft_using clear' -s t -l top -d 'Of the top one, too'
complete -c weft -n '__weft_using none' -a set -d 'change how the kernel traces right now'
complete -c weft -n '__weft_using set' -s e -l event -x -a '(__weft_values "EVENT")' -d 'Trace EVENT: system:event, a system, a bare event name, globs in either part, or all'
complete -c weft -n '__weft_using set' -s f -l filter -x -a '(__weft_values "FILTER")' -d 'Only those of the -e before it that the kernel'\''s FILTER lets pass'
complete -c weft -n '__weft_using set' -s R -l trigger -x -a '(__weft_values "TRIGGER")' -d 'Set TRIGGER on the events of the -e before it'
complete -c weft -n '__weft_using set' -l probe -x -a '(__weft_values "DEFINITION")' -d 'Make a probe, as weft-probe(1) has it, and trace it; it goes when this ends. -f and -R may follow'
complete -c weft -n '__weft_using set' -s v -l disable -d 'From here on -e takes events out of those chosen before'
complete -c weft -n '__weft_using set' -s i -l ignore-missing -d 'Only warn about events that this kernel does not have'
complete -c weft -n '__weft_using set' -s T -l stacktrace -d 'Store the kernel stack with each event'
complete -c weft -n '__weft_using set' -s p -l tracer -x -a '(__weft_values "TRACER")' -d 'Use TRACER, such as function or function_graph'
complete -c weft -n '__weft_using set' -s l -l function -x -a '(__weft_values "FUNCTION")' -d 'Trace only FUNCTION, which may be a glob'
complete -c weft -n '__weft_using set' -s n -l no-function -x -a '(__weft_values "FUNCTION")' -d 'Do not trace FUNCTION'
complete -c weft -n '__weft_using set' -s g -l graph-function -x -a '(__weft_values "FUNCTION")' -d 'function_graph: only FUNCTION and what it calls'
complete -c weft -n '__weft_using set' -l max-graph-depth -x -a '(__weft_values "N")' -d 'function_graph: at most N calls deep'
complete -c weft -n '__weft_using set' -s O -l option -x -a '(__weft_values "OPTION")' -d 'Set the trace option OPTION, or clear it as noOPTION'
complete -c weft -n '__weft_using set' -l func-stack -d 'Store the kernel stack with each function; only with -l'
complete -c weft -n '__weft_using set' -s P -l pid -x -a '(__weft_values "PID")' -d 'Trace only these tasks'
complete -c weft -n '__weft_using set' -s c -l follow-children -d 'With -F or -P: their children, too'
complete -c weft -n '__weft_using set' -s b -l buffer-size -x -a '(__weft_values "SIZE")' -d 'Memory of the ring buffer of each CPU: 512K, 10M; a bare number counts KB'
complete -c weft -n '__weft_using set' -s C -l clock -x -a '(__weft_values "CLOCK")' -d 'Stamp events with CLOCK'
complete -c weft -n '__weft_using set' -s M -l cpus -x -a '(__weft_values "CPULIST")' -d 'Trace only these CPUs: a list such as 0-3,7, or a hex mask'
complete -c weft -n '__weft_using set' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'What follows is for INSTANCE: an existing one is used and left as it was, otherwise it is made (and removed again)'
complete -c weft -n '__weft_using set' -l cmdlines-size -x -a '(__weft_values "N")' -d 'Let the kernel remember the names of N tasks (0: as it is; recordings: 32768)'
complete -c weft -n '__weft_using none' -a reset -d 'put back what weft has changed, or all of tracefs'
complete -c weft -n '__weft_using reset' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Put back only what weft did in INSTANCE; repeatable'
complete -c weft -n '__weft_using reset' -s a -l all -d 'Put all of tracefs to what it was at boot, whoever has changed it; first lists what that destroys'
complete -c weft -n '__weft_using reset' -l probes -d 'With --all: remove kprobes, uprobes and synthetic events, too'
complete -c weft -n '__weft_using reset' -s y -l yes -d 'With --all: do not ask'
complete -c weft -n '__weft_using none' -a mark -d 'write a marker into the trace'
complete -c weft -n '__weft_using mark' -s r -l raw -x -a '(__weft_values "N")' -d 'Write the bytes of FILE as a raw marker with the number N'
complete -c weft -n '__weft_using mark' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Of INSTANCE instead of the top one'
complete -c weft -n '__weft_using none' -a list -d 'list what this kernel can trace: events, tracers, clocks, functions...'
complete -c weft -n '__weft_using list' -s F -l full -d 'Tell more of each: the fields of events, the state of options, tracers and instances'
complete -c weft -n '__weft_using list' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Of INSTANCE instead of the top one'
complete -c weft -n '__weft_using none' -a probe -d 'make events of functions and programs'
complete -c weft -n '__weft_using probe' -l synthetic -d 'add: a synthetic event, as NAME TYPE FIELD; TYPE FIELD'
complete -c weft -n '__weft_using probe' -s a -l all -d 'remove: all that weft made'
complete -c weft -n '__weft_using probe' -l dry-run -d 'Only print what would be written, as shell'
complete -c weft -n '__weft_using none' -a stat -d 'tell what of tracing is not as it was at boot'
complete -c weft -n '__weft_using stat' -s F -l full -d 'Print long lists whole, and what is as at boot too'
complete -c weft -n '__weft_using stat' -s c -l check -d 'Exit with status 1 when anything differs from boot'
complete -c weft -n '__weft_using stat' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'Of INSTANCE instead of the top one'
complete -c weft -n '__weft_using none' -a doctor -d 'tell what can be traced here, what not, and why'
complete -c weft -n '__weft_using none' -a instance -d 'list, create and remove instances: ring buffers of their own'
complete -c weft -n '__weft_using none' -a help -d 'list the commands, or explain one'
complete -c weft -n '__weft_using record' -a '(__weft_values "COMMAND")'
complete -c weft -n '__weft_using stream' -a '(__weft_values "COMMAND")'
complete -c weft -n '__weft_using recover' -F
complete -c weft -n '__weft_using report' -F
complete -c weft -n '__weft_using info' -F
complete -c weft -n '__weft_using check' -F
complete -c weft -n '__weft_using pack' -a '(__fish_complete_directories)'
complete -c weft -n '__weft_using start' -a '(__weft_values "COMMAND")'
complete -c weft -n '__weft_using mark' -a '(__weft_values "TEXT")'
complete -c weft -n '__weft_using list' -a '(__weft_values "events|systems|tracers|clocks|options|functions|instances|formats")'
complete -c weft -n '__weft_using probe' -a '(__weft_values "DEFINITION")'
complete -c weft -n '__weft_using instance' -a '(__weft_values "list|create|remove")'
complete -c weft -n '__weft_using help' -a 'record stream recover extract report info check pack start stop restart clear set reset mark list probe stat doctor instance help'

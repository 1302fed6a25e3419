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
complete -c weft -n '__weft_using pack' -s B -l instance -x -a '(__weft_values "INSTANCE")' -d 'DIR describes this instance instead of the top buffer'
complete -c weft -n '__weft_using pack' -l compression -x -a '(__weft_values "CODEC")' -d 'zstd[:LEVEL] (the default) or none'
complete -c weft -n '__weft_using pack' -l file-version -x -a '(__weft_values "N")' -d 'Version 7 of trace.dat (the default), or 6, which is never compressed'
complete -c weft -n '__weft_using pack' -s q -l quiet -d 'No summary'
complete -c weft -n '__weft_using none' -a help -d 'list the commands, or explain one'
complete -c weft -n '__weft_using info' -F
complete -c weft -n '__weft_using check' -F
complete -c weft -n '__weft_using pack' -a '(__fish_complete_directories)'
complete -c weft -n '__weft_using help' -a 'info check pack help'

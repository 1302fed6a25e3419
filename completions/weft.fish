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
complete -c weft -n '__weft_using none' -a help -d 'list the commands, or explain one'
complete -c weft -n '__weft_using help' -a 'help'

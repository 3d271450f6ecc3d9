# fish completion for stackloom. Load it with: stackloom completion fish | source
function __stackloom_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l directive :4
    for line in ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':*'
                set directive $line
            case '*'
                echo $line
        end
    end
    switch $directive
        case :0
            __fish_complete_path "$current"
        case :16
            __fish_complete_directories "$current"
    end
end
complete -c stackloom -f -k -a '(__stackloom_complete)'

#compdef stackloom
# zsh completion for stackloom. Load it with: source <(stackloom completion zsh)
_stackloom() {
    local line directive=:4
    local -a found
    for line in "${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            :*) directive=$line ;;
            *$'\t'*) found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
            ?*) found+=("${line//:/\\:}") ;;
        esac
    done
    (( $#found )) && _describe -V stackloom found
    case $directive in
        :0) _files ;;
        :16) _files -/ ;;
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _stackloom "$@"; else compdef _stackloom stackloom; fi

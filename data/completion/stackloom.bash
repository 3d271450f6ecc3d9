# bash completion for stackloom. Load it with: source <(stackloom completion bash)
_stackloom() {
    local line value directive=:4
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :*) directive=$line ;;
            *) value=${line%%$'\t'*}; COMPREPLY+=("$value") ;;
        esac
    done < <("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case $directive in
        :0) compopt -o default 2>/dev/null ;;
        :16) compopt -o dirnames 2>/dev/null ;;
    esac
}
complete -F _stackloom stackloom

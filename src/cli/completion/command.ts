/** `stackloom completion SHELL`: prints a script that passes the words to `stackloom __complete` and shows its answer. */
import { Argument, type Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'source <(stackloom completion bash)              # this shell; add it to ~/.bashrc to keep it',
    'source <(stackloom completion zsh)               # likewise, in ~/.zshrc after compinit',
    'stackloom completion fish > ~/.config/fish/completions/stackloom.fish',
    'ln -s "$(which kubectl_complete-stackloom)" ~/bin/   # for `kubectl stackloom`; must be in PATH',
  ])
    .addArgument(new Argument('<shell>', 'shell to print the script for').choices(shells))
    .action((shell: Shell) =>
      act(async () => {
        io.stdout(scripts[shell])
        return 0
      }),
    )
}

const bash = `# bash completion for stackloom. Load it with: source <(stackloom completion bash)
_stackloom() {
    local line value directive=:4
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
            :*) directive=$line ;;
            *) value=\${line%%$'\\t'*}; COMPREPLY+=("$value") ;;
        esac
    done < <("\${COMP_WORDS[0]}" __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    case $directive in
        :0) compopt -o default 2>/dev/null ;;
        :16) compopt -o dirnames 2>/dev/null ;;
    esac
}
complete -F _stackloom stackloom
`

const zsh = `#compdef stackloom
# zsh completion for stackloom. Load it with: source <(stackloom completion zsh)
_stackloom() {
    local line directive=:4
    local -a found
    for line in "\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        case $line in
            :*) directive=$line ;;
            *$'\\t'*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
            ?*) found+=("\${line//:/\\\\:}") ;;
        esac
    done
    (( $#found )) && _describe -V stackloom found
    case $directive in
        :0) _files ;;
        :16) _files -/ ;;
    esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _stackloom "$@"; else compdef _stackloom stackloom; fi
`

const fish = `# fish completion for stackloom. Load it with: stackloom completion fish | source
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
`

const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }

/** `stackloom completion SHELL`: prints a script that passes the words to `stackloom __complete` and shows its answer. */
import { Argument, type Command } from 'commander'
import { readData } from '../../data/data.ts'
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
        io.stdout(readData(`completion/stackloom.${shell}`))
        return 0
      }),
    )
}

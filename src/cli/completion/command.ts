/** `stackloom completion SHELL`: the script that makes the shell ask us. */
import { Argument, type Command } from 'commander'
import { type CommandContext, withExamples } from '../command.ts'
import { type Shell, scripts, shells } from './scripts.ts'

export function define(command: Command, { io, act }: CommandContext): void {
  withExamples(command, [
    'source <(stackloom completion bash)              # this shell; put it into ~/.bashrc to keep it',
    'source <(stackloom completion zsh)               # likewise, in ~/.zshrc after compinit',
    'stackloom completion fish > ~/.config/fish/completions/stackloom.fish',
    'ln -s "$(which kubectl_complete-stackloom)" ~/bin/   # `kubectl stackloom` completes when this is in PATH',
  ])
    .addArgument(new Argument('<shell>', 'the shell to write it for').choices(shells))
    .action((shell: Shell) =>
      act(async () => {
        io.stdout(scripts[shell])
        return 0
      }),
    )
}

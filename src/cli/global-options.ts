/** Options of every command. */
import { type Command, Option } from 'commander'

export function withGlobalOptions(program: Command): Command {
  return program
    .addOption(new Option('-q, --quiet', 'print only results and errors').conflicts('verbose'))
    .option('-v, --verbose', 'print files, requests to the cluster and their responses, too')
    .option('--debug', 'print the stack trace of a failure')
    .option('--no-color', 'print without colour, as with NO_COLOR=1')
}

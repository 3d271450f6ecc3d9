/** `sandbox logs`: prints the logs of the programs. */
import { existsSync, readdirSync } from 'node:fs'
import { type Command, InvalidArgumentError } from 'commander'
import { wrongUse } from '../../errors/common.ts'
import { failure } from '../../errors/failure.ts'
import { runProcess } from '../../exec/process.ts'
import { logFile } from '../../sandbox/folder.ts'
import { locateSandbox, requireSettings } from '../../sandbox/settings.ts'
import { type CommandContext, withExamples } from '../command.ts'
import { DEFAULT_NAME, sandboxContext } from './context.ts'

interface LogsOptions {
  readonly name: string
  readonly tail: number
  readonly follow?: boolean
}

export function defineLogs(parent: Command, { io, act }: CommandContext): void {
  withExamples(parent.command('logs').description('Print the log of one program, or the last lines of all logs'), [
    'stackloom sandbox logs kube-apiserver -f',
    'stackloom sandbox logs --tail 5',
  ])
    .argument('[program]', 'etcd, kube-apiserver, …')
    .option('--name <name>', 'name of the sandbox', DEFAULT_NAME)
    .option('--tail <lines>', 'number of lines to print', count, 200)
    .option('-f, --follow', 'follow the log until Ctrl-C')
    .action((program: string | undefined, options: LogsOptions) =>
      act(async () => {
        const { paths } = sandboxContext(io)
        await requireSettings(paths, options.name)
        const folder = locateSandbox(paths, options.name)
        const present = existsSync(folder.logs) ? readdirSync(folder.logs) : []
        const known = present.filter((file) => file.endsWith('.log')).map((file) => file.slice(0, -4))
        if (program !== undefined && !known.includes(program)) {
          const reason = `there is no log of '${program}'; there are: ${known.join(', ')}`
          throw failure(wrongUse, { reason, command: 'stackloom sandbox logs' })
        }
        const files = (program === undefined ? known : [program]).map((name) => logFile(folder, name))
        await runProcess(
          { file: 'tail', args: ['-n', String(options.tail), ...(options.follow ? ['-F'] : []), ...files] },
          { onLine: (line, stream) => stream === 'stdout' && io.stdout(`${line}\n`), signal: io.stop },
        )
        return io.stop.aborted ? 130 : 0
      }),
    )
}

function count(text: string): number {
  const lines = Number(text)
  if (!Number.isInteger(lines) || lines < 0) throw new InvalidArgumentError('must be a number of lines.')
  return lines
}

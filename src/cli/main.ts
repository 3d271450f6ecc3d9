/**
 * Finds the command, loads only that one, runs it, and turns errors into findings and an exit code.
 *
 * Stack traces are printed with `--debug` only.
 */
import { Command, CommanderError, Help, type Option } from 'commander'
import { internalError, outputLost, wrongUse } from '../errors/common.ts'
import { type ExitCode, Failure, failure, formatError } from '../errors/failure.ts'
import { finding } from '../errors/finding.ts'
import type { Act, CommandEntry } from './command.ts'
import { commands } from './commands.ts'
import { withGlobalOptions } from './global-options.ts'
import { type Io, processIo } from './io.ts'
import { unsupportedNodeNotice } from './node-version.ts'
import { codeScanningFormats, isCodeScanningFormat } from './output/code-scanning-formats.ts'
import { printFindings } from './output/findings.ts'
import { escapeControls } from './output/text.ts'
import { programVersion } from './program-version.ts'

export async function main(
  argv: readonly string[],
  streams: Io,
  entries: readonly CommandEntry[] = commands,
): Promise<ExitCode> {
  let exitCode: ExitCode = 0
  let hasOutput = false
  const levels: Levels = { quiet: false, verbose: false }
  const colour = argv.includes('--no-color') ? { stdout: false, stderr: false } : streams.colour
  const io = wrapOutput(streams, argv, colour, levels, () => {
    hasOutput = true
  })
  const act: Act = async (work) => {
    exitCode = await work()
  }
  try {
    const program = await buildProgram(argv, io, act, entries)
    program.hook('preAction', (_, used) => {
      Object.assign(levels, program.opts())
      refuseParentOptions(used)
    })
    await parse(program, argv)
    return exitCode
  } catch (thrown) {
    return await reportFailure(thrown, argv, io, hasOutput)
  } finally {
    noteUnsupportedNode(argv, io)
  }
}

/** For people only: other programs may treat text on stderr as a failure. */
function noteUnsupportedNode(argv: readonly string[], io: Io): void {
  if (!io.interactive || io.nodeVersion === undefined || requestedFormat(argv) !== '' || /complet/.test(argv[0] ?? ''))
    return
  const notice = unsupportedNodeNotice(io.nodeVersion)
  if (notice !== undefined) io.stderr(notice)
}

/** Known when the options are parsed. */
interface Levels {
  quiet: boolean
  verbose: boolean
}

/** All output of all commands passes here. Inherits, because reading `stop` has an effect. */
function wrapOutput(
  io: Io,
  commandLine: readonly string[],
  colour: Io['colour'],
  levels: Levels,
  onOutput: () => void,
): Io {
  const stdout = (text: string): void => {
    onOutput()
    io.stdout(escapeControls(text, colour.stdout))
  }
  const alert = (text: string): void => io.stderr(escapeControls(text, colour.stderr))
  const stderr = (text: string): void => {
    if (!levels.quiet) alert(text)
  }
  return Object.create(io, {
    stdout: { value: stdout },
    stderr: { value: stderr },
    alert: { get: () => (levels.quiet ? alert : undefined) },
    verbose: { get: () => (levels.verbose ? (text: string) => alert(`${text}\n`) : undefined) },
    terminal: { get: () => (levels.quiet ? undefined : io.terminal) },
    colour: { value: colour },
    commandLine: { value: commandLine },
  }) as Io
}

/** Loads only the command that is used; the others are a name and a summary. */
async function buildProgram(
  argv: readonly string[],
  io: Io,
  act: Act,
  entries: readonly CommandEntry[],
): Promise<Command> {
  const program = withGlobalOptions(new Command('stackloom'))
    .description('Plan, render, deploy, verify and operate OpenStack clouds.')
    .version(programVersion())
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions })
    .configureOutput({ writeOut: io.stdout, writeErr: () => undefined })
    .exitOverride()
    .commandsGroup('Other:')
    .helpCommand(true)
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      '\nStart with `stackloom init`, then `stackloom plan`. Every command has --help with examples.\n',
    )
  const first = argv.find((word) => !word.startsWith('-'))
  const used = first === 'help' ? argv[argv.indexOf('help') + 1] : first
  for (const entry of entries) {
    const command = program
      .command(entry.name, { hidden: entry.hidden ?? false })
      .description(entry.summary)
      .helpGroup(`${entry.group ?? 'Other'}:`)
      .exitOverride()
    command.copyInheritedSettings(program)
    if (entry.name === used) (await entry.load()).define(command, { io, act })
  }
  return program
}

/** `-yq` is `-y -q`: commander gives a group to one command, and `-q` belongs to all of them. */
function splitShortOptions(word: string): readonly string[] {
  if (!/^-[aqvwy]+[a-z]$/i.test(word)) return [word]
  return word
    .slice(1)
    .split('')
    .map((letter) => `-${letter}`)
}

async function parse(program: Command, argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(argv.flatMap(splitShortOptions), { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof CommanderError) || thrown.exitCode === 0) throw thrown
    const used = findCommand(program, argv)
    if (thrown.code === 'commander.help') return used.outputHelp()
    const message = thrown.message.replace(/^error: /, '').replace(/\n\(Did you mean (.*)\?\)$/s, '; did you mean $1?')
    const reason = message + fileHint(thrown, used, argv)
    throw failure(wrongUse, { reason, command: commandPath(used) })
  }
}

/** Options of a command with commands, such as `hosts`, are its own: each of its commands lists those that it has. */
function visibleGlobalOptions(used: Command): Option[] {
  let root = used
  while (root.parent) root = root.parent
  return root === used ? [] : new Help().visibleOptions(root).filter(({ long }) => long !== '--help')
}

/** An option of `hosts` is parsed after `hosts remove`, too, where it would be ignored. */
function refuseParentOptions(used: Command): void {
  for (let owner = used.parent; owner?.parent; owner = owner.parent)
    for (const option of owner.options) {
      const { long } = option
      const isGiven = owner.getOptionValueSource(option.attributeName()) === 'cli'
      if (isGiven && !used.options.some((known) => known.long === long))
        throw failure(wrongUse, { reason: `${used.name()} has no ${long}`, command: commandPath(used) })
    }
}

function findCommand(program: Command, argv: readonly string[]): Command {
  return argv.reduce((used, word) => used.commands.find((command) => command.name() === word) ?? used, program)
}

function commandPath(command: Command): string {
  return command.parent ? `${commandPath(command.parent)} ${command.name()}` : command.name()
}

/** Other tools take their file as an argument; here an argument is a name. */
function fileHint({ code }: CommanderError, used: Command, argv: readonly string[]): string {
  const file = argv.find((word) => /\.ya?ml$/.test(word))
  const takesFile = used.options.some((option) => option.long === '--file')
  return code === 'commander.excessArguments' && takesFile && file !== undefined
    ? ` Use -f for the file: -f ${file}`
    : ''
}

async function reportFailure(thrown: unknown, argv: readonly string[], io: Io, hasOutput: boolean): Promise<ExitCode> {
  if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : 2
  if (isAbort(thrown) && io.stop.aborted) return 130
  const failed =
    thrown instanceof Failure ? thrown : failure(internalError, { reason: formatError(thrown) }, { cause: thrown })
  printFindings(failed.findings, io)
  const format = requestedFormat(argv)
  if (format === 'json' && !hasOutput) io.stdout(`${JSON.stringify({ findings: failed.findings }, null, 2)}\n`)
  if (isCodeScanningFormat(format) && !hasOutput) {
    io.stdout((await import('./output/review-findings.ts')).formatForReview(failed.findings, format))
  }
  if (argv.includes('--debug')) (io.alert ?? io.stderr)(`${formatStack(thrown)}\n`)
  return failed.exitCode
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.name === 'AbortError'
}

/** From the words, because the command line itself may be what is wrong. */
function requestedFormat(argv: readonly string[]): string {
  const formats = argv.flatMap((word, index) => {
    const joined = /^(?:-o=?|--output=)(\w+)$/.exec(word)?.[1]
    return /^(-o|--output)$/.test(argv[index - 1] ?? '') ? [word] : joined === undefined ? [] : [joined]
  })
  return ['json', ...codeScanningFormats].find((format) => formats.includes(format)) ?? ''
}

function formatStack(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.cause ? `${thrown.stack}\ncaused by ${formatStack(thrown.cause)}` : `${thrown.stack}`
}

/** `entries` replaces the commands in tests. */
export async function run(entries?: readonly CommandEntry[]): Promise<void> {
  const io = processIo()
  // Node ends a program that waits for nothing with code 13 and no message.
  const reportStuck = (): void => {
    const reason = 'the command waits for something that cannot happen any more'
    printFindings([finding(internalError, { reason })], io)
    process.exitCode = failure(internalError, { reason }).exitCode
  }
  process.once('beforeExit', reportStuck)
  const exitCode = await main(process.argv.slice(2), io, entries)
  const lost = await io.flush()
  process.off('beforeExit', reportStuck)
  if (lost) printFindings([finding(outputLost, { reason: formatError(lost) })], io)
  process.exitCode = lost ? 2 : exitCode
}

/** Runs the commands of pages in one shell, as a reader would, and compares what they print with what the pages show. */
import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buildInto } from '../tools/build.ts'
import { type DocCommand, docPages, findOutputDifference } from '../tools/doc-commands.ts'
import { filesBelow } from '../tools/files.ts'
import { writeDocDumps } from './doc-dumps.ts'

export interface DocPage {
  readonly name: string
  readonly text: string
}

export interface PageCommand extends DocCommand {
  readonly page: string
}

export function readDocPages(): readonly DocPage[] {
  return docPages(filesBelow('.', 'docs')).map((name) => ({ name, text: readFileSync(name, 'utf8') }))
}

/** Builds the program into a folder, and returns the folder for PATH. */
export async function buildForDocs(folder: string): Promise<string> {
  cpSync('bin', path.join(folder, 'bin'), { recursive: true })
  copyFileSync('package.json', path.join(folder, 'package.json'))
  await buildInto(path.join(folder, 'dist'), 'test')
  return path.join(folder, 'bin')
}

/** A folder with the files that pages use. */
export async function makeReaderFolder(folder: string): Promise<void> {
  mkdirSync(folder)
  await writeDocDumps(folder)
  for (const name of ['examples/install-yamls', 'test/samples/architecture']) cpSync(name, folder, { recursive: true })
  for (const name of ['examples', 'docs']) cpSync(name, path.join(folder, name), { recursive: true })
}

/** Returns a problem for each command that fails or prints something else than its page shows. */
export async function runDocCommands(
  commands: readonly PageCommand[],
  options: {
    readonly bin: string
    readonly cwd: string
    readonly env?: Readonly<Record<string, string>>
    /** In a network namespace of its own, so that ports which pages name are free. Needs root; without it nothing changes. */
    readonly isIsolated?: boolean
  },
): Promise<readonly string[]> {
  const { bin, cwd } = options
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: cwd, NO_COLOR: '1', COLUMNS: '80', ...options.env }
  const settings = { cwd, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const stdout = await new Promise<string>((resolve) => {
    // Each command has its own status in the output. A server that a failed step left running would keep the shell open.
    const script = `trap 'kill $(jobs -p) 2>/dev/null' EXIT\n${commands.map(formatStep).join('')}`
    const shell = ['bash', '-c', script]
    const isIsolated = options.isIsolated === true && process.getuid?.() === 0
    const isolated = ['--net', 'bash', '-c', 'ip link set lo up && exec "$@"', 'bash', ...shell]
    const [file, args] = isIsolated ? (['unshare', isolated] as const) : (['bash', shell.slice(1)] as const)
    execFile(file, args, settings, (_, printed) => resolve(printed))
  })
  return commands.flatMap((command, index) => {
    const [, before, printed, status] = stepPattern(index).exec(stdout) ?? []
    const problem =
      status === undefined
        ? `did not end: ${stdout.slice(-2000)}`
        : findCommandProblem(command, Number(status), `${printed}`, before)
    return problem === undefined ? [] : [`${command.page}:${command.line}: ${command.command}: ${problem}`]
  })

  function formatStep({ command, before = '', answer, until }: PageCommand, index: number): string {
    const file = path.join(cwd, `.command-${index}.sh`)
    if (answer !== undefined || until !== undefined) writeFileSync(file, command)
    const run =
      until !== undefined ? interruptAt(until, file) : answer !== undefined ? answerWith(answer, file) : command
    return [`exec 2>&1`, mark(index, 'before'), before, mark(index, 'run'), run, endMark(index), ''].join('\n')
  }
}

/**
 * A question is asked on a terminal only, and `script` gives the command one. The answer is typed when the terminal passes on
 * single keys, which is when the question is there: what is typed before would arrive as a line.
 */
function answerWith(answer: string, file: string): string {
  const isAsking = `stty -F "$(cat ${file}.tty 2>/dev/null)" -a 2>/dev/null | grep -q -- '-icanon'`
  return `rm -f ${file}.end
{ until ${isAsking} || [ -e ${file}.end ]; do sleep 0.1; done
printf '%s\\r' '${answer}'; until [ -e ${file}.end ]; do sleep 0.1; done; } |
script -qec 'stty cols 80 rows 24; tty >${file}.tty; bash ${file}; ended=$?; touch ${file}.end; exit $ended' /dev/null`
}

/** Waits for the text, then interrupts as Ctrl-C does; `set -m` gives the command a process group and lets it be interrupted. */
function interruptAt(text: string, file: string): string {
  return `set -m
bash ${file} >${file}.out 2>&1 &
set +m
for _ in $(seq 1200); do grep -qF '${text}' ${file}.out && break; kill -0 $! 2>/dev/null || break; sleep 0.1; done
kill -INT -- -$! 2>/dev/null
wait $!
ended=$?
cat ${file}.out
grep -qF '${text}' ${file}.out && [ $ended -eq 0 -o $ended -eq 130 ]`
}

const mark = (index: number, step: string): string => `printf '\\001${index} ${step}\\n'`
const endMark = (index: number): string => `printf '\\n\\001${index} end %s\\n' "$?"`

function stepPattern(index: number): RegExp {
  return new RegExp(`\\u0001${index} before\\n([^]*)\\u0001${index} run\\n([^]*)\\n\\u0001${index} end (\\d+)\\n`)
}

/** How a command ended or what it printed, where the page says something else. `before` is what was printed before it. */
export function findCommandProblem(
  { output, exit }: DocCommand,
  status: number,
  printed: string,
  before = '',
): string | undefined {
  const expected = exit !== undefined ? [exit] : output?.some((line) => line.includes('error SL')) ? [1, 2] : [0]
  if (!expected.includes(status)) return `ends with ${status}: ${before}${printed}`
  const difference = output && findOutputDifference(output, printed.trimEnd().split('\n'))
  return difference === undefined ? undefined : `does not print: ${difference}\n${printed}`
}

/** Runs this program with other words in a process of its own, for actions of the page. */
import { startProcess } from '../../exec/process.ts'
import type { Io } from '../io.ts'

/** Resolves with the exit code. Without a terminal the process asks nothing and prints no colours. */
export async function executeProgram(
  words: readonly string[],
  io: Io,
  onOutput: (text: string) => void,
): Promise<number> {
  const [, entry = ''] = process.argv
  const { exit: ended } = startProcess(
    {
      file: process.execPath,
      args: [...process.execArgv, entry, ...words],
      cwd: io.cwd,
      env: { ...io.env, NO_COLOR: '1' },
    },
    { onLine: (line) => onOutput(`${line}\n`), signal: io.stop, graceMs: 30_000 },
  )
  const exit = await ended
  return exit.kind === 'exited' ? exit.code : 130
}

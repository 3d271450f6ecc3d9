/** Runs the program as a process and kills it with SIGKILL after a number of lines of its progress. */
import { spawn } from 'node:child_process'
import path from 'node:path'
import { selfCommand } from '../src/sandbox/sandbox-context.ts'

export interface KilledRun {
  /** Null after the kill; a run that was shorter ends by itself. */
  readonly code: number | null
  /** What it wrote to stderr. */
  readonly said: string
}

export function runAndKill(words: readonly string[], lines: number, cwd: string): Promise<KilledRun> {
  const [file = '', ...self] = selfCommand(path.resolve(import.meta.dirname, '../src/sandbox'))
  const child = spawn(file, [...self, ...words], { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (said.split('\n').length > lines) child.kill('SIGKILL')
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, said }))
  })
}

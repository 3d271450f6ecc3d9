/** Finds running processes by a word in their command line, without zombies. */
import { runProcess } from '../src/exec/process.ts'

export async function processesWith(word: string): Promise<readonly string[]> {
  const { stdout } = await runProcess({ file: 'ps', args: ['-ww', '-eo', 'stat=,pid=,args='] })
  return stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.includes(word) && !line.startsWith('Z') && !line.includes('ps -ww'))
}

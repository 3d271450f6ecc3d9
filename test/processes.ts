/** Finds running processes, without zombies: by a word in their command line, or by the network that they are in. */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { runProcess } from '../src/exec/process.ts'

export async function processesWith(word: string): Promise<readonly string[]> {
  const { stdout } = await runProcess({ file: 'ps', args: ['-ww', '-eo', 'stat=,pid=,args='] })
  return stdout
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.includes(word) && !line.startsWith('Z') && !line.includes('ps -ww'))
}

/** The processes in the networks of some processes. */
export async function processesInNetworks(members: readonly number[]): Promise<readonly string[]> {
  const networkOf = (pid: number | string): Promise<string> => readlink(`/proc/${pid}/ns/net`).catch(() => '')
  const networks = new Set(await Promise.all(members.map(networkOf)))
  const found = await Promise.all((await processIds()).map(async (pid) => [pid, await networkOf(pid)] as const))
  const inside = found.filter(([, network]) => network !== '' && networks.has(network))
  return (await Promise.all(inside.map(([pid]) => identify(pid)))).flat()
}

/** Those of a list that still run. */
export async function stillRunning(processes: readonly string[]): Promise<readonly string[]> {
  const running = new Set((await Promise.all((await processIds()).map(identify))).flat())
  return processes.filter((process) => running.has(process))
}

async function processIds(): Promise<readonly string[]> {
  return (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
}

/** The id of a process with its name and start: an id may be used again. */
async function identify(pid: string): Promise<readonly string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return stat === '' || state === 'Z' ? [] : [`${stat.slice(0, stat.lastIndexOf(')') + 1)} ${fields[18]}`]
}

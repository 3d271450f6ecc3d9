/**
 * What is left of an attempt on this machine: every process that carries its mark, however it was detached, ends.
 *
 * Ansible starts processes in sessions of their own, so neither a process group nor a parent finds them all; what was
 * in their environment at the start does. Connections that SSH keeps open overwrite even that with their title, which
 * names the folder of their sockets.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../../../clock/clock.ts'

const RUN_VARIABLE = 'STACKLOOM_RUN'
export const SOCKETS_VARIABLE = 'STACKLOOM_SOCKETS'

/** Kills until nobody is left; `sockets` is the folder of the attempt's connections, where it is known. */
export async function killLeftovers(id: string, clock: Pick<Clock, 'sleep'>, sockets?: string): Promise<void> {
  for (;;) {
    const left = await findLeftovers(id, sockets)
    if (left.length === 0) return
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // Gone in the meantime.
      }
    }
    await clock.sleep(20)
  }
}

async function findLeftovers(id: string, sockets: string | undefined): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => [])
  const mark = `${RUN_VARIABLE}=${id}`
  // Another user's process cannot be read, and is not ours to end.
  const read = (name: string, what: string): Promise<string> =>
    readFile(`/proc/${name}/${what}`, 'utf8').catch(() => '')
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const marked = (await read(name, 'environ')).split('\0').includes(mark)
        const connection = sockets !== undefined && (await read(name, 'cmdline')).startsWith(`ssh: ${sockets}/`)
        return marked || connection ? [Number(name)] : []
      }),
  )
  return found.flat()
}

/**
 * Runs `"$@"` with the mark, and ends everything that is left of it when it has ended, when it is told to, or when the
 * operator is gone, even by kill -9. `$1` is the mark, `$2` the operator: one that died before the wrapper could ask
 * to be told so is seen by its absence. Neither search finds itself: no argument of grep starts like what it looks for.
 */
const WRAPPER = `
id=$1 operator=$2
shift 2
left() {
  {
    grep -lsz "^${RUN_VARIABLE}=$id\\$" /proc/[0-9]*/environ
    grep -lsz "^ssh: $${SOCKETS_VARIABLE}/" /proc/[0-9]*/cmdline
  } | sed 's|/proc/||; s|/.*||'
}
end() {
  while pids=$(left) && [ -n "$pids" ]; do kill -9 $pids 2>/dev/null; sleep 0.05; done
  rm -rf "$${SOCKETS_VARIABLE}"
}
trap 'kill -9 $! 2>/dev/null; end; exit 143' TERM
[ "$PPID" = "$operator" ] || { end; exit 143; }
${RUN_VARIABLE}=$id "$@" &
wait $!
code=$?
end
exit $code`

export function wrapCommand(id: string, words: readonly string[]): readonly string[] {
  const guard = ['setpriv', '--pdeathsig', 'TERM', '--', 'sh', '-c', WRAPPER, 'sh', id, String(process.pid)]
  return [...guard, ...words]
}

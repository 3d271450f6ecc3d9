/**
 * Kills the processes that an attempt left on this machine, however they were detached.
 *
 * Ansible starts processes in sessions of their own, so neither a process group nor a parent finds them all; a variable in
 * their initial environment does. Persistent SSH connections overwrite even that with their title, which names the folder
 * of their sockets.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../../../clock/clock.ts'

const RUN_VARIABLE = 'STACKLOOM_RUN'
export const SOCKETS_VARIABLE = 'STACKLOOM_SOCKETS'

/** Kills until none is left; `sockets` is the folder of the attempt's SSH connections, where it is known. */
export async function killLeftovers(id: string, clock: Pick<Clock, 'sleep'>, sockets?: string): Promise<void> {
  for (;;) {
    const left = await findLeftovers(id, sockets)
    if (left.length === 0) return
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has exited meanwhile.
      }
    }
    await clock.sleep(20)
  }
}

async function findLeftovers(id: string, sockets: string | undefined): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => [])
  const variable = `${RUN_VARIABLE}=${id}`
  // A process of another user cannot be read, and does not belong to the attempt.
  const read = (name: string, what: string): Promise<string> =>
    readFile(`/proc/${name}/${what}`, 'utf8').catch(() => '')
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const isMarked = (await read(name, 'environ')).split('\0').includes(variable)
        const isConnection = sockets !== undefined && (await read(name, 'cmdline')).startsWith(`ssh: ${sockets}/`)
        return isMarked || isConnection ? [Number(name)] : []
      }),
  )
  return found.flat()
}

/**
 * Runs `"$@"` with the variable set, and kills its leftovers when it exits, on TERM, or when the operator dies, even by
 * kill -9. `$1` is the id of the attempt, `$2` the pid of the operator, which may have died before the wrapper started.
 * Neither grep finds itself: none of its arguments starts with what it searches for.
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

export function wrapCommand(id: string, command: readonly string[]): readonly string[] {
  const wrapper = ['setpriv', '--pdeathsig', 'TERM', '--', 'sh', '-c', WRAPPER, 'sh', id, String(process.pid)]
  return [...wrapper, ...command]
}

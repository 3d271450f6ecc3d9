/**
 * What is left of an attempt on this machine: every process that carries its mark, however it was detached, ends.
 *
 * Ansible starts processes in sessions of their own (SSH connections that are kept open among them), so neither a
 * process group nor a parent finds them all; what was in their environment at the start does.
 */
import { readdir, readFile } from 'node:fs/promises'
import type { Clock } from '../../../../clock/clock.ts'

export const MARK = 'STACKLOOM_RUN'

/** Kills until nobody is left. */
export async function endLeftovers(id: string, clock: Pick<Clock, 'sleep'>): Promise<void> {
  for (;;) {
    const left = await markedProcesses(id)
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

async function markedProcesses(id: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => [])
  const mark = `${MARK}=${id}`
  const found = await Promise.all(
    names
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        // Another user's process cannot be read, and is not ours to end.
        const environment = await readFile(`/proc/${name}/environ`, 'utf8').catch(() => '')
        return environment.split('\0').includes(mark) ? [Number(name)] : []
      }),
  )
  return found.flat()
}

/**
 * Runs `"$@"` with the mark, and ends everything marked when it has ended, when it is told to, or when the operator
 * is gone, even by kill -9. `$1` is the mark, `$2` the operator: one that died before the wrapper could ask to be told
 * so is seen by its absence.
 */
const WRAPPER = `
id=$1 operator=$2
shift 2
left() { grep -lsz "^${MARK}=$id\\$" /proc/[0-9]*/environ | sed 's|/proc/||; s|/environ||'; }
end() { while pids=$(left) && [ -n "$pids" ]; do kill -9 $pids 2>/dev/null; sleep 0.05; done; }
trap 'kill -9 $job 2>/dev/null; end; exit 143' TERM
[ "$PPID" = "$operator" ] || exit 143
${MARK}=$id "$@" &
job=$!
wait $job
code=$?
end
exit $code`

export function guarded(id: string, words: readonly string[]): readonly string[] {
  const guard = ['setpriv', '--pdeathsig', 'TERM', '--', 'sh', '-c', WRAPPER, 'sh', id, String(process.pid)]
  return [...guard, ...words]
}

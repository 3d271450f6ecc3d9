/** Formats commands as the first program of a sandbox with nodes. Pure. */
import { formatShellCommand } from '../../errors/shell-words.ts'

/**
 * Creates everything and starts the supervisor, which the arguments name. The script stays the first process: it collects
 * processes that lost their parent, and when the supervisor ends in any way, it ends too, and with it, by the kernel, all
 * processes, mounts, namespaces and interfaces of the sandbox.
 */
export function setupScript(commands: readonly (readonly string[])[]): string {
  return `set -eu
exec 9<&0
{
mount -t tmpfs -o mode=755 tmpfs /run
${commands.map(formatShellCommand).join('\n')}
} >&2
"$@" <&9 &
wait $!
`
}

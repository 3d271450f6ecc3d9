/**
 * Identifies where a process id means something: one boot of one machine, and one PID namespace of it.
 *
 * A host name does not: cloned machines, containers and CI jobs share it, and a process id of one says nothing in another.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'

/** Undefined where the system does not say, such as on macOS. */
export function processScope(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const machine = readIfExists('/etc/machine-id')
    const namespace = readlinkSync('/proc/self/ns/pid')
    return createHash('sha256').update(`${machine} ${boot} ${namespace}`).digest('hex').slice(0, 16)
  } catch {
    return undefined
  }
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return ''
  }
}

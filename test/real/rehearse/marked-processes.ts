/** Finds processes by a mark in their environment, which all programs inherit, also those inside of namespaces. */
import { readdirSync, readFileSync } from 'node:fs'

export const MARK = 'STACKLOOM_TEST_MARK'

export function markedProcesses(mark: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${MARK}=${mark}`)
      } catch {
        return false
      }
    })
}

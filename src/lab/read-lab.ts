/** Parses a lab file, resolves its defaults and checks it. Pure. */
import { labSchema } from '../api/lab.ts'
import { checkShape } from '../api/shape.ts'
import type { Finding } from '../errors/finding.ts'
import { judge, parseAcceptances } from '../site/accept.ts'
import type { Locator } from '../yaml/locate.ts'
import { readYaml } from '../yaml/read.ts'
import { checkLab } from './check/check-lab.ts'
import { checkExecution } from './check/execution.ts'
import { resolveLab } from './defaults.ts'
import type { Lab } from './lab.ts'

export interface ReadLabResult extends Locator {
  /** Undefined when the file does not have the shape of a Lab. */
  readonly lab?: Lab
  readonly findings: readonly Finding[]
}

export function readLab(input: string | Uint8Array, file: string): ReadLabResult {
  const reading = readYaml(input, file)
  const { locate, locateKey } = reading
  const { value, findings } = checkShape(labSchema, reading, 'a Lab')
  if (!value) return { findings, locate, locateKey }
  const lab = resolveLab(value)
  const judged = judge(checkLab(lab, value, reading), parseAcceptances(value.spec.accept), {
    locate,
    judges: (code) => code.startsWith('SL80') || code.startsWith('SL81'),
  })
  // Not among the judged ones: a lab file must not be able to accept what it runs on this machine.
  return { lab, findings: [...findings, ...checkExecution(lab, reading), ...judged], locate, locateKey }
}

/** Kinds without a status, such as MetalLB's configuration: ready when they read back as they were written. */

import { formatObjectName } from '../../api/raw-object.ts'
import { fieldDifferences } from '../field-differences.ts'
import { progressing, type ReadinessRule, ready } from './verdict.ts'

export const readBackReadiness: ReadinessRule = (live, { desired }) => {
  if (!desired) return ready
  const [first] = fieldDifferences(desired, live)
  return first ? progressing(`${formatObjectName(live)} to hold ${first.path} as planned`) : ready
}

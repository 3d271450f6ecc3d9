/** Kinds without a status, such as MetalLB's configuration: ready when they read back as they were written. */

import { nameOf } from '../../api/raw-object.ts'
import { fieldDifferences } from '../fields.ts'
import { progressing, type ReadinessRule, ready } from './verdict.ts'

export const readBack: ReadinessRule = (live, { desired }) => {
  if (!desired) return ready
  const [first] = fieldDifferences(desired, live)
  return first ? progressing(`${nameOf(live)} to hold ${first.path} as planned`) : ready
}

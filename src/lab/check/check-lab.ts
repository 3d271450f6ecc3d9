/** Everything that can be decided before any VM exists: a family of small judges over one lab. Pure. */
import type { LabFile } from '../../api/lab.ts'
import type { FileLocation, Finding } from '../../errors/finding.ts'
import type { Locator, ValuePath } from '../../yaml/locate.ts'
import type { Lab } from '../lab.ts'
import { checkAddresses } from './addresses.ts'
import { checkBudget } from './budget.ts'
import { checkInterfaces } from './interfaces.ts'
import { checkKolla } from './kolla-settings.ts'
import { checkNames } from './lab-names.ts'
import { reportRisks } from './risks.ts'
import { checkStorage } from './storage.ts'

export interface CheckContext {
  readonly lab: Lab
  readonly file: LabFile
  /** The place of the lab's name. */
  readonly nameAt: FileLocation
  /** The place of `spec.…`. */
  readonly at: (...path: ValuePath) => FileLocation
  readonly keyAt: (...path: ValuePath) => FileLocation
}

type LabCheck = (context: CheckContext) => readonly Finding[]

const labChecks: readonly LabCheck[] = [
  checkNames,
  checkAddresses,
  checkInterfaces,
  checkBudget,
  checkStorage,
  checkKolla,
  reportRisks,
]

export function checkLab(lab: Lab, file: LabFile, { locate, locateKey }: Locator): readonly Finding[] {
  const context: CheckContext = {
    lab,
    file,
    nameAt: locate(['metadata', 'name']),
    at: (...path) => locate(['spec', ...path]),
    keyAt: (...path) => locateKey(['spec', ...path]),
  }
  return labChecks.flatMap((judge) => judge(context))
}

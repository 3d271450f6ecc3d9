/** Everything that can be decided before any VM exists: a family of small judges over one lab. Pure. */
import type { LabFile } from '../../api/lab.ts'
import type { FilePlace, Finding } from '../../errors/finding.ts'
import type { Locator, ValuePath } from '../../yaml/locate.ts'
import type { Lab } from '../lab.ts'
import { checkAddresses } from './addresses.ts'
import { checkBudget } from './budget.ts'
import { checkInterfaces } from './interfaces.ts'
import { checkKolla } from './kolla.ts'
import { checkNames } from './names.ts'
import { tellRisks } from './risks.ts'
import { checkStorage } from './storage.ts'

export interface CheckContext {
  readonly lab: Lab
  readonly file: LabFile
  /** The place of the lab's name. */
  readonly nameAt: FilePlace
  /** The place of `spec.…`. */
  readonly at: (...path: ValuePath) => FilePlace
  readonly keyAt: (...path: ValuePath) => FilePlace
}

type Judge = (context: CheckContext) => readonly Finding[]

const judges: readonly Judge[] = [
  checkNames,
  checkAddresses,
  checkInterfaces,
  checkBudget,
  checkStorage,
  checkKolla,
  tellRisks,
]

export function checkLab(lab: Lab, file: LabFile, { locate, locateKey }: Locator): readonly Finding[] {
  const context: CheckContext = {
    lab,
    file,
    nameAt: locate(['metadata', 'name']),
    at: (...path) => locate(['spec', ...path]),
    keyAt: (...path) => locateKey(['spec', ...path]),
  }
  return judges.flatMap((judge) => judge(context))
}

/** Runs all checks of a lab file that need no VM. Pure. */
import type { LabFile } from '../../api/lab.ts'
import { type FileLocation, type Finding, finding } from '../../errors/finding.ts'
import type { Locator, ValuePath } from '../../yaml/locate.ts'
import { emulatedGuests, imagesUntested, partsWithoutTls, stateOnOsDisk } from '../findings/kolla.ts'
import { imageTag, tlsGaps } from '../kolla/release.ts'
import { keepsStateOnOsDisk, type Lab, usesTls } from '../lab.ts'
import { checkAddresses } from './addresses.ts'
import { checkBudget } from './budget.ts'
import { checkInterfaces } from './interfaces.ts'
import { checkKolla } from './kolla-settings.ts'
import { checkNames } from './lab-names.ts'
import { checkStorage } from './storage.ts'

export interface CheckContext {
  readonly lab: Lab
  readonly file: LabFile
  /** Location of `metadata.name`. */
  readonly nameLocation: FileLocation
  /** Location of a value below `spec`. */
  readonly locate: (...path: ValuePath) => FileLocation
  readonly locateKey: (...path: ValuePath) => FileLocation
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
    nameLocation: locate(['metadata', 'name']),
    locate: (...path) => locate(['spec', ...path]),
    locateKey: (...path) => locateKey(['spec', ...path]),
  }
  return labChecks.flatMap((check) => check(context))
}

/** Reports the known risks of every lab as information, each with the setting that addresses it. */
function reportRisks({ lab, locate }: CheckContext): readonly Finding[] {
  const findings: Finding[] = []
  if (lab.arch === 'aarch64')
    findings.push(finding(imagesUntested, { tag: imageTag(lab) }, { where: locate('containers') }))
  findings.push(finding(emulatedGuests, { arch: lab.arch }, { where: locate('vm') }))
  if (usesTls(lab)) {
    const without = tlsGaps(lab).map((gap) => gap.what)
    findings.push(finding(partsWithoutTls, { without: without.join(', ') }, { where: locate('tls') }))
  }
  lab.nodes.forEach((node, index) => {
    if (!keepsStateOnOsDisk(node)) return
    findings.push(finding(stateOnOsDisk, { node: node.name }, { where: locate('nodes', index, 'disk') }))
  })
  return findings
}

/** Document 004's known risks, each with what was set for it. Said once, as information. */
import { type Finding, finding } from '../../errors/finding.ts'
import { emulatedGuests, imagesUntested, partsWithoutTls, stateOnOsDisk } from '../findings/kolla.ts'
import { imageTag } from '../kolla/image-tag.ts'
import { tlsGaps } from '../kolla/tls-gaps.ts'
import { keepsStateOnOsDisk, usesTls } from '../lab.ts'
import type { CheckContext } from './check-lab.ts'

export function reportRisks({ lab, at }: CheckContext): readonly Finding[] {
  const found: Finding[] = []
  if (lab.arch === 'aarch64') found.push(finding(imagesUntested, { tag: imageTag(lab) }, { where: at('containers') }))
  found.push(finding(emulatedGuests, { arch: lab.arch }, { where: at('vm') }))
  if (usesTls(lab)) {
    const without = tlsGaps(lab)
      .map((gap) => gap.what)
      .join(', ')
    found.push(finding(partsWithoutTls, { without }, { where: at('tls') }))
  }
  lab.nodes.forEach((node, index) => {
    if (!keepsStateOnOsDisk(node)) return
    found.push(finding(stateOnOsDisk, { node: node.name }, { where: at('nodes', index, 'disk') }))
  })
  return found
}

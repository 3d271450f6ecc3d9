/**
 * Imported clouds added to a site file that is there already: its comments, its order and its cluster stay.
 *
 * Pure. A cloud that the file has already is never changed.
 */

import { asList, asRecord } from '../../api/json.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { finding, hasErrors } from '../../errors/finding.ts'
import { cloudExists } from '../../errors/new-file.ts'
import { editYaml } from '../../yaml/edit.ts'
import { readYaml } from '../../yaml/read.ts'
import { readSite } from '../read.ts'
import type { Imported, ImportSource } from './imported-site.ts'

export function addClouds({ file, text }: ImportSource, imported: Imported): Imported {
  const { site, findings, locate } = readSite(text, file)
  if (!site) return { findings: [...imported.findings, ...findings] }
  const found = asRecord(asRecord(readYaml(imported.text ?? '', file).value)['spec'])['clouds']
  const clouds = asList(found) as readonly SiteFileCloud[]
  const twice = clouds.flatMap((cloud) => {
    const there = site.clouds.find(({ name, namespace }) => name === cloud.name || namespace === cloud.namespace)
    return there ? [finding(cloudExists, { cloud: there.name, file }, { where: locate(there.path) })] : []
  })
  if (twice.length > 0) return { findings: [...imported.findings, ...twice] }
  const first = site.clouds.length
  const edits = clouds.map((value, index) => ({ path: ['spec', 'clouds', first + index], value }))
  const added = editYaml(text, edits)
  // The cluster of the file may lack a NIC that the clouds ride on: that is said at once.
  const after = readSite(added, file).findings
  return { ...(!hasErrors(after) && { text: added }), findings: [...imported.findings, ...after] }
}

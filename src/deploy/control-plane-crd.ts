/**
 * Whether the cluster's control plane has the schema that the site was planned for. Slots that the cluster does not
 * have would be refused, and new ones would take their addresses from any pool.
 */
import type { KubeObject } from '../api/object.ts'
import { type Finding, finding } from '../errors/finding.ts'
import type { KubeReader } from '../kube/client.ts'
import { slotLines } from '../plan/lock.ts'
import { readSlotTable } from '../plan/slots/slot-table.ts'
import type { SlotTable } from '../plan/slots/slots.ts'
import { crdMismatch } from './findings/preflight.ts'

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  name: 'openstackcontrolplanes.core.openstack.org',
} as const

/** Undefined until the operator has brought it. */
export function readControlPlaneCrd(client: Pick<KubeReader, 'get'>): Promise<KubeObject | undefined> {
  return client.get(CRD)
}

/** Nothing when there is no CRD yet: then there is nothing to compare. Pure. */
export function crdFindings(planned: SlotTable, crd: KubeObject | undefined): readonly Finding[] {
  if (!crd) return []
  const read = readSlotTable(crd, 'the cluster')
  if (read.kind === 'refused') return read.findings
  if (read.table.crd === planned.crd) return []
  const [before, after] = [slotLines(planned), slotLines(read.table)]
  const gone = before.filter((line) => !after.includes(line))
  const added = after.filter((line) => !before.includes(line))
  return [finding(crdMismatch, { gone: gone.map(pathOf), added: added.map(pathOf) })]
}

function pathOf(line: string): string {
  return line.split(' ')[0] ?? line
}

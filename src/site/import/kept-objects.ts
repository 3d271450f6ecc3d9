/**
 * Finds what another tool deployed and must keep: Stackloom would replace it under running pods. Pure.
 */
import type { KubeObject } from '../../api/object.ts'
import { isManagedByStackloom } from '../../api/ownership.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { keptByImport } from './findings/existing.ts'

export function findKept(namespace: string, index: SnapshotIndex, findings: Finding[]): Pick<SiteFileCloud, 'keep'> {
  const isForeign = (object: KubeObject): boolean =>
    object.metadata.namespace === namespace && !isManagedByStackloom(object)
  const hasForeign = (groupKind: string): boolean => index.all(groupKind).some(isForeign)
  const keep: NonNullable<SiteFileCloud['keep']> = []
  if (hasForeign('k8s.cni.cncf.io/NetworkAttachmentDefinition')) keep.push('attachments')
  if (hasForeign(CONTROL_PLANE) || hasForeign(NODE_SET) || (keep.length > 0 && runsUnseen(namespace, index)))
    keep.push('control-plane')
  if (keep.length === 0) return {}
  findings.push(finding(keptByImport, { cloud: namespace, keep }))
  return { keep }
}

const CONTROL_PLANE = 'core.openstack.org/OpenStackControlPlane'
const NODE_SET = 'dataplane.openstack.org/OpenStackDataPlaneNodeSet'

/** Where control planes were not read, keystone's Service shows that one runs; its owner is not known then. */
function runsUnseen(namespace: string, index: SnapshotIndex): boolean {
  return index.unread(CONTROL_PLANE) !== undefined && index.get('Service', 'keystone-internal', namespace) !== undefined
}

/** Derives network attachments, their spans for pods, and the addresses that whereabouts allocated. */
import {
  type ParsedAttachment,
  type PodSpan,
  poolName,
  readAttachments,
  readPodSpans,
} from '../../addresses/attachments.ts'
import type { KubeObject } from '../../api/object.ts'
import { allocatedPodAddresses, type PodAddress } from '../../api/pod-networks.ts'
import type { ClusterState } from '../cluster-state.ts'

export const NAD = 'k8s.cni.cncf.io/NetworkAttachmentDefinition'
export const IP_POOL = 'whereabouts.cni.cncf.io/IPPool'

export function attachments(cluster: ClusterState): readonly ParsedAttachment[] {
  return readAttachments(cluster.all(NAD))
}

export function podSpans(cluster: ClusterState): readonly PodSpan[] {
  return readPodSpans(cluster.derive(attachments))
}

export function podAddresses(cluster: ClusterState): readonly PodAddress[] {
  return cluster.all(IP_POOL).flatMap(allocatedPodAddresses)
}

export function isPoolOf(pool: KubeObject, span: PodSpan): boolean {
  return pool.metadata.name === poolName(span)
}

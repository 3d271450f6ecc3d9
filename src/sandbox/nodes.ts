/** Nodes that exist on paper: what a cluster has before anybody deploys to it, for the actors to play on. */
import type { KubeObject } from '../api/object.ts'
import type { KubeClient } from '../kube/client.ts'
import { FIELD_MANAGER } from './cluster-objects.ts'

/** Workers that are ready. What they carry otherwise (labels, annotations) stays as people set it. */
export async function ensureNodes(client: KubeClient, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await client.apply(workerNode(name), { fieldManager: FIELD_MANAGER })
    const conditions = [{ type: 'Ready', status: 'True', reason: 'SandboxNode', message: 'there is no kubelet' }]
    await client.apply(
      { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } },
      { fieldManager: FIELD_MANAGER, subresource: 'status' },
    )
  }
}

function workerNode(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'node-role.kubernetes.io/worker': '' } },
  }
}

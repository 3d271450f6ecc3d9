/** A sandbox as a deployment needs it: nodes, storage, and the actors of what cannot run there. */
import type { KubeObject } from '../../../src/api/object.ts'
import type { KubeClient } from '../../../src/kube/client.ts'
import type { Connection } from '../../../src/kube/connect.ts'
import { play } from '../../../src/sandbox/actors/registry.ts'

export interface Cast {
  readonly leave: () => Promise<void>
}

/** Actors in this process, until they are told to leave. */
export function onStage(
  connection: Pick<Connection, 'client' | 'transport'>,
  names: readonly string[] = ['kubelet', 'nmstate', 'olm', 'openstack'],
  stepMs = 20,
): Cast {
  const end = new AbortController()
  const playing = play({ connection, names, signal: end.signal, stepMs })
  return {
    leave: async () => {
      end.abort()
      await playing
    },
  }
}

/** What a cluster has before Stackloom: its nodes and a storage class. */
export async function furnish(client: KubeClient, nodes: readonly string[]): Promise<void> {
  const objects: readonly KubeObject[] = [
    ...nodes.map((name) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name, 'node-role.kubernetes.io/worker': '' } },
    })),
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'local', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'kubernetes.io/no-provisioner',
    },
  ]
  for (const object of objects) await client.apply(object, { fieldManager: 'somebody' })
}

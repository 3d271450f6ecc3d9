/**
 * Simulates the OpenStackBackupConfig controller: labels Secrets, ConfigMaps and network attachments that no other object owns,
 * and reports how many.
 */
import type { KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Controller } from '../../../kube/controller.ts'
import type { ActorDeps } from '../actor.ts'
import { withTransitionTimes, writeStatus } from '../actor-status.ts'
import { ACTOR } from './control-plane.ts'

const backupConfigs = { kind: { apiVersion: 'backup.openstack.org/v1beta1', kind: 'OpenStackBackupConfig' } }

const labelledKinds = [
  ['secrets', { apiVersion: 'v1', kind: 'Secret' }],
  ['configMaps', { apiVersion: 'v1', kind: 'ConfigMap' }],
  ['networkAttachmentDefinitions', { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' }],
] as const
const labels = { 'backup.openstack.org/restore': 'true', 'backup.openstack.org/restore-order': '10' }

export function backupConfigController({ runtime }: ActorDeps): Controller {
  const { client, cache } = runtime
  return {
    name: 'openstack-backup-config',
    watches: [backupConfigs],
    workers: 1,
    reconcile: async ({ namespace = '', name }, context) => {
      const config = cache(backupConfigs).get(`${namespace}/${name}`)
      if (!config || config.metadata.deletionTimestamp !== undefined) return
      const counts: [string, number][] = []
      for (const [field, kind] of labelledKinds) counts.push([field, await labelUnowned(client, kind, namespace)])
      const ready = { type: 'Ready', status: 'True', reason: 'Ready', message: 'Setup complete' } as const
      const status = {
        conditions: withTransitionTimes(config, [ready], context.clock.now()),
        labeledResources: Object.fromEntries(counts),
      }
      await writeStatus(client, config, status, ACTOR)
    },
  }
}

async function labelUnowned(client: KubeClient, kind: { apiVersion: string; kind: string }, namespace: string) {
  if (!(await client.resource(kind))) return 0
  const { items } = await client.list(kind, { namespace })
  const unowned = items.filter(isUnowned)
  for (const { metadata } of unowned)
    await client.patch(
      { ...kind, namespace, name: metadata.name },
      { metadata: { labels } },
      { type: 'merge', fieldManager: ACTOR },
    )
  return unowned.length
}

function isUnowned({ metadata }: KubeObject): boolean {
  return (metadata.ownerReferences ?? []).length === 0 && metadata.name !== 'kube-root-ca.crt'
}

/**
 * Simulates how a control plane gets its message queues. Until 18.0-fr1 openstack-operator creates RabbitmqClusters; then it
 * creates RabbitMqs, from which infra-operator creates RabbitmqClusters until 18.0-fr5 and StatefulSets since 18.0-fr6.
 */
import { isRecord } from '../../../api/json.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { createMissing, withTransitionTimes, writeStatus } from '../actor-status.ts'
import type { Schema } from './spec-schema.ts'

const MANAGER = 'actor-openstack'
const RABBITMQ = { apiVersion: 'rabbitmq.openstack.org/v1beta1', kind: 'RabbitMq' }
const CLUSTER = { apiVersion: 'rabbitmq.com/v1beta1', kind: 'RabbitmqCluster' }

/** Creates what is missing and reports it as ready; its Service is a slot of the control plane. */
export async function ensureMessageQueues(
  client: KubeClient,
  controlPlane: KubeObject,
  schema: Schema,
  now: number,
): Promise<void> {
  const templates = schema.properties?.['rabbitmq']?.properties?.['templates']?.additionalProperties
  const fields = typeof templates === 'object' ? (templates.properties ?? {}) : {}
  const hasRabbitMq = (await client.resource(RABBITMQ)) !== undefined
  // infra-operator upgrades RabbitMQ itself since it manages the StatefulSet.
  const needsCluster = !('targetVersion' in fields) && (await client.resource(CLUSTER)) !== undefined
  for (const [name, template] of Object.entries(queueTemplates(controlPlane))) {
    const queue = hasRabbitMq
      ? await ensureQueue(client, controlPlane, {
          ...RABBITMQ,
          name,
          spec: { ...template, containerImage: 'simulated' },
        })
      : undefined
    if (queue) {
      const conditions = [{ type: 'Ready', status: 'True', reason: 'Ready', message: 'Setup complete' } as const]
      const status = {
        observedGeneration: queue.metadata.generation,
        conditions: withTransitionTimes(queue, conditions, now),
      }
      await writeStatus(client, queue, status, MANAGER)
    }
    if (needsCluster) await ensureQueue(client, queue ?? controlPlane, { ...CLUSTER, name, spec: {} })
  }
}

function queueTemplates({ spec }: KubeObject): Readonly<Record<string, object>> {
  const { rabbitmq } = spec as { readonly rabbitmq?: { enabled?: boolean; templates?: Record<string, object> } }
  return rabbitmq?.enabled !== false && isRecord(rabbitmq?.templates) ? rabbitmq.templates : {}
}

interface Queue {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly spec: object
}

async function ensureQueue(
  client: KubeClient,
  { apiVersion, kind, metadata: owner }: KubeObject,
  { name, spec, ...queue }: Queue,
): Promise<KubeObject | undefined> {
  const { namespace = '', uid = '' } = owner
  const ownerReferences = [
    { apiVersion, kind, name: owner.name, uid, controller: true, blockOwnerDeletion: true } as const,
  ]
  const wanted = { ...queue, metadata: { name, namespace, ownerReferences }, spec } as KubeObject
  const live = await client.get({ ...queue, namespace, name })
  await createMissing(client, live, wanted, MANAGER)
  return live
}

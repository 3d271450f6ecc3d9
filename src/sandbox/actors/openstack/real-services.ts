/** Runs the services of a control plane where OpenStack runs, and reports them with the conditions of openstack-operator. */
import type { Condition, KubeObject } from '../../../api/object.ts'
import { getField } from '../../../api/raw-object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { CloudState } from '../../openstack/cloud.ts'
import { defineCloud } from '../../openstack/cloud-definition.ts'
import type { OpenStackClouds } from '../../openstack/clouds.ts'
import { ensureAuthority } from './client-access.ts'
import { routeDomain } from './route-domain.ts'
import type { OverrideSlot, Schema } from './spec-schema.ts'

export type DraftCondition = Omit<Condition, 'lastTransitionTime'>

export const good = { status: 'True', reason: 'Ready', message: 'Setup complete' } as const

const NETCONFIG = { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' }

interface EnsureCloudInput {
  readonly client: KubeClient
  readonly controlPlane: KubeObject
  readonly slots: readonly OverrideSlot[]
  readonly services: readonly KubeObject[]
  readonly secret: KubeObject
  readonly schema: Schema
}

/** Undefined where nothing runs. */
export async function ensureCloud(
  openstack: OpenStackClouds | undefined,
  input: EnsureCloudInput,
): Promise<CloudState | undefined> {
  if (!openstack) return undefined
  const { client, controlPlane, slots, services, secret, schema } = input
  const { namespace = '' } = controlPlane.metadata
  const { items: netConfigs } = (await client.resource(NETCONFIG))
    ? await client.list(NETCONFIG, { namespace })
    : { items: [] }
  // Releases without the field have no TLS; the others have it unless it is switched off.
  const tls =
    schema.properties?.['tls'] !== undefined && getField(controlPlane, 'spec', 'tls', 'podLevel', 'enabled') !== false
  const domain = await routeDomain(client)
  const definition = defineCloud({ controlPlane, slots, services, secret, netConfigs, domain, tls })
  return openstack.ensure(definition, await ensureAuthority(client, controlPlane))
}

/** Upstream's name of the condition of each service. */
const conditionTypes: Readonly<Record<string, string>> = {
  keystone: 'OpenStackControlPlaneKeystoneAPIReady',
  placement: 'OpenStackControlPlanePlacementAPIReady',
  glance: 'OpenStackControlPlaneGlanceReady',
  neutron: 'OpenStackControlPlaneNeutronReady',
  nova: 'OpenStackControlPlaneNovaReady',
}

/** Nothing is ready before the service has answered. */
export function addServiceConditions(
  [ready, ...others]: readonly [DraftCondition, ...DraftCondition[]],
  state: CloudState,
): readonly [DraftCondition, ...DraftCondition[]] {
  if (ready.status !== 'True') return [ready, ...others]
  if (state.kind === 'starting') {
    const message = `OpenStackControlPlane in progress: ${state.doing}`
    return [{ type: 'Ready', status: 'False', reason: 'Requested', severity: 'Info', message }, ...others]
  }
  const bad = { status: 'False', reason: 'Error', severity: 'Error' } as const
  if (state.kind === 'failed') {
    const message = `OpenStackControlPlane error occurred ${state.doing}: ${state.reason}`
    return [{ type: 'Ready', ...bad, message }, ...others]
  }
  const conditions = state.answers.map(({ service, problem }): DraftCondition => {
    const type = conditionTypes[service] ?? service
    return problem === undefined
      ? { type, ...good }
      : { type, ...bad, message: `${service} does not work: it answers ${problem}` }
  })
  const failing = conditions.find(({ status }) => status !== 'True')
  const summary = failing ? { type: 'Ready', ...bad, message: failing.message ?? '' } : ready
  return [summary, ...others, ...conditions]
}

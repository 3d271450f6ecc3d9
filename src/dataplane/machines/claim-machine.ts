/** Phase -1, the acting half: taking a machine for a node, and giving it back. */

import { type KubeObject, objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { ReconcileContext } from '../../kube/controller.ts'
import { noFreeMachine, sshKeyMissing } from '../findings/data-plane.ts'
import type { BaremetalTemplate } from '../kinds/baremetal-template.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/node.ts'
import { ansibleAddress } from '../nodes/inventory.ts'
import type { NodeView } from '../nodes/node-view.ts'
import { FIELD_MANAGER, secretKind, secretValue, type World } from '../world.ts'
import {
  type BareMetalHost,
  byConsumer,
  chooseMachine,
  machineTemplate,
  withClaim,
  withoutClaim,
} from './bare-metal.ts'
import { renderNetworkData, renderUserData } from './cloud-init.ts'

const AUTHORIZED_KEYS = 'authorized_keys'
const ROOT_PASSWORD = 'NodeRootPassword'

/** Why no machine could be taken; undefined when the node has one, needs none, or has just taken one. */
export async function claimMachine(
  world: World,
  { node, role, machine, effective, addresses }: NodeView,
  { signal }: ReconcileContext,
): Promise<Finding | undefined> {
  const template = machineTemplate(role)
  if (!world.machines || !template || !role || machine.kind !== 'awaited' || machine.host) return undefined
  const { namespace = '' } = node.metadata
  const keys = world.secrets.get(objectKey({ namespace, name: template.deploymentSSHSecret }))
  const authorizedKeys = secretValue(keys, AUTHORIZED_KEYS)
  if (authorizedKeys === undefined) {
    const why = keys ? 'no-key' : 'absent'
    return finding(sshKeyMissing, { secret: template.deploymentSSHSecret, why })
  }
  const choice = chooseMachine(world.machines.list(), template)
  if (choice.kind === 'none') {
    const at = template.bmhNamespace ?? 'openshift-machine-api'
    return finding(noFreeMachine, {
      role: role.metadata.name,
      namespace: at,
      seen: choice.seen,
      why: choice.why,
    })
  }
  const secrets = await applyFirstBootSecrets(
    world,
    { node, template, address: ansibleAddress(effective, addresses), authorizedKeys },
    choice.host,
    signal,
  )
  const next = withClaim(choice.host, node, template, secrets)
  const written = await world.client.update(next, { fieldManager: FIELD_MANAGER, signal })
  world.machines.note(written as typeof next, choice.host.metadata.resourceVersion ?? '')
  return undefined
}

interface FirstBootInputs {
  readonly node: DataPlaneNode
  readonly template: BaremetalTemplate
  /** At which it is to be reached. */
  readonly address: string
  readonly authorizedKeys: string
}

/** What the machine is told at its first start, in Secrets beside it. */
async function applyFirstBootSecrets(
  world: World,
  { node, template, address, authorizedKeys }: FirstBootInputs,
  host: BareMetalHost,
  signal: AbortSignal,
): Promise<{ readonly userData: string; readonly networkData: string }> {
  const { namespace = '' } = node.metadata
  const hostName = node.spec.hostName || node.metadata.name
  const password = template.passwordSecret?.name ?? ''
  const rootPassword = secretValue(world.secrets.get(objectKey({ namespace, name: password })), ROOT_PASSWORD)
  const place = { namespace: host.metadata.namespace ?? '', node }
  const user = renderUserData(template, { hostName, authorizedKeys, rootPassword })
  const network = renderNetworkData(template, template.baremetalHosts?.[hostName]?.ctlPlaneIP || address)
  return {
    userData: await applyFirstBootSecret(world, place, 'userdata', user, signal),
    networkData: await applyFirstBootSecret(world, place, 'networkdata', network, signal),
  }
}

/** In the machine's namespace, where metal3 reads it. */
async function applyFirstBootSecret(
  world: World,
  { namespace, node }: { readonly namespace: string; readonly node: DataPlaneNode },
  what: 'userdata' | 'networkdata',
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const name = `${node.metadata.namespace}-${node.metadata.name}-${what}`
  const key = what === 'userdata' ? 'userData' : 'networkData'
  const secret: KubeObject = {
    ...secretKind,
    metadata: { name, namespace, labels: { 'stackloom.dev/node': node.metadata.name } },
    data: { [key]: Buffer.from(text, 'utf8').toString('base64') },
  }
  await world.client.apply(secret, { fieldManager: FIELD_MANAGER, signal })
  return name
}

/** metal3 cleans what is given back; what the machine was told at its first start goes too. */
export async function releaseMachine(world: World, node: DataPlaneNode, signal: AbortSignal): Promise<void> {
  for (const host of world.machines?.byIndex(byConsumer, objectKey(node.metadata)) ?? []) {
    if (host.spec.consumerRef?.kind !== dataPlaneNodes.kind) continue
    await world.client.update(withoutClaim(host), { fieldManager: FIELD_MANAGER, signal })
    for (const secret of [host.spec.userData, host.spec.networkData]) {
      if (secret) await world.client.delete({ ...secretKind, ...secret }, { signal })
    }
  }
}

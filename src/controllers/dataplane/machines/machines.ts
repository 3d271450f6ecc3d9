/** Phase -1, the acting half: taking a machine for a node, and giving it back. */
import type { BaremetalTemplate } from '../../../api/baremetal-template.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../../../api/dataplane-node.ts'
import { type KubeObject, keyOf } from '../../../api/object.ts'
import { noFreeMachine, sshKeyMissing } from '../../../errors/dataplane.ts'
import { type Finding, finding } from '../../../errors/finding.ts'
import type { ReconcileContext } from '../../../kube/controller.ts'
import { reachedAt } from '../inventory.ts'
import type { NodeView } from '../nodes/view.ts'
import { FIELD_MANAGER, secretKind, secretValue, type World } from '../world.ts'
import {
  type BareMetalHost,
  byConsumer,
  chooseMachine,
  claimed,
  machineTemplate,
  released,
} from './bare-metal.ts'
import { networkData, userData } from './cloud-init.ts'

const AUTHORIZED_KEYS = 'authorized_keys'
const ROOT_PASSWORD = 'NodeRootPassword'

/** Why no machine could be taken; undefined when the node has one, needs none, or has just taken one. */
export async function takeMachine(
  world: World,
  { node, role, machine, effective, addresses }: NodeView,
  { signal }: ReconcileContext,
): Promise<Finding | undefined> {
  const template = machineTemplate(role)
  if (!world.machines || !template || !role || machine.kind !== 'awaited' || machine.host) return undefined
  const { namespace = '' } = node.metadata
  const keys = world.secrets.get(keyOf({ namespace, name: template.deploymentSSHSecret }))
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
  const secrets = await firstStart(
    world,
    { node, template, address: reachedAt(effective, addresses), authorizedKeys },
    choice.host,
    signal,
  )
  const next = claimed(choice.host, node, template, secrets)
  const written = await world.client.update(next, { fieldManager: FIELD_MANAGER, signal })
  world.machines.note(written as typeof next, choice.host.metadata.resourceVersion ?? '')
  return undefined
}

interface Newcomer {
  readonly node: DataPlaneNode
  readonly template: BaremetalTemplate
  /** At which it is to be reached. */
  readonly address: string
  readonly authorizedKeys: string
}

/** What the machine is told at its first start, in Secrets beside it. */
async function firstStart(
  world: World,
  { node, template, address, authorizedKeys }: Newcomer,
  host: BareMetalHost,
  signal: AbortSignal,
): Promise<{ readonly userData: string; readonly networkData: string }> {
  const { namespace = '' } = node.metadata
  const hostName = node.spec.hostName || node.metadata.name
  const password = template.passwordSecret?.name ?? ''
  const rootPassword = secretValue(world.secrets.get(keyOf({ namespace, name: password })), ROOT_PASSWORD)
  const place = { namespace: host.metadata.namespace ?? '', node }
  const user = userData(template, { hostName, authorizedKeys, rootPassword })
  const network = networkData(template, template.baremetalHosts?.[hostName]?.ctlPlaneIP || address)
  return {
    userData: await firstStartSecret(world, place, 'userdata', user, signal),
    networkData: await firstStartSecret(world, place, 'networkdata', network, signal),
  }
}

/** In the machine's namespace, where metal3 reads it. */
async function firstStartSecret(
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
  for (const host of world.machines?.by(byConsumer, keyOf(node.metadata)) ?? []) {
    if (host.spec.consumerRef?.kind !== dataPlaneNodes.kind) continue
    await world.client.update(released(host), { fieldManager: FIELD_MANAGER, signal })
    for (const secret of [host.spec.userData, host.spec.networkData]) {
      if (secret) await world.client.delete({ ...secretKind, ...secret }, { signal })
    }
  }
}

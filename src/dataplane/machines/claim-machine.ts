/** Claims a BareMetalHost for a node (phase -1), and releases it when the node is deleted. */
import { type KubeObject, objectKey } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { type DataPlaneCaches, secretKind, secretValue } from '../caches.ts'
import { noFreeMachine, sshKeyMissing } from '../findings/data-plane.ts'
import type { BaremetalTemplate } from '../kinds/baremetal-template.ts'
import { type DataPlaneNode, dataPlaneNodes } from '../kinds/data-plane.ts'
import { ansibleAddress } from '../nodes/inventory.ts'
import type { NodeView } from '../nodes/node-view.ts'
import { FIELD_MANAGER } from '../writes.ts'
import {
  byConsumer,
  chooseMachine,
  DEFAULT_MACHINE_NAMESPACE,
  machineTemplate,
  withClaim,
  withoutClaim,
} from './bare-metal.ts'
import { renderNetworkData, renderUserData } from './cloud-init.ts'

const AUTHORIZED_KEYS = 'authorized_keys'
const ROOT_PASSWORD = 'NodeRootPassword'

type Client = Pick<Runtime['client'], 'apply' | 'update' | 'delete'>

/** Returns why no machine could be claimed; undefined when the node has one, needs none, or claimed one now. */
export async function claimMachine(
  client: Client,
  { machines, secrets }: Pick<DataPlaneCaches, 'machines' | 'secrets'>,
  { node, role, machine, effective, addresses }: NodeView,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const template = machineTemplate(role)
  if (!machines || !template || !role || machine.kind !== 'awaited' || machine.host) return undefined
  const { namespace = '' } = node.metadata
  const sshSecret = secrets.get(objectKey({ namespace, name: template.deploymentSSHSecret }))
  const authorizedKeys = secretValue(sshSecret, AUTHORIZED_KEYS)
  if (authorizedKeys === undefined) {
    const why = sshSecret ? 'no-key' : 'absent'
    return finding(sshKeyMissing, { secret: template.deploymentSSHSecret, why })
  }
  const choice = chooseMachine(machines.list(), template)
  if (choice.kind === 'none') {
    const { seen, why } = choice
    const machineNamespace = template.bmhNamespace ?? DEFAULT_MACHINE_NAMESPACE
    return finding(noFreeMachine, { role: role.metadata.name, namespace: machineNamespace, seen, why })
  }
  const passwordSecret = secrets.get(objectKey({ namespace, name: template.passwordSecret?.name ?? '' }))
  const firstBoot = renderFirstBoot(node, template, {
    address: ansibleAddress(effective, addresses),
    authorizedKeys,
    rootPassword: secretValue(passwordSecret, ROOT_PASSWORD),
  })
  // metal3 reads them in the namespace of the machine.
  const target = { client, node, namespace: choice.host.metadata.namespace ?? '' }
  const names = {
    userData: await applyFirstBootSecret(target, 'userData', firstBoot.userData, signal),
    networkData: await applyFirstBootSecret(target, 'networkData', firstBoot.networkData, signal),
  }
  const claimed = withClaim(choice.host, node, template, names)
  const written = await client.update(claimed, { fieldManager: FIELD_MANAGER, signal })
  machines.note(written as typeof claimed, choice.host.metadata.resourceVersion ?? '')
  return undefined
}

interface FirstBootInputs {
  /** The address at which Ansible will reach the node. */
  readonly address: string
  readonly authorizedKeys: string
  readonly rootPassword: string | undefined
}

function renderFirstBoot(
  node: DataPlaneNode,
  template: BaremetalTemplate,
  { address, authorizedKeys, rootPassword }: FirstBootInputs,
): { readonly userData: string; readonly networkData: string } {
  const hostName = node.spec.hostName || node.metadata.name
  return {
    userData: renderUserData(template, { hostName, authorizedKeys, rootPassword }),
    networkData: renderNetworkData(template, template.baremetalHosts?.[hostName]?.ctlPlaneIP || address),
  }
}

interface FirstBootTarget {
  readonly client: Client
  readonly node: DataPlaneNode
  readonly namespace: string
}

/** Returns the name of the Secret. */
async function applyFirstBootSecret(
  { client, node, namespace }: FirstBootTarget,
  key: 'userData' | 'networkData',
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const name = `${node.metadata.namespace}-${node.metadata.name}-${key.toLowerCase()}`
  const secret: KubeObject = {
    ...secretKind,
    metadata: { name, namespace, labels: { 'stackloom.dev/node': node.metadata.name } },
    data: { [key]: Buffer.from(text, 'utf8').toString('base64') },
  }
  await client.apply(secret, { fieldManager: FIELD_MANAGER, signal })
  return name
}

/** metal3 cleans a released machine; the Secrets of its first boot are deleted too. */
export async function releaseMachine(
  client: Client,
  machines: DataPlaneCaches['machines'],
  node: DataPlaneNode,
  signal: AbortSignal,
): Promise<void> {
  for (const host of machines?.byIndex(byConsumer, objectKey(node.metadata)) ?? []) {
    if (host.spec.consumerRef?.kind !== dataPlaneNodes.kind) continue
    await client.update(withoutClaim(host), { fieldManager: FIELD_MANAGER, signal })
    for (const secret of [host.spec.userData, host.spec.networkData]) {
      if (secret) await client.delete({ ...secretKind, ...secret }, { signal })
    }
  }
}

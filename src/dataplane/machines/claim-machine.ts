/** Claims a BareMetalHost for a node (phase -1), and releases it when the node is deleted. */
import { getOwn } from '../../api/collections.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { isAppliedBy } from '../../api/ownership.ts'
import { sameJson } from '../../api/same-json.ts'
import { objectInTheWay } from '../../errors/common.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { Runtime } from '../../kube/runtime.ts'
import { type DataPlaneCaches, type Secret, secretKind, secretValue } from '../caches.ts'
import { machineNamespaceNotAllowed, noFreeMachine, sshKeyMissing } from '../findings/data-plane.ts'
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
  mayUseMachines,
  withClaim,
  withoutClaim,
} from './bare-metal.ts'
import { renderNetworkData, renderUserData } from './cloud-init.ts'

const AUTHORIZED_KEYS = 'authorized_keys'
const ROOT_PASSWORD = 'NodeRootPassword'

const NODE_LABEL = 'stackloom.dev/node'
/** On a Secret of a first boot. It is in another namespace than its node, where an owner reference has no meaning. */
const NODE_UID_LABEL = 'stackloom.dev/node-uid'

type Client = Pick<Runtime['client'], 'get' | 'create' | 'update' | 'delete'>

/** Returns why no machine could be claimed; undefined when the node has one, needs none, or claimed one now. */
export async function claimMachine(
  client: Client,
  { machines, secrets, machineNamespaces }: Pick<DataPlaneCaches, 'machines' | 'secrets' | 'machineNamespaces'>,
  { node, role, machine, effective, addresses }: NodeView,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const template = machineTemplate(role)
  if (!machines || !template || !role || machine.kind !== 'awaited' || machine.host) return undefined
  const machineNamespace = resolveMachineNamespace(template)
  if (!mayUseMachines(node, machineNamespace, machineNamespaces)) {
    return finding(machineNamespaceNotAllowed, { role: role.metadata.name, namespace: machineNamespace })
  }
  const { namespace = '' } = node.metadata
  const readSecret = (name = ''): Promise<Secret | undefined> => secrets.read(objectKey({ namespace, name }), signal)
  const sshSecret = await readSecret(template.deploymentSSHSecret)
  const authorizedKeys = secretValue(sshSecret, AUTHORIZED_KEYS)
  if (authorizedKeys === undefined) {
    const why = sshSecret ? 'no-key' : 'absent'
    return finding(sshKeyMissing, { secret: template.deploymentSSHSecret, why })
  }
  const choice = chooseMachine(machines.list(), template)
  if (choice.kind === 'none') {
    const { seen, why } = choice
    return finding(noFreeMachine, { role: role.metadata.name, namespace: machineNamespace, seen, why })
  }
  const passwordSecret = await readSecret(template.passwordSecret?.name)
  const firstBoot = renderFirstBoot(node, template, {
    address: ansibleAddress(effective, addresses),
    authorizedKeys,
    rootPassword: secretValue(passwordSecret, ROOT_PASSWORD),
  })
  // metal3 reads them in the namespace of the machine.
  const target = { client, node, namespace: choice.host.metadata.namespace ?? '' }
  const inTheWay = await writeFirstBootSecrets(target, firstBoot, signal)
  if (inTheWay) return inTheWay
  const names = {
    userData: firstBootSecretName(node, 'userData'),
    networkData: firstBootSecretName(node, 'networkData'),
  }
  const claimed = withClaim(choice.host, node, template, names)
  const written = await client.update(claimed, { fieldManager: FIELD_MANAGER, signal })
  machines.note(written as typeof claimed, choice.host.metadata.resourceVersion ?? '')
  return undefined
}

function resolveMachineNamespace({ bmhNamespace = DEFAULT_MACHINE_NAMESPACE }: BaremetalTemplate): string {
  return bmhNamespace
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
    networkData: renderNetworkData(template, getOwn(template.baremetalHosts, hostName)?.ctlPlaneIP || address),
  }
}

interface FirstBootTarget {
  readonly client: Client
  readonly node: DataPlaneNode
  readonly namespace: string
}

const firstBootKeys = ['userData', 'networkData'] as const
type FirstBootKey = (typeof firstBootKeys)[number]

/** A namespace has no dot in its name: no two nodes have the same Secret. */
function firstBootSecretName({ metadata }: DataPlaneNode, key: FirstBootKey): string {
  return `${metadata.namespace}.${metadata.name}-${key.toLowerCase()}`
}

function isFirstBootSecretOf({ metadata }: KubeObject, node: DataPlaneNode): boolean {
  return node.metadata.uid !== undefined && metadata.labels?.[NODE_UID_LABEL] === node.metadata.uid
}

/** Returns the first Secret of another owner that is in the way. */
async function writeFirstBootSecrets(
  target: FirstBootTarget,
  texts: Readonly<Record<FirstBootKey, string>>,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  for (const key of firstBootKeys) {
    const inTheWay = await writeFirstBootSecret(target, key, texts[key], signal)
    if (inTheWay) return inTheWay
  }
  return undefined
}

async function writeFirstBootSecret(
  { client, node, namespace }: FirstBootTarget,
  key: FirstBootKey,
  text: string,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const name = firstBootSecretName(node, key)
  const { name: nodeName, uid = '' } = node.metadata
  const data = { [key]: Buffer.from(text, 'utf8').toString('base64') }
  const live = await client.get({ ...secretKind, namespace, name }, { signal })
  if (live && !isFirstBootSecretOf(live, node)) {
    const owner = `it was not created for the node ${objectKey(node.metadata)}`
    return finding(objectInTheWay, { kind: secretKind.kind, namespace, name, owner })
  }
  const options = { fieldManager: FIELD_MANAGER, signal }
  if (live) {
    if (!sameJson(live['data'], data)) await client.update({ ...live, ...secretKind, data }, options)
    return undefined
  }
  const labels = { [NODE_LABEL]: nodeName, [NODE_UID_LABEL]: uid }
  await client.create({ ...secretKind, metadata: { name, namespace, labels }, data }, options)
  return undefined
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
    await deleteFirstBootSecrets(client, node, host.metadata.namespace ?? '', signal)
  }
}

/** By their computed names: what the machine refers to may be a Secret of anyone. */
async function deleteFirstBootSecrets(
  client: Client,
  node: DataPlaneNode,
  namespace: string,
  signal: AbortSignal,
): Promise<void> {
  for (const key of firstBootKeys) {
    // Earlier versions separated the names by a hyphen and applied the Secret.
    const formerName = `${node.metadata.namespace}-${node.metadata.name}-${key.toLowerCase()}`
    for (const name of [firstBootSecretName(node, key), formerName]) {
      const secret = await client.get({ ...secretKind, namespace, name }, { signal })
      if (!secret) continue
      const isFormer =
        name === formerName &&
        secret.metadata.labels?.[NODE_LABEL] === node.metadata.name &&
        isAppliedBy(secret, FIELD_MANAGER)
      if (!isFormer && !isFirstBootSecretOf(secret, node)) continue
      const { uid } = secret.metadata
      const options = { signal, ...(uid !== undefined && { preconditions: { uid } }) }
      await client.delete({ ...secretKind, namespace, name }, options)
    }
  }
}

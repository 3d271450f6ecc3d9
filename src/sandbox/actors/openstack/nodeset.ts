/**
 * Simulates node sets and their deployments as in openstack-operator 0.6: `SetupReady` before any deployment, `deployed`
 * when a deployment has finished, and the hashes and images that it brought; since 18.0-fr6 with a summary of every Ansible
 * run. A deployment annotated `sandbox.stackloom.dev/fails: MESSAGE` fails, by `fails-on: HOST,HOST` only there.
 */
import { asRecord } from '../../../api/json.ts'
import { isLabelValue } from '../../../api/label-value.ts'
import { readComputeCell } from '../../../api/node-secrets.ts'
import { type KubeObject, objectKey } from '../../../api/object.ts'
import { getField, getList, getString } from '../../../api/raw-object.ts'
import { REMOVAL_LABEL, readService, type Service, serviceKind } from '../../../hosts/data-plane.ts'
import { type ContentRef, formatRef, readContent, referencedContents } from '../../../hosts/hosts-input.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { Controller } from '../../../kube/controller.ts'
import { parseAddress } from '../../../net/address.ts'
import type { ComputeNode } from '../../openstack/clouds.ts'
import { type ActorDeps, annotation } from '../actor.ts'
import { createMissing, withTransitionTimes, writeStatus } from '../actor-status.ts'
import { ACTOR } from './control-plane.ts'
import {
  copyDeployments,
  type DeploymentInput,
  recordDeployment,
  servicesOf,
  summarizeExecutions,
} from './deployment-record.ts'
import { crdSource, type Schema, servedSchema } from './spec-schema.ts'

const API = 'dataplane.openstack.org/v1beta1'
const nodeSets = { kind: { apiVersion: API, kind: 'OpenStackDataPlaneNodeSet' } }
const deployments = { kind: { apiVersion: API, kind: 'OpenStackDataPlaneDeployment' } }
const versions = { kind: { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackVersion' } }
const NODE_SET_CRD = 'openstackdataplanenodesets.dataplane.openstack.org'
const DEPLOYMENT_CRD = 'openstackdataplanedeployments.dataplane.openstack.org'
const DEPLOYMENT_FAILS = annotation('fails')
const FAILS_ON = annotation('fails-on')

const good = { status: 'True', reason: 'Ready', message: 'Setup complete' } as const
const asked = { status: 'False', reason: 'Requested', severity: 'Info', message: 'Deployment in progress' } as const

export function dataPlaneControllers({ runtime, stepMs, openstack }: ActorDeps): readonly Controller[] {
  const { client, cache } = runtime
  const crds = crdSource(NODE_SET_CRD)
  const deploymentCrds = crdSource(DEPLOYMENT_CRD)
  const nodeSetsOf = (deployment: KubeObject): readonly string[] =>
    (deployment['spec'] as { nodeSets?: readonly string[] }).nodeSets ?? []
  return [
    {
      name: 'openstack-nodeset',
      watches: [
        nodeSets,
        {
          ...crds,
          map: () =>
            cache(nodeSets)
              .list()
              .map(({ metadata }) => objectKey(metadata)),
        },
        {
          ...deployments,
          map: (deployment) => nodeSetsOf(deployment).map((name) => `${deployment.metadata.namespace}/${name}`),
        },
      ],
      reconcile: async ({ namespace = '', name }, { clock }) => {
        const nodeSet = cache(nodeSets).get(`${namespace}/${name}`)
        if (!nodeSet) return openstack?.setComputes(namespace, name, [])
        await ensureServices(client, nodeSet)
        const nodeSetDeployments = cache(deployments)
          .list(namespace)
          .filter((deployment) => nodeSetsOf(deployment).includes(name))
        const deployed = nodeSetDeployments.some((deployment) => isDeployed(deployment))
        if (openstack && deployed) {
          const services = (await listServices(client, namespace)).map(readService)
          openstack.setComputes(namespace, name, runningComputes(nodeSet, nodeSetDeployments, services))
        }
        const last = deployed ? good : asked
        const conditions = [
          { type: 'Ready', ...last },
          { type: 'SetupReady', ...good },
          { type: 'DeploymentReady', ...last },
          { type: 'InputReady', ...good },
        ]
        const known = servedSchema(cache(crds).get(NODE_SET_CRD), 'status')?.properties ?? {}
        const status = {
          observedGeneration: nodeSet.metadata.generation,
          ...keepKnown(copyDeployments(nodeSet, nodeSetDeployments), known),
          ...keepKnown({ deploymentExecutionSummaries: copySummaries(nodeSetDeployments) }, known),
          conditions: withTransitionTimes(nodeSet, conditions, clock.now()),
        }
        await writeStatus(client, nodeSet, status, ACTOR)
      },
    },
    {
      name: 'openstack-dataplane-deployment',
      watches: [deployments, { ...deploymentCrds, map: () => [] }],
      reconcile: async ({ namespace = '', name }, { clock }) => {
        const deployment = cache(deployments).get(`${namespace}/${name}`)
        if (!deployment || isDeployed(deployment)) return undefined
        const { generation, creationTimestamp = '', annotations } = deployment.metadata
        const why = annotations?.[DEPLOYMENT_FAILS]
        const due = Date.parse(creationTimestamp) + stepMs
        if (why === undefined && clock.now() < due) return { requeueAfterMs: stepMs }
        const names = nodeSetsOf(deployment)
        const members = names.flatMap((set) => cache(nodeSets).get(`${namespace}/${set}`) ?? [])
        if (members.length < names.length || !members.every(isSetUp)) return { requeueAfterMs: stepMs }
        const state =
          why === undefined ? good : ({ status: 'False', reason: 'Error', severity: 'Error', message: why } as const)
        const version = cache(versions).list(namespace)[0]
        const input: DeploymentInput = {
          deployment,
          nodeSets: members,
          version,
          failed: why !== undefined,
          ...readFailedHosts(deployment),
          ...(await readInputs(client, namespace, members)),
        }
        const conditions = ['Ready', 'DeploymentReady', 'NodeSetDeploymentReady'].map((type) => ({ type, ...state }))
        const known = servedSchema(cache(deploymentCrds).get(DEPLOYMENT_CRD), 'status')?.properties ?? {}
        const status = {
          observedGeneration: generation,
          deployed: why === undefined,
          ...(why === undefined && findTargetVersion(version)),
          ...keepKnown(recordDeployment(input, clock.now()), known),
          ...keepKnown({ ansibleExecutionSummaries: summarizeExecutions(input) }, known),
          conditions: withTransitionTimes(deployment, conditions, clock.now()),
        }
        await writeStatus(client, deployment, status, ACTOR)
        return undefined
      },
    },
  ]
}

/** A status with a field that the release does not have would be written again and again. */
function keepKnown(
  fields: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, Schema>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => name in known && value !== undefined))
}

function copySummaries(deployments: readonly KubeObject[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    deployments.flatMap(({ metadata, status }) => {
      const summaries = (status as { ansibleExecutionSummaries?: object } | undefined)?.ansibleExecutionSummaries
      return summaries ? [[metadata.name, summaries]] : []
    }),
  )
}

/** The services that the operator ships. It creates no other: a service with a name of its own belongs to its author. */
const shippedServices: ReadonlySet<string> = new Set([
  'bootstrap',
  'ceph-client',
  'ceph-hci-pre',
  'configure-network',
  'configure-os',
  'configure-ovs-dpdk',
  'download-cache',
  'frr',
  'install-certs',
  'install-os',
  'libvirt',
  'logging',
  'neutron-dhcp',
  'neutron-metadata',
  'neutron-ovn',
  'neutron-sriov',
  'nova',
  'ovn',
  'ovn-bgp-agent',
  'reboot-os',
  'redhat',
  'repo-setup',
  'run-os',
  'ssh-known-hosts',
  'swift',
  'telemetry',
  'telemetry-power-monitoring',
  'update',
  'update-services',
  'validate-network',
])

/** The operator creates the shipped services that a node set names; here without tasks and configuration. */
async function ensureServices(client: KubeClient, nodeSet: KubeObject): Promise<void> {
  const { namespace = '' } = nodeSet.metadata
  if (!(await client.resource(serviceKind))) return
  for (const name of servicesOf(nodeSet).filter((service) => shippedServices.has(service))) {
    const live = await client.get({ ...serviceKind, namespace, name })
    const service = { ...serviceKind, metadata: { name, namespace }, spec: { edpmServiceType: name } }
    await createMissing(client, live, service, ACTOR)
  }
}

/** None where the release does not serve them. */
async function listServices(client: KubeClient, namespace: string): Promise<readonly KubeObject[]> {
  if (!(await client.resource(serviceKind))) return []
  return (await client.list(serviceKind, { namespace })).items.map((item) => ({ ...item, ...serviceKind }))
}

/** Services, and hashes of the Secrets and ConfigMaps that they and the inventories read. */
async function readInputs(
  client: KubeClient,
  namespace: string,
  members: readonly KubeObject[],
): Promise<Pick<DeploymentInput, 'services' | 'hashOf'>> {
  const services = await listServices(client, namespace)
  const hashes = new Map<string, string>()
  for (const ref of referencedContents({ objects: [...members, ...services], unread: [] })) {
    const found = await client.get({ ...ref, apiVersion: 'v1' })
    const content = readContent(found && { ...found, kind: ref.kind })
    if (content.kind === 'hash') hashes.set(formatRef(ref), content.hash)
  }
  return { services, hashOf: (ref: ContentRef) => hashes.get(formatRef(ref)) }
}

/** A deployment waits for its node sets, as upstream's does: their services are created with their setup. */
function isSetUp(nodeSet: KubeObject): boolean {
  const { generation } = nodeSet.metadata
  const conditions = getList(nodeSet, 'status', 'conditions')
  return (
    (getField(nodeSet, 'status', 'observedGeneration') ?? generation) === generation &&
    conditions.some((condition) => getString(condition, 'type') === 'SetupReady')
  )
}

function isDeployed(deployment: KubeObject): boolean {
  return (deployment['status'] as { deployed?: boolean } | undefined)?.deployed === true
}

/** Hosts get the target version of the cloud. */
function findTargetVersion(version: KubeObject | undefined): { readonly deployedVersion?: string } {
  const target = (version?.['spec'] as { targetVersion?: string } | undefined)?.targetVersion
  return target === undefined ? {} : { deployedVersion: target }
}

function readFailedHosts({ metadata }: KubeObject): Pick<DeploymentInput, 'failsOn'> {
  const hosts = metadata.annotations?.[FAILS_ON]?.split(',')
  return hosts ? { failsOn: hosts } : {}
}

/** The playbook of a removal stops nova-compute before the host leaves its node set. */
export function runningComputes(
  nodeSet: KubeObject,
  deployments: readonly KubeObject[],
  services: readonly Service[],
): readonly ComputeNode[] {
  const stopped = deployments
    .filter((deployment) => isDeployed(deployment))
    .flatMap(({ metadata }) => metadata.labels?.[REMOVAL_LABEL] ?? [])
  return computeNodes(nodeSet, services).filter(
    ({ name }) => !stopped.some((host) => `${name}.`.startsWith(`${host}.`)),
  )
}

/** The shipped service is that of cell1; here it has no configuration that says so. */
const NOVA = 'nova'

/** The cell whose configuration nova-compute of a node set reads. Of several services of its type, the first one runs. */
function computeCell(nodeSet: KubeObject, services: readonly Service[]): string | undefined {
  const known = servicesOf(nodeSet).flatMap((name) => services.find((service) => service.name === name) ?? [])
  const nova = known.find(({ type }) => type === NOVA)
  const [cell] =
    nova?.sources.flatMap(({ kind, name }) => (kind === 'Secret' ? (readComputeCell(name) ?? []) : [])) ?? []
  return cell ?? (nova?.name === NOVA ? 'cell1' : undefined)
}

/**
 * The nodes that run nova-compute, with their cell. Names become paths on this machine and lines of files, so a node is left
 * out whose name cannot be that of a host.
 */
function computeNodes(nodeSet: KubeObject, services: readonly Service[]): readonly ComputeNode[] {
  const cell = computeCell(nodeSet, services)
  if (cell === undefined || !isLabelValue(cell)) return []
  const nodes = Object.entries(asRecord(getField(nodeSet, 'spec', 'nodes'))).map(([key, node]) => ({
    name: getString(node, 'hostName') ?? key,
    cell,
    addresses: Object.fromEntries(
      getList(node, 'networks').flatMap((network) => {
        const fixed = getString(network, 'fixedIP') ?? ''
        return parseAddress(fixed) ? [[getString(network, 'name') ?? '', fixed] as const] : []
      }),
    ),
  }))
  return nodes.filter(({ name }) => isLabelValue(name))
}

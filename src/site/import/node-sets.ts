/**
 * Imports OpenStackDataPlaneNodeSets as `hosts` and `nodeSets` of a cloud. What has no field of its own there becomes
 * raw fields; credentials are left out and reported, because site files are stored in Git.
 *
 * Pure. Knows the spec of a NodeSet; the sources (clusters, values files, conversions) bring it into this form.
 */
import { asList, asRecord, asString, asStrings, isRecord, type JsonRecord } from '../../api/json.ts'
import { readComputeCell } from '../../api/node-secrets.ts'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFileCloud, SiteFileHost, SiteFileNodeSet } from '../../api/site.ts'
import { type Finding, finding, type Where } from '../../errors/finding.ts'
import { findSecretStart, findUrlPasswords } from '../../ini/credentials.ts'
import { parseAddress } from '../../net/address.ts'
import { hostAddressesChosen, valueLeftOut } from './findings/existing.ts'
import { createSubnetPins, type SubnetPins } from './subnet-pins.ts'

export interface NodeSetSource {
  readonly name: string
  readonly spec: JsonRecord
  readonly cell?: string | undefined
  readonly novaConfig?: string | undefined
  /** Where a field of the spec is. */
  readonly locate: (path: readonly (string | number)[]) => Where | undefined
}

export interface NodeSetContext {
  /** The networks of the cloud; undefined where the source does not have them. */
  readonly networks: readonly string[] | undefined
  /** The addresses that a host has already, by network. */
  readonly addresses?: (host: string) => Readonly<Record<string, readonly string[]>>
  readonly findings: Finding[]
}

/** The cloud with the hosts and node sets of these NodeSets, and the cells that they are in. */
export function addNodeSets(
  cloud: SiteFileCloud,
  sources: readonly NodeSetSource[],
  context: NodeSetContext,
): SiteFileCloud {
  if (sources.length === 0) return cloud
  const subnetPins = createSubnetPins(cloud, listTaken(sources, context))
  const imported = sources.map((source) => importNodeSet(source, subnetPins, context))
  const nodeSets = imported.map(({ nodeSet }) => nodeSet)
  const hosts = imported.flatMap((result) => result.hosts)
  const nova = cloud.services?.['nova']
  const settings = typeof nova === 'object' ? nova : {}
  const known = settings.cells ?? ['cell1']
  const cells = [...new Set([...known, ...nodeSets.flatMap(({ cell }) => cell ?? [])])]
  const services = cells.length > known.length ? { ...cloud.services, nova: { ...settings, cells } } : cloud.services
  return { ...cloud, ...(services && { services }), hosts, nodeSets }
}

/** Every address that a host has already. */
function listTaken(sources: readonly NodeSetSource[], { addresses }: NodeSetContext): readonly string[] {
  const nodes = sources.flatMap(({ spec }) => Object.entries(asRecord(spec['nodes'])))
  return nodes.flatMap(([key, node]) => {
    const { hostName, networks } = asRecord(node)
    const fixed = asList(networks).flatMap((network) => asString(asRecord(network)['fixedIP']) ?? [])
    const held = [key, asString(hostName) ?? key].flatMap((name) => Object.values(addresses?.(name) ?? {}).flat())
    return [...fixed, ...held]
  })
}

interface ImportedNodeSet {
  readonly nodeSet: SiteFileNodeSet
  readonly hosts: readonly SiteFileHost[]
}

/** What the API server fills in, or the documents have anyway. */
const DEFAULTS: JsonRecord = { tlsEnabled: true, secretMaxSize: 1_048_576 }

function importNodeSet(source: NodeSetSource, subnetPins: SubnetPins, context: NodeSetContext): ImportedNodeSet {
  const { name, spec, cell, novaConfig } = source
  const template = asRecord(spec['nodeTemplate'])
  const ansible = asRecord(template['ansible'])
  const varsPath = ['nodeTemplate', 'ansible', 'ansibleVars']
  const ansibleVars = withoutSecrets(asRecord(ansible['ansibleVars']), varsPath, source, context)
  const hosts = Object.entries(asRecord(spec['nodes'])).map(([key, node]) =>
    importHost(key, asRecord(node), template['networks'], { source, subnetPins, context }),
  )
  for (const { where, ...facts } of subnetPins.takeChosen())
    context.findings.push(finding(hostAddressesChosen, { nodeSet: name, ...facts }, { where }))
  const networks = sharedNetworks(hosts)
  const services = spec['services']
  const nodeSet = withoutEmpty({
    name,
    cell: cell === 'cell1' ? undefined : cell,
    networks,
    ansibleUser: asString(ansible['ansibleUser']),
    sshSecret: asString(template['ansibleSSHPrivateKeySecret']),
    services: Array.isArray(services) ? [...asStrings(services)] : undefined,
    ansibleVars,
    ...importProvisioning(source, context),
    novaConfig,
    overrides: rawSpec(spec),
  })
  return {
    nodeSet: nodeSet as SiteFileNodeSet,
    hosts: hosts.map(({ networks: hostNetworks, ...host }) =>
      networks || !hostNetworks ? host : { ...host, networks: hostNetworks },
    ),
  }
}

function importProvisioning({ name, spec, locate }: NodeSetSource, context: NodeSetContext): Partial<SiteFileNodeSet> {
  const { preProvisioned, baremetalSetTemplate } = spec
  if (!isRecord(baremetalSetTemplate)) return preProvisioned === true ? {} : { preProvisioned: false }
  if (preProvisioned !== true) return { baremetalSetTemplate }
  const where = locate(['baremetalSetTemplate'])
  leaveOut(`baremetalSetTemplate of ${name}`, 'its hosts are preProvisioned', where, context)
  return {}
}

/** Fields that a node set of a site file has in its own form. */
const SPEC_FIELDS = [
  'services',
  'preProvisioned',
  'baremetalSetTemplate',
  'networkAttachments',
  'nodeTemplate',
  'nodes',
]
const TEMPLATE_FIELDS = ['ansible', 'ansibleSSHPrivateKeySecret', 'networks']
const ANSIBLE_FIELDS = ['ansibleUser', 'ansibleVars']

/** What a node set has no field for, without what the documents have anyway. */
function rawSpec(spec: JsonRecord): JsonRecord {
  const template = asRecord(spec['nodeTemplate'])
  const attachments = spec['networkAttachments']
  return withoutEmpty({
    ...withoutValues(withoutKeys(spec, SPEC_FIELDS), DEFAULTS),
    networkAttachments: asStrings(attachments).join() === 'ctlplane' ? undefined : (attachments ?? null),
    nodeTemplate: withoutEmpty({
      ...withoutValues(withoutKeys(template, TEMPLATE_FIELDS), { managementNetwork: 'ctlplane' }),
      ansible: withoutValues(withoutKeys(asRecord(template['ansible']), ANSIBLE_FIELDS), { ansiblePort: 22 }),
    }),
  })
}

function sharedNetworks(hosts: readonly SiteFileHost[]): string[] | undefined {
  const [first] = hosts
  return hosts.every(({ networks }) => networks?.join() === first?.networks?.join()) ? first?.networks : undefined
}

interface HostImport {
  readonly source: NodeSetSource
  readonly subnetPins: SubnetPins
  readonly context: NodeSetContext
}

function importHost(
  key: string,
  node: JsonRecord,
  commonNetworks: unknown,
  { source, subnetPins, context }: HostImport,
): SiteFileHost {
  const { hostName, ansible, networks, ...others } = node
  const { ansibleHost, ansibleVars, ...moreAnsible } = asRecord(ansible)
  const ownList = asList(networks).length > 0
  const path = ownList ? ['nodes', key, 'networks'] : ['nodeTemplate', 'networks']
  const requested = asList(ownList ? networks : commonNetworks).flatMap((item, index) =>
    readHostNetwork(asRecord(item), [...path, index], source, context),
  )
  const addresses = pinAddresses(requested, [key, asString(hostName) ?? key], subnetPins, context)
  const reachedAt = asString(ansibleHost)
  // The field of the site file takes addresses only.
  const isAddress = parseAddress(reachedAt ?? '') !== undefined
  const overrides = {
    ...others,
    hostName: hostName === key ? undefined : hostName,
    ansible: withoutEmpty({
      ...moreAnsible,
      ansibleHost: isAddress ? undefined : reachedAt,
      ansibleVars: withoutSecrets(asRecord(ansibleVars), ['nodes', key, 'ansible', 'ansibleVars'], source, context),
    }),
  }
  return withoutEmpty({
    name: key,
    nodeSet: source.name,
    networks: requested.length > 0 ? requested.map(({ name }) => name) : undefined,
    addresses,
    ansibleHost: isAddress && reachedAt !== addresses['ctlplane'] ? reachedAt : undefined,
    overrides: withoutEmpty(overrides),
  }) as SiteFileHost
}

/** The fixed addresses of a host, those that its IPSet has, and those in a subnet that the planner would not choose. */
function pinAddresses(
  requested: readonly HostNetwork[],
  names: readonly string[],
  subnetPins: SubnetPins,
  context: NodeSetContext,
): Readonly<Record<string, string | string[]>> {
  const held = Object.assign({}, ...names.map((name) => context.addresses?.(name))) as Readonly<
    Record<string, readonly string[]>
  >
  const pins: Record<string, string | string[]> = {}
  for (const { name, fixedIp, subnet, where } of requested) {
    const known = fixedIp === undefined ? (held[name] ?? []) : [fixedIp]
    const [first, ...more] = known.length === 0 && subnet ? subnetPins.choose(name, subnet, where) : known
    if (first !== undefined) pins[name] = more.length === 0 ? first : [first, ...more]
  }
  return pins
}

interface HostNetwork {
  readonly name: string
  readonly fixedIp: string | undefined
  readonly subnet: string | undefined
  readonly where: Where | undefined
}

/** Upstream compares names of networks without case: `InternalApi` is `internalapi`. */
function readHostNetwork(
  { name, subnetName, fixedIP, defaultRoute }: JsonRecord,
  path: readonly (string | number)[],
  { locate, name: nodeSet }: NodeSetSource,
  context: NodeSetContext,
): readonly HostNetwork[] {
  const network = asString(name)?.toLowerCase()
  if (network === undefined) return []
  if (context.networks && !context.networks.includes(network)) {
    leaveOut(
      `the network ${network} of ${nodeSet}`,
      'the cloud has no such network',
      locate([...path, 'name']),
      context,
    )
    return []
  }
  if (defaultRoute === true && network !== 'ctlplane') {
    const why = 'hosts get their default route on ctlplane'
    leaveOut(`the default route of ${nodeSet} on ${network}`, why, locate([...path, 'defaultRoute']), context)
  }
  const where = locate([...path, 'subnetName'])
  return [{ name: network, fixedIp: asString(fixedIP), subnet: asString(subnetName), where }]
}

function withoutSecrets(
  vars: JsonRecord,
  path: readonly string[],
  { locate }: NodeSetSource,
  context: NodeSetContext,
): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const [variable, value] of Object.entries(vars)) {
    if (!holdsSecret(variable, value)) {
      kept[variable] = value
      continue
    }
    const why = 'it may hold a credential; keep it in a Secret, and name that under ansibleVarsFrom in overrides'
    leaveOut(`the Ansible variable ${variable}`, why, locate([...path, variable]), context)
  }
  return kept
}

const SECRET_NAME = /password|passwd|secret$|token|passphrase|private_?key|_logins$/i

/** A value that only refers to another variable, such as `{{ registry_password }}`, is none. */
function holdsSecret(name: string, value: unknown): boolean {
  if (typeof value === 'object' && value !== null) {
    return (
      Object.entries(value).some(([key, child]) => holdsSecret(Array.isArray(value) ? name : key, child)) ||
      name.endsWith('_logins')
    )
  }
  if (typeof value !== 'string' || value === '' || /^\s*\{\{[^}]*\}\}\s*$/.test(value)) return false
  return SECRET_NAME.test(name) || value.split('\n').some(holdsSecretText)
}

function holdsSecretText(line: string): boolean {
  const start = findSecretStart(line)
  const rest = start === undefined ? '' : line.slice(start).trim()
  return (rest !== '' && !/^["']?\{\{/.test(rest)) || findUrlPasswords(line).length > 0
}

function leaveOut(what: string, why: string, where: Where | undefined, { findings }: NodeSetContext): void {
  findings.push(finding(valueLeftOut, { what, why }, { where }))
}

/** Without fields that are undefined or have no fields themselves; null stays, because it removes a field. */
function withoutEmpty(fields: JsonRecord): JsonRecord {
  const isFilled = (value: unknown): boolean =>
    value !== undefined && !(isRecord(value) && Object.keys(value).length === 0)
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isFilled(value)))
}

function withoutKeys(fields: JsonRecord, keys: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)))
}

function withoutValues(fields: JsonRecord, defaults: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => defaults[key] !== value))
}

/** The cell that a nova service configures, by the Secret that the cell's operator writes. */
function novaCell(service: KubeObject): string | undefined {
  const { dataSources, secrets } = asRecord(service['spec'])
  const sources = asList(dataSources).map((source) => asRecord(asRecord(source)['secretRef'])['name'])
  return [...sources, ...asList(secrets)].flatMap((name) => readComputeCell(asString(name) ?? '') ?? []).at(0)
}

/** NodeSet objects in the form that `addNodeSets` takes, with the cells of their nova services. */
export function nodeSetSources(
  nodeSets: readonly KubeObject[],
  services: readonly KubeObject[],
): readonly NodeSetSource[] {
  const cells = new Map(services.map((service) => [service.metadata.name, novaCell(service)]))
  return nodeSets.map(({ apiVersion, kind, metadata, ...object }) => {
    const spec = asRecord(object['spec'])
    const { name, namespace } = metadata
    const location = { apiVersion, kind, name, ...(namespace !== undefined && { namespace }) }
    return {
      name,
      spec,
      cell: asStrings(spec['services']).flatMap((service) => cells.get(service) ?? [])[0],
      locate: (path) => ({ ...location, path: ['spec', ...path].join('.') }),
    }
  })
}

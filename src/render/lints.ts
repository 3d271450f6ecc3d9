/**
 * Reports problems of a plan that show only in its documents: quorums, DNS, endpoints, backends, raw fields.
 *
 * Raw fields are merged last and win over the plan, so conflicts are reported instead of corrected. Pure.
 */
import { type FastSchema, fitSchema, MISFIT, readSchema } from '../api/fit-schema.ts'
import { type NetConfigSpec, netConfigViolations } from '../api/netconfig.ts'
import type { KubeObject } from '../api/object.ts'
import { type Finding, finding, hasErrors } from '../errors/finding.ts'
import { parseAddress } from '../net/address.ts'
import { type RangeSet, rangeSet, setContains } from '../net/range-set.ts'
import type { Plan, PlannedCloud, PlannedNetwork } from '../plan/plan.ts'
import { type LocatePath, serviceSettings } from '../plan/slots/cloud-services.ts'
import { checkRawFields, leaves, type RawSource, rawFieldPath, rawSources } from '../plan/slots/raw-fields.ts'
import { settingPath } from '../site/site.ts'
import { mergeRawFields, plannedSpec, specWithoutEndpoints } from './control-plane/control-plane.ts'
import { countPods, hasEndpoint, listEndpoints } from './control-plane/endpoints.ts'
import { type ResolvedSlot, resolveSlots } from './control-plane/slot-values.ts'
import { buildTemplateContext, dnsServers, type TemplateContext, templates } from './control-plane/templates.ts'
import {
  endpointAddressShared,
  fewNodes,
  foreignAddress,
  foreignPool,
  keptElsewhere,
  netConfigRefused,
  noBackend,
  noDnsServer,
  noPlaceForAttachments,
  noPlaceForEndpoint,
  overrideConflict,
  prerequisites,
} from './findings.ts'
import { asFields, type Fields } from './merge.ts'
import { networksAnnotation } from './multus.ts'
import { renderNetConfig } from './netconfig.ts'
import { installRequirements } from './operators.ts'
import { lintRelease } from './release-lints.ts'
import { spanRanges } from './spans.ts'

export async function lintDocuments(plan: Plan, locate: LocatePath): Promise<readonly Finding[]> {
  const raw = plan.clouds.flatMap((cloud) => checkRawFields(cloud.from, plan.slots, locate))
  // A plan with errors may lack values that documents need.
  if (hasErrors(plan.findings)) return raw
  const { nodes } = plan.from.cluster
  const needed = installRequirements(plan)
  const netConfigSchema = readSchema('netConfig')
  const where = locate(['spec', 'cluster', 'nodes'])
  return [
    ...raw,
    ...lintRelease(plan, locate),
    ...(nodes.length < 3 ? [finding(fewNodes, { nodes: nodes.length }, { where })] : []),
    ...(needed.length > 0
      ? [finding(prerequisites, { what: needed }, { where: locate(['spec', 'cluster', 'platform']) })]
      : []),
    ...(
      await Promise.all(
        plan.clouds.map(async (cloud) => [
          ...keptFindings(cloud, locate),
          ...lintOverrides(plan, cloud, locate),
          ...dnsFindings(plan, cloud, locate),
          ...(await netConfigFindings(plan, cloud, netConfigSchema, locate)),
          ...attachmentFindings(plan, cloud, locate),
          ...endpointFindings(plan, cloud, locate),
          ...backendFindings(plan, cloud, locate),
        ]),
      )
    ).flat(),
  ]
}

function keptFindings({ name, from }: PlannedCloud, locate: LocatePath): readonly Finding[] {
  const { keep = [] } = from.file
  if (keep.length === 0) return []
  return [finding(keptElsewhere, { cloud: name, keep }, { where: locate([...from.path, 'keep']) })]
}

function dnsFindings(plan: Plan, cloud: PlannedCloud, locate: LocatePath): readonly Finding[] {
  if (dnsServers(plan, cloud).length > 0) return []
  return [finding(noDnsServer, { cloud: cloud.name }, { where: locate(cloud.from.path) })]
}

/**
 * The rules of the webhook that admits it. Overlaps on nodes are errors of the plan, with which nothing is rendered; those
 * of networks that only hosts have are reported here.
 */
async function netConfigFindings(
  plan: Plan,
  cloud: PlannedCloud,
  schema: FastSchema,
  locate: LocatePath,
): Promise<readonly Finding[]> {
  const sharing = new Map() // Annotations are not checked.
  const found = renderNetConfig(plan, cloud, sharing).map(async (object) => {
    const fitted = fitSchema(schema, object['spec'])
    const violations =
      fitted === MISFIT ? await shapeViolations(object['spec']) : netConfigViolations(fitted as NetConfigSpec)
    return violations.map(({ field, detail }) => {
      const where = locateNetConfigField(object, field, cloud, locate)
      return finding(netConfigRefused, { cloud: cloud.name, field, detail }, { where })
    })
  })
  return (await Promise.all(found)).flat()
}

/** As zod reads it, which is loaded only for a NetConfig that may have the wrong shape. */
async function shapeViolations(spec: unknown): Promise<readonly { readonly field: string; readonly detail: string }[]> {
  const { netConfigKind } = await import('../api/netconfig-kind.ts')
  const parsed = netConfigKind.spec.safeParse(spec)
  return parsed.success
    ? netConfigViolations(parsed.data as NetConfigSpec)
    : parsed.error.issues.map(({ path, message }) => ({ field: ['spec', ...path].join('.'), detail: message }))
}

/** The network of `spec.networks[0].subnets[0].cidr` in the site file. */
function locateNetConfigField(
  object: KubeObject,
  field: string,
  cloud: PlannedCloud,
  locate: LocatePath,
): ReturnType<LocatePath> {
  const [, index] = /^spec\.networks(?:\[|\.)(\d+)/.exec(field) ?? []
  const networks = asFields(object['spec'])['networks']
  const name = Array.isArray(networks) ? asText(asFields(networks[Number(index)])['name']) : undefined
  const network = cloud.from.networks.find((network) => network.name === name?.toLowerCase())
  const path = network && settingPath(network, 'subnets')
  return locate(path ?? [...cloud.from.path, 'networks'])
}

/** A service can be attached to networks if its template calls `attach`. */
function isAttachable(service: string, context: TemplateContext): boolean {
  let isCalled = false
  const attach = (): readonly string[] => {
    isCalled = true
    return []
  }
  templates[service]?.({ ...context, attach })
  return isCalled
}

function attachmentFindings(plan: Plan, cloud: PlannedCloud, locate: LocatePath): readonly Finding[] {
  const configured = Object.keys(cloud.from.file.services ?? {}).filter(
    (name) => templates[name] && serviceSettings(cloud.from, name).networkAttachments,
  )
  if (configured.length === 0) return []
  const context = buildTemplateContext(plan, cloud)
  return configured
    .filter((name) => !isAttachable(name, context))
    .map((service) => {
      const where = locate([...cloud.from.path, 'services', service, 'networkAttachments'])
      return finding(noPlaceForAttachments, { cloud: cloud.name, service }, { where })
    })
}

function endpointFindings(plan: Plan, cloud: PlannedCloud, locate: LocatePath): readonly Finding[] {
  if (cloud.networks.every((network) => network.endpoints.length === 0)) return []
  const spec = mergeRawFields(plannedSpec(plan, cloud), cloud)
  return listEndpoints(plan, cloud, specWithoutEndpoints(plan, cloud)).flatMap((endpoint) => {
    const { name, network, attachment, place, known } = endpoint
    const where = locate([...cloud.from.path, 'networks', network.name, 'endpoints']) ?? locate(cloud.from.path)
    if (!place || !hasEndpoint(spec, endpoint)) {
      const facts = { cloud: cloud.name, endpoint: name, value: networksAnnotation([attachment]), known }
      return [finding(noPlaceForEndpoint, facts, { where })]
    }
    const replicas = countPods(plan, spec, place)
    if (replicas < 2) return []
    return [finding(endpointAddressShared, { cloud: cloud.name, endpoint: name, replicas }, { where })]
  })
}

const BACKENDS = [
  { service: 'cinder', part: 'volume', field: 'cinderVolumes' },
  { service: 'manila', part: 'share', field: 'manilaShares' },
] as const

/** Services that store data elsewhere are rendered without replicas until a backend is given. */
function backendFindings(plan: Plan, cloud: PlannedCloud, locate: LocatePath): readonly Finding[] {
  const enabled = BACKENDS.filter(({ service }) =>
    cloud.services.some(({ entry, enabled }) => enabled && entry.name === service),
  )
  if (enabled.length === 0) return []
  const spec = mergeRawFields(plannedSpec(plan, cloud), cloud)
  return enabled.flatMap(({ service, part, field }) => {
    const backends = asFields(asFields(asFields(spec[service])['template'])[field])
    if (Object.values(backends).some((backend) => asFields(backend)['replicas'] !== 0)) return []
    const where = locate([...cloud.from.path, 'services', service]) ?? locate(cloud.from.path)
    return [finding(noBackend, { cloud: cloud.name, service, part, field }, { where })]
  })
}

function lintOverrides(plan: Plan, cloud: PlannedCloud, locate: LocatePath): readonly Finding[] {
  const sources = rawSources(cloud.from)
  if (sources.length === 0) return []
  const foreign = sources.flatMap((source) => foreignValues(plan, cloud, source, locate))
  // A foreign pool in a slot also overrides the slot, and one finding is enough.
  if (foreign.length > 0) return foreign
  return overriddenSlots(plan, cloud, locate(sources.at(-1)?.path ?? cloud.from.path))
}

const POOL_KEYS = /^(?:metallb\.(?:io|universe\.tf)\/(?:address-pool|allow-shared-ip)|ipAddressPool|sharedIPKey)$/
const ADDRESS_KEYS = /^(?:metallb\.(?:io|universe\.tf)\/loadBalancerIPs|loadBalancerIP|loadBalancerIPs)$/

function foreignValues(plan: Plan, cloud: PlannedCloud, source: RawSource, locate: LocatePath): readonly Finding[] {
  const pools = cloud.networks.flatMap((network) => network.pool ?? [])
  const ranges = vipRanges(cloud.networks)
  return leaves(source.value).flatMap(({ path, value }): readonly Finding[] => {
    if (typeof value !== 'string' || value === '') return []
    const key = path.findLast((step) => typeof step === 'string') ?? ''
    const field = `spec.${path.join('.')}`
    const context = { where: locate(rawFieldPath(source, path)) }
    if (POOL_KEYS.test(key) && !pools.includes(value))
      return [finding(foreignPool, { cloud: cloud.name, field, pool: value, allowed: pools }, context)]
    if (!ADDRESS_KEYS.test(key)) return []
    const requested = value.split(',').map((text) => text.trim())
    return requested
      .filter((address) => !isInRanges(ranges, address))
      .map((address) => {
        const owner = findVipOwner(plan, address)
        return finding(foreignAddress, { cloud: cloud.name, field, address, owner }, context)
      })
  })
}

function vipRanges(networks: readonly PlannedNetwork[]): RangeSet {
  return rangeSet(networks.flatMap((network) => network.subnets.flatMap((subnet) => spanRanges(subnet, 'vips'))))
}

function isInRanges(ranges: RangeSet, text: string): boolean {
  const address = parseAddress(text)
  return address !== undefined && setContains(ranges, address)
}

function findVipOwner(plan: Plan, address: string): string | undefined {
  for (const cloud of plan.clouds) {
    const owner = cloud.networks.find((network) => isInRanges(vipRanges([network]), address))
    if (owner) return `${cloud.name}/${owner.name} vips`
  }
  return undefined
}

/** Slots whose pool, address or type differs after the merge. */
function overriddenSlots(plan: Plan, cloud: PlannedCloud, where: ReturnType<LocatePath>): readonly Finding[] {
  const planned = plannedSpec(plan, cloud)
  const merged = mergeRawFields(planned, cloud)
  return resolveSlots(cloud).flatMap((slot) => {
    const [before, after] = [slotSettings(planned, slot), slotSettings(merged, slot)]
    return Object.entries(before)
      .filter(([what, value]) => after[what] !== value)
      .map(([what, value]) => {
        const values = { planned: value ?? 'nothing', merged: after[what] ?? 'undone' }
        return finding(overrideConflict, { cloud: cloud.name, slot: slot.use.name, what, ...values }, { where })
      })
  })
}

/** Settings of a slot's Service, with the same names for both APIs of the control plane. */
function slotSettings(spec: Fields, { use }: ResolvedSlot): Readonly<Record<string, string | undefined>> {
  const value = use.path.reduce<unknown>(followStep, spec)
  const { shape } = use.slot
  if (shape.startsWith('external-')) {
    const { ipAddressPool, loadBalancerIPs } = asFields(value)
    return {
      pool: asText(ipAddressPool),
      address: Array.isArray(loadBalancerIPs) ? loadBalancerIPs.join(',') : undefined,
    }
  }
  const annotations = asFields(shape === 'annotations' ? value : asFields(asFields(value)['metadata'])['annotations'])
  return {
    pool: asText(annotations['metallb.io/address-pool']),
    address: asText(annotations['metallb.io/loadBalancerIPs']),
    ...(shape !== 'annotations' && { type: asText(asFields(asFields(value)['spec'])['type']) }),
  }
}

/** Follows one step of a slot's path; endpoints of the 2023 API are list items, found by their name. */
function followStep(value: unknown, key: string): unknown {
  if (!Array.isArray(value)) return asFields(value)[key]
  const items = value as readonly unknown[]
  return items.find((item) => asFields(item)['endpoint'] === key) ?? items[Number(key)]
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

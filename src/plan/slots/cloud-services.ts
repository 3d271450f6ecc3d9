/**
 * Reads which services one cloud runs, the settings of each, and the names that the cloud chooses inside them.
 *
 * Knows the site file only; what the CRD offers comes in as the slot table.
 */
import { asRecord, isRecord } from '../../api/json.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { closestMatch } from '../../errors/closest-match.ts'
import { type Finding, finding, type Where } from '../../errors/finding.ts'
import type { Cloud, Path } from '../../site/site.ts'
import { fieldHistory } from '../release/releases.ts'
import { neededServiceOff, serviceNotInCrd, serviceSwitchedByOverride, unknownService } from './findings.ts'
import { findService, type ServiceEntry, serviceCatalogue } from './service-catalogue.ts'
import type { SlotTable } from './slots.ts'

export type ServiceSettings = Exclude<NonNullable<SiteFileCloud['services']>[string], boolean>

export interface CloudService {
  readonly entry: ServiceEntry
  readonly enabled: boolean
  readonly settings: ServiceSettings
}

export interface CloudServices {
  /** Every service that the CRD can enable, in the order of the catalogue. */
  readonly services: readonly CloudService[]
  readonly findings: readonly Finding[]
}

/** Where a path is in the site file. */
export type LocatePath = (path: Path) => Where | undefined

export function cloudServices(cloud: Cloud, table: SlotTable, locate: LocatePath): CloudServices {
  const written = cloud.file.services ?? {}
  const locateService = (name: string): Where | undefined => locate([...cloud.path, 'services', name])
  const findings: Finding[] = []
  for (const name of Object.keys(written).filter((key) => !findService(key))) {
    const near = closestMatch(
      name,
      serviceCatalogue.map((entry) => entry.name),
    )
    findings.push(
      finding(unknownService, { cloud: cloud.name, service: name, nearest: near }, { where: locateService(name) }),
    )
  }
  const enabled = enabledServices(cloud)
  for (const name of enabled.filter((service) => !table.services.includes(service))) {
    const facts = { cloud: cloud.name, service: name, release: table.release.name }
    const releases = fieldHistory('OpenStackControlPlane', [name, 'enabled'])
    findings.push(finding(serviceNotInCrd, { ...facts, releases }, { where: locateService(name) }))
  }
  findings.push(...findContradictions(cloud, enabled, locate))
  const offered = serviceCatalogue.filter((entry) => table.services.includes(entry.name))
  const chosen = offered.map((entry) => ({
    entry,
    enabled: enabled.includes(entry.name),
    settings: serviceSettings(cloud, entry.name),
  }))
  return { services: chosen, findings }
}

/** The default services and those that the file names, with what these need unless the file disables it. */
function enabledServices(cloud: Cloud): readonly string[] {
  const asked = serviceCatalogue.filter((entry) => switchOf(cloud, entry.name) ?? entry.standard)
  const needed = asked
    .flatMap((entry) => neededServices(cloud, entry))
    .filter((name) => switchOf(cloud, name) !== false)
  const wanted = new Set([...asked.map((entry) => entry.name), ...needed])
  return serviceCatalogue.map((entry) => entry.name).filter((name) => wanted.has(name))
}

function neededServices(cloud: Cloud, { name, needs, needsWhen }: ServiceEntry): readonly string[] {
  const isOn = needsWhen && rawValue(cloud, name, needsWhen.when.split('.')) === true
  return isOn ? [...needs, ...needsWhen.needs] : needs
}

function findContradictions(cloud: Cloud, wanted: readonly string[], locate: LocatePath): readonly Finding[] {
  const found: Finding[] = []
  const refused = Object.keys(cloud.file.services ?? {}).some((name) => switchOf(cloud, name) === false)
  for (const name of wanted) {
    const entry = findService(name)
    if (!entry) continue
    const off = [
      ...(refused ? neededServices(cloud, entry).filter((need) => !wanted.includes(need)) : []),
      ...(entry.needsOn ?? []).filter((path) => isSwitchedOff(cloud, path)).map((path) => path.replace('.enabled', '')),
    ]
    for (const need of off) {
      const where = locate([...cloud.path, 'services', need.split('.')[0] ?? need])
      found.push(finding(neededServiceOff, { cloud: cloud.name, service: name, need }, { where }))
    }
  }
  for (const [name, raw] of Object.entries(cloud.file.overrides?.controlPlane ?? {})) {
    const enabled = isRecord(raw) ? raw['enabled'] : undefined
    if (typeof enabled !== 'boolean' || enabled === wanted.includes(name) || !findService(name)) continue
    const where = locate([...cloud.path, 'overrides', 'controlPlane', name, 'enabled'])
    found.push(finding(serviceSwitchedByOverride, { cloud: cloud.name, service: name, enabled }, { where }))
  }
  return found
}

/** Whether raw fields switch a part of a service off: `telemetry.ceilometer.enabled`. */
function isSwitchedOff(cloud: Cloud, path: string): boolean {
  const [name = '', ...fields] = path.split('.')
  return rawValue(cloud, name, fields) === false
}

/** What the file says: on, off, or nothing. Settings without `enabled` mean on. */
function switchOf(cloud: Cloud, name: string): boolean | undefined {
  const written = cloud.file.services?.[name]
  return typeof written === 'object' ? (written.enabled ?? true) : written
}

export function serviceSettings(cloud: Cloud, name: string): ServiceSettings {
  const written = cloud.file.services?.[name]
  return typeof written === 'object' ? written : {}
}

/**
 * The raw fields of a service's template: the service's own, then the control plane's override on top of it.
 * For services with several instances (`templates`) these are the instances by name.
 */
function rawTemplates(cloud: Cloud, name: string): readonly Readonly<Record<string, unknown>>[] {
  const override = cloud.file.overrides?.controlPlane?.[name]
  const layers = [
    serviceSettings(cloud, name).template,
    isRecord(override) ? (override['template'] ?? override['templates']) : undefined,
  ]
  return layers.filter((layer) => isRecord(layer))
}

/** A value in the raw fields, such as `autoscaling.enabled`; the last layer that has it decides. */
export function rawValue(cloud: Cloud, name: string, path: readonly string[]): unknown {
  const values = rawTemplates(cloud, name).map((layer) => valueAt(layer, path))
  return values.findLast((value) => value !== undefined)
}

export function cellNames(cloud: Cloud): readonly string[] {
  return serviceSettings(cloud, 'nova').cells ?? ['cell1']
}

/** The cells that hosts may be in: those that are planned, and those of raw fields. cell0 never has hosts. */
export function hostCells(cloud: Cloud): readonly string[] {
  const raw = rawTemplates(cloud, 'nova').flatMap((layer) => Object.keys(asRecord(layer['cellTemplates'])))
  return [...new Set([...cellNames(cloud), ...raw])].filter((cell) => cell !== 'cell0')
}

export function rabbitmqNames(cloud: Cloud): readonly string[] {
  const planned = ['rabbitmq', ...cellNames(cloud).map((cell) => `rabbitmq-${cell}`)]
  return [...new Set([...planned, ...rawTemplates(cloud, 'rabbitmq').flatMap(Object.keys)])]
}

/** The glance APIs, the one that keystone knows first. */
export function glanceApiNames(cloud: Cloud): readonly string[] {
  const known = rawValue(cloud, 'glance', ['keystoneEndpoint'])
  const first = typeof known === 'string' ? known : 'default'
  const written = rawTemplates(cloud, 'glance').flatMap((raw) => Object.keys(asRecord(raw['glanceAPIs'])))
  const names = written.length > 0 ? written : [first]
  return [...new Set([...names.filter((name) => name === first), ...names])]
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((current, key) => asRecord(current)[key], value)
}

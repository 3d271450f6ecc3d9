/** SL30xx: services and slots of the control plane. SL3101, SL3106, SL3110: raw fields. The other codes of SL3 are in `render/findings.ts`. */
import { problem } from '../../errors/finding.ts'
import { formatReleases } from '../release/releases.ts'

const suggest = (near: string | undefined): string => (near ? `; did you mean ${near}?` : '')

export const unknownService = problem<{ cloud: string; service: string; nearest: string | undefined }>({
  code: 'SL3001',
  severity: 'error',
  message: ({ cloud, service, nearest }) => `${cloud}: there is no service ${service}${suggest(nearest)}`,
  remedy: () => 'list the known services with `stackloom slots`, and correct the name or remove it',
})

/** `; 18.0-fr4 to main have it`. */
const formatHistory = (releases: readonly string[]): string =>
  releases.length > 0 ? `; ${formatReleases(releases)} ${releases.length > 1 ? 'have' : 'has'} it` : ''

export const serviceNotInCrd = problem<{
  cloud: string
  service: string
  /** The target: `18.0-fr3`, or undefined for a CRD that is no known release. */
  release: string | undefined
  releases: readonly string[]
}>({
  code: 'SL3002',
  severity: 'error',
  message: ({ cloud, service, release, releases }) =>
    `${cloud}: the control plane${release ? ` of ${release}` : "'s CRD"} has no service ${service}${formatHistory(releases)}`,
  remedy: ({ service }) => `disable ${service}, or set spec.cluster.release to a release that has it`,
})

export const slotMissing = problem<{ cloud: string; slot: string; path: string; releases: readonly string[] }>({
  code: 'SL3003',
  severity: 'error',
  message: ({ cloud, slot, path, releases }) =>
    `${cloud}: ${slot} needs a Service override, but the CRD has none at spec.${path}${formatHistory(releases)}`,
  remedy: () =>
    'disable the service, or plan against the CRD of the operator that will run: `stackloom plan --crd live`',
})

export const slotWithoutVips = problem<{ cloud: string; slots: readonly string[]; network: string }>({
  code: 'SL3004',
  severity: 'error',
  message: ({ cloud, slots, network }) =>
    `${cloud}: ${slots.join(', ')} ${slots.length === 1 ? 'belongs' : 'belong'} on ${network}, which has no addresses for VIPs`,
  remedy: ({ network }) => `give ${network} a \`vips\` span, or move the service to a network that has one`,
})

export const routeWithoutOpenShift = problem<{ cloud: string; service: string }>({
  code: 'SL3005',
  severity: 'error',
  message: ({ cloud, service }) =>
    `${cloud}: the public endpoint of ${service} is planned as a Route, but this is plain Kubernetes`,
  remedy: () => 'set `public: {by: vip, network: …}` for the cloud',
})

export const publicByVip = problem<{ cloud: string; network: string }>({
  code: 'SL3006',
  severity: 'info',
  message: ({ cloud, network }) =>
    `${cloud}: public endpoints get VIPs on ${network}, since plain Kubernetes has no Routes`,
  remedy: () => 'set `public: {by: vip, network: …}` to choose the network yourself',
})

export const neededServiceOff = problem<{ cloud: string; service: string; need: string }>({
  code: 'SL3007',
  severity: 'error',
  message: ({ cloud, service, need }) => `${cloud}: ${service} does not work without ${need}, which is disabled`,
  remedy: ({ service, need }) => `enable ${need}, or disable ${service}`,
})

export const notAControlPlaneCrd = problem<{ source: string; reason: string }>({
  code: 'SL3008',
  severity: 'error',
  message: ({ source, reason }) => `${source} does not define the control plane's slots: ${reason}`,
  remedy: () =>
    'use the CustomResourceDefinition openstackcontrolplanes.core.openstack.org, or `--crd live` to read it from the cluster',
})

export const serviceSwitchedByOverride = problem<{ cloud: string; service: string; enabled: boolean }>({
  code: 'SL3009',
  severity: 'error',
  message: ({ cloud, service, enabled }) =>
    `${cloud}: overrides.controlPlane ${enabled ? 'enables' : 'disables'} ${service}, the plan has it ${enabled ? 'disabled' : 'enabled'}`,
  remedy: ({ service, enabled }) =>
    `write \`services: {${service}: ${enabled}}\` instead, so that its addresses are planned`,
})

export const unknownRawField = problem<{
  cloud: string
  kind: string
  field: string
  nearest: string | undefined
}>({
  code: 'SL3101',
  severity: 'error',
  message: ({ cloud, kind, field, nearest }) =>
    `${cloud}: ${kind === 'OpenStackControlPlane' ? 'the control plane' : kind} has no field ${field}${suggest(nearest)}`,
  remedy: ({ nearest }) => (nearest ? `write ${nearest}` : 'remove the field, or plan against the CRD that has it'),
})

export const fieldNotInRelease = problem<{
  cloud: string
  kind: string
  field: string
  target: string
  releases: readonly string[]
  instead: string | undefined
}>({
  code: 'SL3106',
  severity: 'error',
  message: ({ cloud, kind, field, target, releases }) =>
    `${cloud}: ${kind} of ${target} has no field ${field}${formatHistory(releases)}`,
  remedy: ({ instead }) =>
    instead
      ? `write ${instead} instead, or set spec.cluster.release to a release that has the field`
      : 'remove the field, or set spec.cluster.release to a release that has it',
})

export const deprecatedBusField = problem<{ cloud: string; field: string; instead: string; rabbitmq: string }>({
  code: 'SL3110',
  severity: 'warning',
  message: ({ cloud, field, instead }) =>
    `${cloud}: ${field} is deprecated in favour of ${instead}, and rendered as that`,
  remedy: ({ instead, rabbitmq }) => `write \`${instead}: {cluster: ${rabbitmq}}\` instead`,
})

export const unknownRelease = problem<{ name: string; nearest: string | undefined; known: readonly string[] }>({
  code: 'SL3010',
  severity: 'error',
  message: ({ name, nearest }) => `there is no release ${name}${suggest(nearest)}`,
  remedy: ({ known }) =>
    `known: ${known.join(', ')}; for another one remove spec.cluster.release and plan with \`--crd live\` or \`--crd FILE\``,
})

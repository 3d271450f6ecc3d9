/**
 * The way into a cloud: what its operators have written, as one entry for a clouds.yaml, the CA, and the dashboard's
 * address. Pure: what holds a password stays a value here; who writes files decides on their mode.
 */
import type { KubeObject } from '../api/object.ts'
import { getField, getList, getString } from '../api/raw-object.ts'
import type { SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { asFields, type Fields, mergePatch } from '../render/merge.ts'
import { ingressAddresses } from '../verify/readiness/load-balancer.ts'
import { readYaml } from '../yaml/read.ts'
import { noAuthority, noCredentials, unreadableCredentials } from './findings/access.ts'

/** The cloud of the operator's own client pod. */
const DEFAULT = 'default'
const CONFIG = 'openstack-config'
const SECRET = 'openstack-config-secret'
const BUNDLES = [
  { name: 'combined-ca-bundle', key: 'tls-ca-bundle.pem' },
  { name: 'rootca-public', key: 'ca.crt' },
] as const

export const accessObjectRefs = (namespace: string) =>
  [
    { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: CONFIG },
    { apiVersion: 'v1', kind: 'Secret', namespace, name: SECRET },
    ...BUNDLES.map(({ name }) => ({ apiVersion: 'v1', kind: 'Secret', namespace, name })),
    { apiVersion: 'route.openshift.io/v1', kind: 'Route', namespace, name: 'horizon' },
    { apiVersion: 'horizon.openstack.org/v1beta1', kind: 'Horizon', namespace, name: 'horizon' },
    { apiVersion: 'v1', kind: 'Service', namespace, name: 'horizon' },
  ] as const

export interface Access {
  /** One cloud of a clouds.yaml, its password included. */
  readonly entry: Fields | undefined
  readonly ca: string | undefined
  readonly authUrl: string | undefined
  readonly dashboard: string | undefined
  readonly findings: readonly Finding[]
}

export function readAccess(cloud: string, namespace: string, live: SnapshotIndex): Access {
  const config = live.get('ConfigMap', CONFIG, namespace)
  const secret = live.get('Secret', SECRET, namespace)
  const missing = !config ? `ConfigMap ${CONFIG}` : !secret ? `Secret ${SECRET}` : undefined
  const ca = findCaBundle(live, namespace)
  const plain = parseCloudEntry(config && getString(config, 'data', 'clouds.yaml'))
  const secure = parseCloudEntry(decodeSecretKey(secret, 'secure.yaml'))
  const entry = plain && secure ? mergePatch(plain, secure) : undefined
  const bad = !plain ? `ConfigMap ${namespace}/${CONFIG}` : `Secret ${namespace}/${SECRET}`
  const findings =
    missing !== undefined
      ? [finding(noCredentials, { cloud, namespace, missing })]
      : entry
        ? []
        : [finding(unreadableCredentials, { object: bad, reason: 'it has no cloud' })]
  return {
    entry,
    ca,
    authUrl: getString(entry, 'auth', 'auth_url'),
    dashboard: dashboardUrl(live, namespace),
    findings: ca === undefined ? [...findings, finding(noAuthority, { cloud, namespace })] : findings,
  }
}

/** The only cloud of the text, or the one that the operator calls its default. */
function parseCloudEntry(text: string | undefined): Fields | undefined {
  if (text === undefined) return undefined
  const { value } = readYaml(text, CONFIG)
  const clouds = asFields(asFields(value)['clouds'])
  const found = clouds[DEFAULT] ?? Object.values(clouds)[0]
  return found === undefined ? undefined : asFields(found)
}

function findCaBundle(live: SnapshotIndex, namespace: string): string | undefined {
  for (const { name, key } of BUNDLES) {
    const text = decodeSecretKey(live.get('Secret', name, namespace), key)
    if (text !== undefined) return text
  }
  return undefined
}

function decodeSecretKey(secret: KubeObject | undefined, key: string): string | undefined {
  const encoded = getField(secret, 'data', key)
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined
}

function dashboardUrl(live: SnapshotIndex, namespace: string): string | undefined {
  const route = live.get('route.openshift.io/Route', 'horizon', namespace)
  const host = getString(route, 'spec', 'host') ?? getString(getList(route, 'status', 'ingress')[0], 'host')
  if (host !== undefined) return `https://${host}`
  const endpoint = getString(live.get('horizon.openstack.org/Horizon', 'horizon', namespace), 'status', 'endpoint')
  if (endpoint !== undefined) return endpoint
  const service = live.get('Service', 'horizon', namespace)
  const [address] = service ? ingressAddresses(service) : []
  if (address === undefined) return undefined
  return `https://${address.includes(':') ? `[${address}]` : address}`
}

/**
 * Reads how to access a cloud: a clouds.yaml entry, the CA and the dashboard's URL, from what its operators wrote; and
 * adds a context to a kubeconfig. Pure: the caller writes files that hold a password with a safe mode.
 */
import { isMap, isSeq, parseDocument } from 'yaml'
import type { KubeObject } from '../api/object.ts'
import { getField, getList, getString } from '../api/raw-object.ts'
import type { SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { asFields, type Fields, mergePatch } from '../render/merge.ts'
import { ingressAddresses } from '../verify/readiness/load-balancer.ts'
import { readYaml } from '../yaml/read.ts'
import { noAuthority, noCredentials, unreadableCredentials } from './findings/access.ts'

/** The cloud that the operator configures for its client pod. */
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
  /** A cloud of a clouds.yaml, with its password. */
  readonly entry: Fields | undefined
  readonly ca: string | undefined
  readonly authUrl: string | undefined
  readonly dashboard: string | undefined
  readonly findings: readonly Finding[]
}

export function readAccess(cloud: string, namespace: string, live: SnapshotIndex): Access {
  const config = live.get('ConfigMap', CONFIG, namespace)
  const secret = live.get('Secret', SECRET, namespace)
  const plain = parseCloudEntry(config && getString(config, 'data', 'clouds.yaml'))
  const secure = parseCloudEntry(decodeSecretKey(secret, 'secure.yaml'))
  const entry = plain && secure ? mergePatch(plain, secure) : undefined
  const ca = findCaBundle(live, namespace)
  const findings: Finding[] = []
  if (!config || !secret) {
    const missing = config ? `Secret ${SECRET}` : `ConfigMap ${CONFIG}`
    findings.push(finding(noCredentials, { cloud, namespace, missing }))
  } else if (!entry) {
    const object = plain ? `Secret ${namespace}/${SECRET}` : `ConfigMap ${namespace}/${CONFIG}`
    findings.push(finding(unreadableCredentials, { object, reason: 'it has no cloud' }))
  }
  if (ca === undefined) findings.push(finding(noAuthority, { cloud, namespace }))
  const authUrl = getString(entry, 'auth', 'auth_url')
  return { entry, ca, authUrl, dashboard: dashboardUrl(live, namespace), findings }
}

/** What a login over the public endpoints needs. */
export interface PublicLogin {
  readonly authUrl: string
  readonly user: string
  readonly password: string
  readonly project: string
  readonly userDomain: string
  readonly projectDomain: string
  readonly interface: 'public'
  readonly ca?: string
}

/** Undefined if the cloud has no credentials yet; the findings of the access say why. */
export function publicLogin({ entry, authUrl, ca }: Access): PublicLogin | undefined {
  if (!entry || authUrl === undefined) return undefined
  const text = (key: string): string => getString(entry, 'auth', key) ?? ''
  return {
    authUrl,
    user: text('username'),
    password: text('password'),
    project: text('project_name'),
    userDomain: text('user_domain_name') || 'Default',
    projectDomain: text('project_domain_name') || 'Default',
    interface: 'public',
    ...(ca !== undefined && { ca }),
  }
}

/** The only cloud of the text, or the operator's default one. */
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
  const horizon = live.get('horizon.openstack.org/Horizon', 'horizon', namespace)
  const endpoint = getString(horizon, 'status', 'endpoint')
  if (endpoint !== undefined) return endpoint
  const service = live.get('Service', 'horizon', namespace)
  const [address] = service ? ingressAddresses(service) : []
  return address && `https://${address.includes(':') ? `[${address}]` : address}`
}

export interface KubeconfigContext {
  readonly name: string
  readonly cluster: string
  readonly user?: string
  readonly namespace: string
}

export type AddedContext =
  | { readonly kind: 'added'; readonly text: string }
  | { readonly kind: 'exists' }
  | { readonly kind: 'taken' }

/** Adds a context to a kubeconfig. Comments, order and `current-context` stay as they are. */
export function addKubeconfigContext(text: string, { name, ...context }: KubeconfigContext): AddedContext {
  const document = parseDocument(text, { logLevel: 'error' })
  const contexts = document.get('contexts')
  const items = isSeq(contexts) ? contexts.items : []
  const found = items.find((item) => isMap(item) && item.get('name') === name)
  if (isMap(found)) {
    const existing = (found.toJSON() as { readonly context?: Readonly<Record<string, unknown>> }).context
    const isSame = Object.entries(context).every(([key, value]) => existing?.[key] === value)
    return { kind: isSame ? 'exists' : 'taken' }
  }
  if (isSeq(contexts)) contexts.add(document.createNode({ name, context }))
  else document.set('contexts', document.createNode([{ name, context }]))
  return { kind: 'added', text: document.toString({ lineWidth: 0 }) }
}

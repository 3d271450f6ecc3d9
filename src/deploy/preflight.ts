/**
 * What a cluster must bring before anything is deployed, as findings; and the two cluster-wide settings that may be
 * changed with a person's consent.
 *
 * Pure: the live objects come in. Who asks and who writes is the stage's business.
 */
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import { getField, getList, getString } from '../api/raw-object.ts'
import type { SnapshotIndex } from '../api/snapshot.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { crdFindings } from './control-plane-crd.ts'
import {
  clusterDnsMissing,
  gatewaySettings,
  multusMissing,
  noDefaultStorageClass,
  storageClassMissing,
  whereaboutsMissing,
} from './findings/preflight.ts'
import type { DeploySite } from './world.ts'

/** A change to something that belongs to the whole cluster. */
export interface ClusterSetting {
  readonly object: GroupVersionKind & { readonly name: string }
  /** For people: from what to what. */
  readonly what: string
  readonly finding: Finding
  /** A merge patch. */
  readonly patch: unknown
}

export interface Preflight {
  /** Errors stop; warnings are told. */
  readonly findings: readonly Finding[]
  readonly settings: readonly ClusterSetting[]
}

export const preflightKinds: readonly GroupVersionKind[] = [
  { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' },
  { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' },
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' },
  { apiVersion: 'operator.openshift.io/v1', kind: 'Network' },
  { apiVersion: 'operator.openshift.io/v1', kind: 'DNS' },
]

/** `crd`: the control plane's definition, if the cluster has one yet. */
export function preflight(site: DeploySite, around: SnapshotIndex, crd: KubeObject | undefined): Preflight {
  const gateway = gatewaySetting(around)
  const dns = dnsSetting(site, around)
  return {
    findings: [
      ...missingKind(around, 'k8s.cni.cncf.io/NetworkAttachmentDefinition', finding(multusMissing, {})),
      ...missingKind(around, 'whereabouts.cni.cncf.io/IPPool', finding(whereaboutsMissing, {})),
      ...storageFindings(site, around),
      ...crdFindings(site.slots, crd),
    ],
    settings: [...(gateway ? [gateway] : []), ...(dns ? [dns] : [])],
  }
}

function missingKind(around: SnapshotIndex, groupKind: string, missing: Finding): readonly Finding[] {
  return around.unread(groupKind) === undefined ? [] : [missing]
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class'

function storageFindings(site: DeploySite, around: SnapshotIndex): readonly Finding[] {
  const classes = around.all('storage.k8s.io/StorageClass')
  const names = classes.map(({ metadata }) => metadata.name)
  const wanted = site.storageClasses
  if (wanted.length === 0) {
    const standard = classes.some(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true')
    return standard ? [] : [finding(noDefaultStorageClass, { known: names })]
  }
  return wanted
    .filter((name) => !names.includes(name))
    .map((name) => finding(storageClassMissing, { name, known: names }))
}

/** Without these OVN-Kubernetes does not answer for VIPs on secondary interfaces. */
function gatewaySetting(around: SnapshotIndex): ClusterSetting | undefined {
  const network = around.get('operator.openshift.io/Network', 'cluster')
  if (!network || getString(network, 'spec', 'defaultNetwork', 'type') !== 'OVNKubernetes') return undefined
  const gatewayConfig = getField(network, 'spec', 'defaultNetwork', 'ovnKubernetesConfig', 'gatewayConfig')
  const viaHost = getField(gatewayConfig, 'routingViaHost') === true
  const forwarding = getString(gatewayConfig, 'ipForwarding') === 'Global'
  if (viaHost && forwarding) return undefined
  return {
    object: nameOfObject(network),
    what: 'network.operator/cluster: routingViaHost: true, ipForwarding: Global',
    finding: finding(gatewaySettings, {}),
    patch: {
      spec: {
        defaultNetwork: {
          ovnKubernetesConfig: { gatewayConfig: { routingViaHost: true, ipForwarding: 'Global' } },
        },
      },
    },
  }
}

/** Pods must resolve what the site's DNS servers know; whoever was asked before is asked after them. */
function dnsSetting({ dns }: DeploySite, around: SnapshotIndex): ClusterSetting | undefined {
  const operator = around.get('operator.openshift.io/DNS', 'default')
  if (!operator || dns.length === 0) return undefined
  const upstreams = getList(operator, 'spec', 'upstreamResolvers', 'upstreams')
  const known = upstreams.map((upstream) => getString(upstream, 'address'))
  const missing = dns.filter((address) => !known.includes(address))
  if (missing.length === 0) return undefined
  return {
    object: nameOfObject(operator),
    what: `dns.operator/default: asks ${missing.join(', ')} first`,
    finding: finding(clusterDnsMissing, { servers: missing }),
    patch: {
      spec: {
        upstreamResolvers: {
          policy: 'Sequential',
          upstreams: [
            ...missing.map((address) => ({ type: 'Network', address, port: 53 })),
            ...(upstreams.length > 0 ? upstreams : [{ type: 'SystemResolvConf' }]),
          ],
        },
      },
    },
  }
}

function nameOfObject({ apiVersion, kind, metadata }: KubeObject): ClusterSetting['object'] {
  return { apiVersion, kind, name: metadata.name }
}

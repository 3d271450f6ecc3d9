/** Builds the objects of a DNSMasq beside its Deployment: account, configuration, hosts, Services. Pure. */
import type { DnsMasq, ExternalEndpoint } from '../../api/dnsmasq.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { controllerReference } from '../../api/ownership.ts'
import { configMaps, HOSTNAME_ANNOTATION, ownerLabels, PART_LABEL, serviceAccounts, services } from './dns-kinds.ts'
import {
  childName,
  configName,
  DNS_PORT,
  hostsIndexName,
  hostsShardName,
  podLabels,
  renderConfig,
  SCRIPT_NAME,
  scriptsName,
  serveScript,
} from './dnsmasq-deployment.ts'
import { type HostsRevision, revisionFiles } from './hosts-revision.ts'

function childMetadata(dnsMasq: DnsMasq, name: string, labels: Readonly<Record<string, string>> = {}): ObjectMeta {
  const { namespace = '' } = dnsMasq.metadata
  const ownerReferences = [controllerReference(dnsMasq)]
  return { name, namespace, labels: { ...ownerLabels(dnsMasq), ...labels }, ownerReferences }
}

/**
 * The account of the pods. Nothing is bound to it: upstream's empty Role would need the right to change every Role.
 */
export function serviceAccount(dnsMasq: DnsMasq): KubeObject {
  return { ...serviceAccounts, metadata: childMetadata(dnsMasq, childName(dnsMasq)) }
}

export function configMapObjects(dnsMasq: DnsMasq): readonly KubeObject[] {
  return [
    {
      ...configMaps,
      metadata: childMetadata(dnsMasq, configName(dnsMasq)),
      data: { [dnsMasq.metadata.name]: renderConfig(dnsMasq) },
    },
    {
      ...configMaps,
      metadata: childMetadata(dnsMasq, scriptsName(dnsMasq)),
      data: { [SCRIPT_NAME]: serveScript },
    },
  ]
}

export function hostsConfigMaps(dnsMasq: DnsMasq, revision: HostsRevision): readonly KubeObject[] {
  const part = (name: string, data: Readonly<Record<string, string>>): KubeObject => ({
    ...configMaps,
    metadata: childMetadata(dnsMasq, name, { [PART_LABEL]: 'hosts' }),
    data,
  })
  return [
    part(hostsIndexName(dnsMasq), revisionFiles(revision)),
    ...revision.parts.map(({ file, text }, number) => part(hostsShardName(dnsMasq, number), { [file]: text })),
  ]
}

/** One Service as in the current API, or one per externalEndpoint as in its first version. */
export function serviceObjects(dnsMasq: DnsMasq): readonly KubeObject[] {
  const { externalEndpoints = [], override } = dnsMasq.spec
  if (externalEndpoints.length > 0)
    return externalEndpoints.map((externalEndpoint) => endpointService(dnsMasq, externalEndpoint))
  const { metadata = {}, spec = {} } = override?.service ?? {}
  return [
    buildService(dnsMasq, childName(dnsMasq), {
      labels: metadata.labels ?? {},
      annotations: metadata.annotations ?? {},
      spec,
    }),
  ]
}

function endpointService(dnsMasq: DnsMasq, endpoint: ExternalEndpoint): KubeObject {
  const { ipAddressPool, loadBalancerIPs = [], sharedIP = true, sharedIPKey } = endpoint
  const name = `${childName(dnsMasq)}-${ipAddressPool}`
  const metallb = {
    'address-pool': ipAddressPool,
    ...(loadBalancerIPs.length > 0 && { loadBalancerIPs: loadBalancerIPs.join(',') }),
    ...(sharedIP && { 'allow-shared-ip': sharedIPKey || ipAddressPool }),
  }
  const annotations = {
    ...Object.fromEntries(Object.entries(metallb).map(([key, value]) => [`metallb.io/${key}`, value])),
    [HOSTNAME_ANNOTATION]: `${name}.${dnsMasq.metadata.namespace}.svc`,
  }
  return buildService(dnsMasq, name, { labels: {}, annotations, spec: { type: 'LoadBalancer' } })
}

interface ServiceSettings {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Readonly<Record<string, unknown>>
}

function buildService(dnsMasq: DnsMasq, name: string, { labels, annotations, spec }: ServiceSettings): KubeObject {
  return {
    ...services,
    metadata: {
      ...childMetadata(dnsMasq, name, { service: 'dnsmasq', ...labels }),
      annotations: { 'core.openstack.org/ingress_create': 'false', ...annotations },
    },
    spec: {
      type: 'ClusterIP',
      ...spec,
      selector: podLabels(dnsMasq),
      ports: [
        { name: 'dnsmasq', port: 53, protocol: 'UDP', targetPort: DNS_PORT },
        // Long answers are truncated over UDP and requested again over TCP.
        { name: 'dnsmasq-tcp', port: 53, protocol: 'TCP', targetPort: DNS_PORT },
      ],
    },
  }
}

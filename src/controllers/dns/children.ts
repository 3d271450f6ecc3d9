/** What belongs to a DNSMasq beside its Deployment: account, configuration, hosts, Services. Pure. */
import type { DnsMasq, ExternalEndpoint } from '../../api/dnsmasq.ts'
import type { KubeObject, ObjectMeta } from '../../api/object.ts'
import { configOf } from './config.ts'
import { type Edition, filesOf } from './editions.ts'
import {
  configMaps,
  HOSTNAME_ANNOTATION,
  labelsOf,
  ownedBy,
  PART_LABEL,
  roleBindings,
  roles,
  serviceAccounts,
  services,
} from './kinds.ts'
import { childName, configName, DNS_PORT, indexName, podLabels, scriptsName, shardName } from './pod.ts'
import { SCRIPT_NAME, serveScript } from './serve-script.ts'

function metaOf(dnsMasq: DnsMasq, name: string, labels: Readonly<Record<string, string>> = {}): ObjectMeta {
  const { namespace = '' } = dnsMasq.metadata
  const ownerReferences = [ownedBy(dnsMasq)]
  return { name, namespace, labels: { ...labelsOf(dnsMasq), ...labels }, ownerReferences }
}

/** The account of the pods: it may do nothing. */
export function accountOf(dnsMasq: DnsMasq): readonly KubeObject[] {
  const name = childName(dnsMasq)
  const { namespace = '' } = dnsMasq.metadata
  return [
    { ...serviceAccounts, metadata: metaOf(dnsMasq, name) },
    { ...roles, metadata: metaOf(dnsMasq, `${name}-role`), rules: [] },
    {
      ...roleBindings,
      metadata: metaOf(dnsMasq, `${name}-rolebinding`),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: `${name}-role` },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ]
}

export function configMapsOf(dnsMasq: DnsMasq): readonly KubeObject[] {
  return [
    {
      ...configMaps,
      metadata: metaOf(dnsMasq, configName(dnsMasq)),
      data: { [dnsMasq.metadata.name]: configOf(dnsMasq) },
    },
    {
      ...configMaps,
      metadata: metaOf(dnsMasq, scriptsName(dnsMasq)),
      data: { [SCRIPT_NAME]: serveScript },
    },
  ]
}

export function hostPartsOf(dnsMasq: DnsMasq, edition: Edition): readonly KubeObject[] {
  const part = (name: string, data: Readonly<Record<string, string>>): KubeObject => ({
    ...configMaps,
    metadata: metaOf(dnsMasq, name, { [PART_LABEL]: 'hosts' }),
    data,
  })
  return [
    part(indexName(dnsMasq), filesOf(edition)),
    ...edition.parts.map(({ file, text }, number) => part(shardName(dnsMasq, number), { [file]: text })),
  ]
}

/** One Service as today's API says, or one for each endpoint of 2023. */
export function servicesOf(dnsMasq: DnsMasq): readonly KubeObject[] {
  const { externalEndpoints = [], override } = dnsMasq.spec
  if (externalEndpoints.length > 0) return externalEndpoints.map((one) => endpointService(dnsMasq, one))
  const { metadata = {}, spec = {} } = override?.service ?? {}
  return [
    serviceOf(dnsMasq, childName(dnsMasq), {
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
  return serviceOf(dnsMasq, name, { labels: {}, annotations, spec: { type: 'LoadBalancer' } })
}

interface ServiceSettings {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly spec: Readonly<Record<string, unknown>>
}

function serviceOf(
  dnsMasq: DnsMasq,
  name: string,
  { labels, annotations, spec }: ServiceSettings,
): KubeObject {
  return {
    ...services,
    metadata: {
      ...metaOf(dnsMasq, name, { service: 'dnsmasq', ...labels }),
      annotations: { 'core.openstack.org/ingress_create': 'false', ...annotations },
    },
    spec: {
      type: 'ClusterIP',
      ...spec,
      selector: podLabels(dnsMasq),
      ports: [
        { name: 'dnsmasq', port: 53, protocol: 'UDP', targetPort: DNS_PORT },
        // Long answers are cut over UDP and asked for again over TCP.
        { name: 'dnsmasq-tcp', port: 53, protocol: 'TCP', targetPort: DNS_PORT },
      ],
    },
  }
}

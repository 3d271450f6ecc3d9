/** Defines the operator part that makes names resolve: DNSMasq, DNSData, and registered Services and IPSets. */
import { renderCrd } from '../../api/crd.ts'
import { dnsDataKind } from '../../api/dnsdata.ts'
import { dnsMasqKind } from '../../api/dnsmasq.ts'
import { ipSets } from '../../api/ipset.ts'
import { networkGroup } from '../../api/netconfig.ts'
import { startDnsControllers } from '../../controllers/dns/dns-controllers.ts'
import { dnsDatas, dnsMasqs } from '../../controllers/dns/dns-kinds.ts'
import { DEFAULT_IMAGE } from '../../controllers/dns/dnsmasq-deployment.ts'
import type { AdmissionHandler } from '../../kube/admission.ts'
import { dnsHandlers, dnsWebhooks } from '../../webhooks/dns-webhooks.ts'
import type { OperatorPart, PartContext, PolicyRule } from './part.ts'

const READ = ['get', 'list', 'watch']
const OWN = [...READ, 'create', 'update', 'patch', 'delete']

export const dnsPart: OperatorPart = {
  name: 'dns',
  kinds: [dnsMasqs, dnsDatas, ipSets],
  highCardinalityKinds: [dnsDatas, ipSets],
  crds: { own: [], upstream: [dnsDataKind, dnsMasqKind].map(renderCrd) },
  rules: [
    networkRule(['ipsets'], READ),
    networkRule(['dnsmasqs'], [...READ, 'update']),
    networkRule(['dnsdata'], [...READ, 'create', 'update', 'delete']),
    // OpenShift requires the finalizers for an owned object that blocks the deletion of its owner.
    networkRule(
      ['dnsmasqs/status', 'dnsmasqs/finalizers', 'dnsdata/status', 'dnsdata/finalizers', 'ipsets/finalizers'],
      ['update'],
    ),
    { apiGroups: [''], resources: ['configmaps', 'services', 'serviceaccounts'], verbs: OWN },
    { apiGroups: [''], resources: ['pods'], verbs: [...READ, 'patch'] },
    { apiGroups: ['apps'], resources: ['deployments'], verbs: OWN },
    { apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles', 'rolebindings'], verbs: OWN },
    { apiGroups: ['topology.openstack.org'], resources: ['topologies'], verbs: ['get', 'update'] },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: [dnsDataKind, dnsMasqKind].map(({ plural, group }) => `${plural}.${group}`),
      verbs: ['get'],
    },
  ],
  webhooks: dnsWebhooks,
  start: startDns,
}

function networkRule(resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [networkGroup.group], resources, verbs }
}

function startDns({ runtime, record }: PartContext): Readonly<Record<string, AdmissionHandler>> {
  const { hasOption } = startDnsControllers({ runtime, record })
  return dnsHandlers({ image: DEFAULT_IMAGE, hasOption })
}

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

export const dnsPart: OperatorPart = {
  name: 'dns',
  kinds: [dnsMasqs, dnsDatas, ipSets],
  highCardinalityKinds: [dnsDatas, ipSets],
  crds: { own: [], upstream: [dnsDataKind, dnsMasqKind].map(renderCrd) },
  rules: [
    networkRule(['ipsets'], READ, 'register the addresses of hosts'),
    networkRule(['dnsmasqs'], [...READ, 'update'], 'serve DNSMasqs, and remove the finalizers of infra-operator'),
    networkRule(['dnsdata'], [...READ, 'create', 'update', 'delete'], 'register Services and hosts'),
    networkRule(['dnsmasqs/status', 'dnsdata/status'], ['update'], 'report conditions'),
    networkRule(
      ['dnsmasqs/finalizers', 'dnsdata/finalizers', 'ipsets/finalizers'],
      ['update'],
      'own objects that block the deletion of their owner, on OpenShift',
    ),
    {
      apiGroups: [''],
      resources: ['configmaps'],
      verbs: [...READ, 'create', 'update', 'patch', 'delete'],
      reason: 'write the configuration and the hosts of dnsmasq',
    },
    {
      apiGroups: [''],
      resources: ['services', 'serviceaccounts'],
      verbs: [...READ, 'create', 'patch', 'delete'],
      reason: 'give dnsmasq an address and an account without permissions',
    },
    {
      apiGroups: [''],
      resources: ['pods'],
      verbs: ['list', 'watch', 'patch'],
      reason: 'notify the pods of dnsmasq of new hosts',
    },
    {
      apiGroups: ['apps'],
      resources: ['deployments'],
      verbs: [...READ, 'create', 'patch', 'delete'],
      reason: 'run dnsmasq',
    },
    {
      apiGroups: ['topology.openstack.org'],
      resources: ['topologies'],
      verbs: ['get', 'update'],
      reason: 'place the pods of dnsmasq, and mark the Topology as used',
    },
    {
      apiGroups: ['apiextensions.k8s.io'],
      resources: ['customresourcedefinitions'],
      resourceNames: [dnsDataKind, dnsMasqKind].map(({ plural, group }) => `${plural}.${group}`),
      verbs: ['get'],
      scope: 'cluster',
      reason: 'find out which fields the installed release has',
    },
  ],
  webhooks: dnsWebhooks,
  start: startDns,
}

function networkRule(resources: readonly string[], verbs: readonly string[], reason: string): PolicyRule {
  return { apiGroups: [networkGroup.group], resources, verbs, reason }
}

function startDns({ runtime, record }: PartContext): Readonly<Record<string, AdmissionHandler>> {
  const { hasOption } = startDnsControllers({ runtime, record })
  return dnsHandlers({ image: DEFAULT_IMAGE, hasOption })
}

/** The part that makes names resolve: DNSMasq, DNSData, the Services and IPSets that ask to be registered. */

import { renderCrd } from '../../api/crd.ts'
import { dnsDataKind } from '../../api/dnsdata.ts'
import { dnsMasqKind } from '../../api/dnsmasq.ts'
import { ipSets } from '../../api/ipset.ts'
import { networkGroup } from '../../api/netconfig.ts'
import { dnsDatas, dnsMasqs } from '../../controllers/dns/dns-kinds.ts'
import { dnsDataController } from '../../controllers/dns/dnsdata-controller.ts'
import { dnsMasqController } from '../../controllers/dns/dnsmasq-controller.ts'
import { DEFAULT_IMAGE } from '../../controllers/dns/dnsmasq-deployment.ts'
import { hostsController } from '../../controllers/dns/hosts-controller.ts'
import { ipSetDnsController } from '../../controllers/dns/ipset-hosts-controller.ts'
import { serviceDnsController } from '../../controllers/dns/service-dns-controller.ts'
import { createDnsWorld } from '../../controllers/dns/world.ts'
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
    network(['ipsets'], READ),
    network(['dnsmasqs'], [...READ, 'update']),
    network(['dnsdata'], [...READ, 'create', 'update', 'delete']),
    // The finalizers are asked for where an owned object blocks its owner's deletion (OpenShift does).
    network(
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

function network(resources: readonly string[], verbs: readonly string[]): PolicyRule {
  return { apiGroups: [networkGroup.group], resources, verbs }
}

function startDns({ runtime, record }: PartContext): Readonly<Record<string, AdmissionHandler>> {
  const world = createDnsWorld({ runtime, record })
  const servers = runtime.add(dnsMasqController(world))
  runtime.add(hostsController(world, servers.enqueue))
  runtime.add(dnsDataController(world))
  runtime.add(serviceDnsController(world))
  runtime.add(ipSetDnsController(world))
  return dnsHandlers({ image: DEFAULT_IMAGE, hasOption: world.fields.hasOption })
}

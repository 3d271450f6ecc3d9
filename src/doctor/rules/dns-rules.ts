/** Problems of dnsmasq and its records. */

import { asRecord, asStrings } from '../../api/json.ts'
import { findCondition, formatObjectName, getList, getString } from '../../api/raw-object.ts'
import { parseAddress } from '../../net/address.ts'
import { loadBalancers } from '../facts/load-balancers.ts'
import * as problems from '../findings/dns-findings.ts'
import { matchDuplicates, type Rule, rule } from '../rule.ts'

const DNSMASQ = 'network.openstack.org/DNSMasq'
const DNS_DATA = 'network.openstack.org/DNSData'
const HOSTNAME = 'dnsmasq.network.openstack.org/hostname'

const noUpstream = rule({
  id: 'dns/no-upstream',
  problem: problems.noUpstream,
  looksAt: [DNSMASQ],
  match: (cluster) =>
    cluster
      .all(DNSMASQ)
      .filter((dnsmasq) => !getList(dnsmasq, 'spec', 'options').some((option) => getString(option, 'key') === 'server'))
      .map((about) => ({
        about,
        path: 'spec.options',
        facts: { namespace: about.metadata.namespace ?? '', name: about.metadata.name },
      })),
})

const dnsWaitsForAddress = rule({
  id: 'dns/waits-for-address',
  problem: problems.dnsWaitsForAddress,
  looksAt: [DNSMASQ, 'Service'],
  match: (cluster) => {
    const byName = new Map(cluster.derive(loadBalancers).map((balanced) => [balanced.name, balanced]))
    return cluster.all(DNSMASQ).flatMap((about) => {
      const { namespace = '', name } = about.metadata
      const service = byName.get(`${namespace}/dnsmasq-${name}`)
      if (!service || service.assigned.length > 0 || findCondition(about, 'Ready')?.status === 'True') return []
      return [{ about, facts: { service: service.name }, dependsOn: [service.object] }]
    })
  },
})

const twoServers = rule({
  id: 'dns/two-servers',
  problem: problems.twoServers,
  looksAt: [DNSMASQ],
  match: (cluster) => matchDuplicates(cluster, DNSMASQ),
})

const dnsDataUnserved = rule({
  id: 'dns/data-for-nobody',
  problem: problems.dnsDataUnserved,
  looksAt: [DNSMASQ, DNS_DATA],
  match: (cluster) =>
    cluster.all(DNS_DATA).flatMap((about) => {
      const served = cluster.inNamespace(DNSMASQ, about.metadata.namespace ?? '').map(selectorValue)
      const value = selectorValue(about)
      if (served.length === 0 || served.includes(value)) return []
      return [{ about, path: 'spec.dnsDataLabelSelectorValue', facts: { value, served } }]
    }),
})

function selectorValue(object: unknown): string {
  return (getString(object, 'spec', 'dnsDataLabelSelectorValue') ?? 'dnsdata').toLowerCase()
}

const badHost = rule({
  id: 'dns/bad-record',
  problem: problems.badHost,
  looksAt: [DNS_DATA],
  match: (cluster) =>
    cluster.all(DNS_DATA).flatMap((about) =>
      getList(about, 'spec', 'hosts').flatMap((host, index) => {
        const ip = getString(host, 'ip') ?? ''
        if (parseAddress(ip)) return []
        const hostnames = asStrings(asRecord(host)['hostnames']).join(' ')
        return [{ about, path: `spec.hosts[${index}].ip`, facts: { ip, hostnames } }]
      }),
    ),
})

const ingressByName = rule({
  id: 'dns/ingress-by-name',
  problem: problems.ingressByName,
  looksAt: ['Service'],
  match: (cluster) =>
    cluster.derive(loadBalancers).flatMap(({ object, name, assigned }) => {
      if (object.metadata.annotations?.[HOSTNAME] === undefined || assigned.length > 0) return []
      const hostname = getList(object, 'status', 'loadBalancer', 'ingress').flatMap(
        (ingress) => getString(ingress, 'hostname') ?? [],
      )[0]
      return hostname === undefined ? [] : [{ about: object, facts: { hostname, service: name } }]
    }),
})

const brokenOption = rule({
  id: 'dns/broken-option',
  problem: problems.brokenOption,
  looksAt: [DNSMASQ],
  match: (cluster) =>
    cluster.all(DNSMASQ).flatMap((about) =>
      getList(about, 'spec', 'options').flatMap((option, index) => {
        const text = asStrings(asRecord(option)['values']).join(',')
        const why = text.includes('\n')
          ? 'contains a newline: the rest becomes a separate directive'
          : text.includes('{{')
            ? 'contains {{, which is expanded as a template'
            : undefined
        if (why === undefined) return []
        const facts = { key: getString(option, 'key') ?? formatObjectName(about), why }
        return [{ about, path: `spec.options[${index}]`, facts }]
      }),
    ),
})

export const dnsRules: readonly Rule[] = [
  noUpstream,
  brokenOption,
  twoServers,
  dnsWaitsForAddress,
  ingressByName,
  dnsDataUnserved,
  badHost,
]

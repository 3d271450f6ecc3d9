/** Checks the records of the cloud's dnsmasq and, with `--ask-dns`, its answers. */

import { getList, getString } from '../../api/raw-object.ts'
import { formatGroupKind, type SnapshotIndex } from '../../api/snapshot.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import type { PlannedCloud } from '../../plan/plan.ts'
import { slotServiceName } from '../../plan/slots/service-names.ts'
import { dnsAnswerWrong, dnsRecordWrong, dnsUnreachable } from '../findings/network-findings.ts'
import {
  type CloudCheck,
  type CloudContext,
  DNS_DATA,
  type DnsAnswers,
  formatCount,
  locateObject,
  SERVICE,
} from './check-definition.ts'

const HOSTNAME = 'dnsmasq.network.openstack.org/hostname'

/** The planned names of Services and hosts with their addresses. */
export function plannedNames(cloud: PlannedCloud, live: SnapshotIndex): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, readonly string[]>()
  const vips = cloud.networks.flatMap((network) => network.vips)
  for (const use of cloud.uses) {
    const service = live.get('Service', slotServiceName(use) ?? '', cloud.namespace)
    const hostname = service?.metadata.annotations?.[HOSTNAME]
    const addresses = vips.filter(({ slot }) => slot === use.name).map(({ address }) => address)
    if (hostname !== undefined && addresses.length > 0) names.set(hostname, addresses)
  }
  for (const { names: all, address } of cloud.networks.flatMap((network) => network.hosts))
    for (const name of all) names.set(name, [...(names.get(name) ?? []), address])
  return names
}

/** The VIP of the cloud's dnsmasq. */
export function dnsServerAddress(cloud: PlannedCloud): string | undefined {
  return cloud.networks.flatMap(({ vips }) => vips).find(({ slot }) => slot === 'dns')?.address
}

export const dnsNames: CloudCheck = {
  scope: 'cloud',
  id: 'dns-names',
  title: 'DNS names',
  promise: "the names of the cloud's Services and hosts resolve to their planned addresses",
  kinds: [DNS_DATA, SERVICE],
  run: (context) => {
    const planned = plannedNames(context.cloud, context.live)
    const asked = context.dns?.get(context.cloud.name)
    const seen = `${formatCount(planned.size, 'name')}, ${describeQuery(asked)}`
    return {
      seen,
      count: planned.size,
      findings: [...recordFindings(context, planned), ...answerFindings(asked, planned)],
    }
  },
}

function describeQuery(asked: DnsAnswers | undefined): string {
  if (!asked) return 'not queried (--ask-dns)'
  return asked.unreachable === undefined ? `queried ${asked.server}` : 'no answer from the server'
}

function recordFindings(
  { cloud, live }: CloudContext,
  planned: ReadonlyMap<string, readonly string[]>,
): readonly Finding[] {
  const records = live.all(formatGroupKind(DNS_DATA)).filter(({ metadata }) => metadata.namespace === cloud.namespace)
  return records.flatMap((record) =>
    getList(record, 'spec', 'hosts').flatMap((host) => {
      const has = getString(host, 'ip') ?? 'nothing'
      return getList(host, 'hostnames').flatMap((hostname) => {
        const name = String(hostname)
        const expected = planned.get(name)
        if (!expected || expected.includes(has)) return []
        const facts = { cloud: cloud.name, name, has, planned: expected.join(', ') }
        return [finding(dnsRecordWrong, facts, { where: locateObject(record, 'spec.hosts') })]
      })
    }),
  )
}

function answerFindings(
  asked: DnsAnswers | undefined,
  planned: ReadonlyMap<string, readonly string[]>,
): readonly Finding[] {
  if (!asked) return []
  const { server, unreachable, answers } = asked
  if (unreachable !== undefined) return [finding(dnsUnreachable, { server, reason: unreachable })]
  return [...planned].flatMap(([name, expected]) => {
    const returned = answers.get(name) ?? []
    const isCorrect = returned.length > 0 && returned.every((address) => expected.includes(address))
    const answer = returned.join(', ') || 'nothing'
    return isCorrect ? [] : [finding(dnsAnswerWrong, { server, name, answer, planned: expected.join(', ') })]
  })
}

/** Services on one address that should not be: keys across clouds, RabbitMQs. */

import { groupBy } from '../../plan/collections.ts'
import { type LoadBalancer, loadBalancers } from '../facts/load-balancers.ts'
import * as problems from '../findings/metallb-findings.ts'
import { links } from '../links.ts'
import { type Rule, rule } from '../rule.ts'

const keyAcrossClouds = rule({
  id: 'metallb/key-crosses-clouds',
  problem: problems.keyAcrossClouds,
  looksAt: ['Service'],
  also: ['core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'],
  likelihood: 'proven',
  link: links.metallbUsage,
  match: (patient) => {
    const keyed = patient.derive(loadBalancers).filter(({ key }) => key !== undefined)
    return [...groupBy(keyed, ({ key }) => key ?? '')].flatMap(([key, services]) => {
      const namespaces = [...new Set(services.map(({ namespace }) => namespace))]
      const [first, second] = namespaces.map((one) => services.find(({ namespace }) => namespace === one))
      // Others may share on purpose.
      if (!first || !second || !namespaces.some((namespace) => patient.clouds.has(namespace))) return []
      const address = second.given.find((one) => first.given.includes(one))
      return [{ about: second.object, facts: { key, holders: namespaces, address } }]
    })
  },
})

const rabbitShares = rule({
  id: 'metallb/rabbitmq-shares-address',
  problem: problems.rabbitShares,
  looksAt: ['Service'],
  likelihood: 'proven',
  link: links.openstack,
  match: (patient) => {
    const rabbits = patient
      .derive(loadBalancers)
      .filter(({ ports }) => ports.includes('TCP/5671') || ports.includes('TCP/5672'))
    return rabbits.flatMap((rabbit, index) => {
      const other = rabbits
        .slice(0, index)
        .find((before) => before.namespace === rabbit.namespace && requestSameAddress(before, rabbit))
      const port = other && rabbit.ports.find((wanted) => other.ports.includes(wanted))
      if (!other || port === undefined) return []
      const address = rabbit.addresses.find((asked) => other.addresses.includes(asked))
      return [{ about: rabbit.object, facts: { address, key: rabbit.key, other: other.name, port } }]
    })
  },
})

/** The same address asked for by name, or one key and no address: MetalLB would put them together. */
function requestSameAddress(a: LoadBalancer, b: LoadBalancer): boolean {
  if (a.addresses.length > 0 && b.addresses.length > 0)
    return b.addresses.some((address) => a.addresses.includes(address))
  return a.key !== undefined && a.key === b.key
}

export const sharingRules: readonly Rule[] = [keyAcrossClouds, rabbitShares]

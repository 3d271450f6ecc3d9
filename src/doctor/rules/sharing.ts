/** Services on one address that should not be: keys across clouds, RabbitMQs. */
import * as problems from '../../errors/doctor-metallb.ts'
import { groupBy } from '../../plan/group.ts'
import { type Balanced, balanced } from '../facts/load-balancers.ts'
import { links } from '../links.ts'
import { type Rule, rule } from '../rule.ts'

const keyAcrossClouds = rule({
  id: 'metallb/key-crosses-clouds',
  problem: problems.keyAcrossClouds,
  looksAt: ['Service'],
  also: ['core.openstack.org/OpenStackControlPlane', 'network.openstack.org/NetConfig'],
  likelihood: 'proven',
  link: links.metallbUsage,
  holds: (patient) => {
    const keyed = patient.derive(balanced).filter(({ key }) => key !== undefined)
    return [...groupBy(keyed, ({ key }) => key ?? '')].flatMap(([key, services]) => {
      const namespaces = [...new Set(services.map(({ namespace }) => namespace))]
      const [first, second] = namespaces.map((one) => services.find(({ namespace }) => namespace === one))
      // Others may share on purpose.
      if (!first || !second || !namespaces.some((one) => patient.clouds.has(one))) return []
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
  holds: (patient) => {
    const rabbits = patient
      .derive(balanced)
      .filter(({ ports }) => ports.includes('TCP/5671') || ports.includes('TCP/5672'))
    return rabbits.flatMap((one, index) => {
      const other = rabbits
        .slice(0, index)
        .find((before) => before.namespace === one.namespace && shares(before, one))
      const port = other && one.ports.find((wanted) => other.ports.includes(wanted))
      if (!other || port === undefined) return []
      const address = one.addresses.find((asked) => other.addresses.includes(asked))
      return [{ about: one.object, facts: { address, key: one.key, other: other.name, port } }]
    })
  },
})

/** The same address asked for by name, or one key and no address: MetalLB would put them together. */
function shares(a: Balanced, b: Balanced): boolean {
  if (a.addresses.length > 0 && b.addresses.length > 0)
    return b.addresses.some((address) => a.addresses.includes(address))
  return a.key !== undefined && a.key === b.key
}

export const sharingRules: readonly Rule[] = [keyAcrossClouds, rabbitShares]

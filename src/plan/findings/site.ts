/** SL25xx: names and limits of a site. */
import { problem } from '../../errors/finding.ts'

export const interfaceTooLong = problem<{ owner: string; name: string }>({
  code: 'SL2501',
  severity: 'error',
  title: 'An interface name is too long',
  message: ({ owner, name }) => `${owner}: the interface ${name} has ${name.length} characters`,
  remedy: () => 'name it yourself with at most 15 characters (`interface:`, `bridge:`)',
  description: `Linux allows 15 characters in an interface name. A long NIC name with a VLAN suffix exceeds that quickly:
\`enp129s0f0np0.1234\` has 18.`,
  example: { owner: 'rhoso1/internalapi', name: 'enp129s0f0np0.1234' },
})

export const duplicateNamespace = problem<{ a: string; b: string; namespace: string }>({
  code: 'SL2502',
  severity: 'error',
  title: 'Two clouds have one namespace',
  message: ({ a, b, namespace }) => `${a} and ${b} both use the namespace ${namespace}`,
  remedy: ({ b }) => `give ${b} a namespace of its own`,
  description: `A cloud is a namespace: the operators allow one control plane and one NetConfig in each.`,
  example: { a: 'rhoso1', b: 'rhoso2', namespace: 'openstack' },
})

export const badNamespace = problem<{ cloud: string; namespace: string; reason: string; offer: string | undefined }>({
  code: 'SL2503',
  severity: 'error',
  title: 'A namespace is not valid in Kubernetes',
  message: ({ cloud, namespace, reason }) => `the namespace of ${cloud} "${namespace}": ${reason}`,
  remedy: ({ offer }) =>
    offer ? `write ${offer}` : 'use lower-case letters, digits and dashes, at most 63, a letter or digit at both ends',
  description: `A namespace is a DNS-1123 label: lower-case letters, digits and dashes. Names of sites, clouds, networks, nodes
and hosts are checked by SL2002.`,
  example: { cloud: 'rhoso1', namespace: 'Open_Stack', reason: '"O" is not allowed', offer: 'open-stack' },
})

export const duplicateHost = problem<{ host: string; a: string; b: string }>({
  code: 'SL2504',
  severity: 'error',
  title: 'One data plane host is in two clouds',
  message: ({ host, a, b }) => `the host ${host} is in ${a} and in ${b}`,
  remedy: ({ host, a, b }) => `remove ${host} from ${a} or from ${b}`,
  description: `A compute node runs the services of one cloud. Two control planes would overwrite each other's configuration.`,
  example: { host: 'compute-0', a: 'rhoso1', b: 'rhoso2' },
})

export const manyClouds = problem<{ count: number; limit: number }>({
  code: 'SL2505',
  severity: 'warning',
  title: 'There are more clouds than are supported',
  message: ({ count, limit }) => `the site has ${count} clouds; ${limit} on one cluster are supported`,
  remedy: () => 'use a second cluster, or go on without support',
  description: `The vendor supports up to five clouds on one cluster. Stackloom plans as many as the addresses allow.`,
  example: { count: 6, limit: 5 },
})

export const manyHosts = problem<{ cloud: string; count: number; limit: number }>({
  code: 'SL2506',
  severity: 'warning',
  title: 'A cloud has more hosts than are supported',
  message: ({ cloud, count, limit }) => `${cloud} has ${count} hosts; ${limit} are supported`,
  remedy: () => 'divide the hosts among clouds, or go on without support',
  description: `The vendor supports up to 250 data plane hosts in one cloud.`,
  example: { cloud: 'rhoso1', count: 300, limit: 250 },
})

export const poolNameRequested = problem<{ cloud: string; pool: string; other: string | undefined; planned: string }>({
  code: 'SL2507',
  severity: 'error',
  title: 'A pool name is requested that is not possible',
  message: ({ cloud, pool, other }) =>
    `${cloud} requests the pool name ${pool}${other ? `, and so does ${other}` : ''}; pool names are unique in a cluster`,
  remedy: ({ planned }) => `leave \`pool\` out: the pools are ${planned}`,
  description: `It has been proposed to give the pools of several clouds one name and to tell them apart by
\`serviceAllocation.namespaces\`. It cannot work. All IPAddressPools live in MetalLB's namespace (its webhook refuses
others), and an object is its kind, namespace and name: applying the second one overwrites the first, and with it the
addresses of the first cloud. Even inside MetalLB a pool is looked up by name alone.

Stackloom names pools \`<namespace>-<network>\`, scopes them to their namespace, and writes the name into every
Service override before the first apply, so that the operators' default names never matter.`,
  example: { cloud: 'rhoso2', pool: 'internalapi', other: 'rhoso1', planned: 'openstack2-<network>' },
})

export const ownerNotFound = problem<{ query: string; nearest: string | undefined }>({
  code: 'SL2508',
  severity: 'error',
  title: 'The site has no such address or name',
  message: ({ query, nearest }) =>
    `${query} is neither a name nor in a subnet of this site${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: () => 'see the networks with `stackloom plan`, and the names with `stackloom plan -o json`',
  description: `\`stackloom ip\` knows the addresses of every network of the site and the networks of the cluster itself, and
the names of nodes, data plane hosts, endpoints and slots.`,
  example: { query: 'compute-9', nearest: 'compute-0' },
})

/** SL92xx: whether a cluster has room for the site's clouds, and what is supported. */
import { problem } from '../../errors/finding.ts'

export const tooLittleMemory = problem<{ clouds: number; needed: string; free: string }>({
  code: 'SL9201',
  severity: 'warning',
  title: 'The nodes may have too little memory for the clouds',
  message: ({ clouds, needed, free }) =>
    `${clouds} control plane${clouds === 1 ? '' : 's'} use about ${needed} of memory, and the nodes have ${free} for them`,
  remedy: () =>
    'add nodes or memory, or fewer clouds; lower the replicas of galera, rabbitmq and ovn where that will do',
  description: `A highly available control plane was measured at 15.4 GiB and half a CPU while idle. What the nodes have is their
allocatable memory less what pods outside the clouds have requested. OpenStack's pods mostly request nothing, so the
scheduler does not refuse them: the node starts to kill them later.`,
  example: { clouds: 5, needed: '77 GiB', free: '41 GiB' },
})

export const tooLittleCpu = problem<{ clouds: number; needed: string; free: string }>({
  code: 'SL9202',
  severity: 'warning',
  title: 'The nodes may have too little CPU for the clouds',
  message: ({ clouds, needed, free }) =>
    `${clouds} control plane${clouds === 1 ? '' : 's'} use about ${needed} CPUs when idle, and the nodes have ${free} for them`,
  remedy: () => 'add nodes or CPUs, or fewer clouds',
  description: `A highly available control plane was measured at 0.47 CPU while idle; deploying one, and using it, takes several
times that. What the nodes have is their allocatable CPU less what pods outside the clouds have requested.`,
  example: { clouds: 5, needed: '2.4', free: '1.5' },
})

export const tooFewVolumes = problem<{ storageClass: string; needed: number; there: number }>({
  code: 'SL9203',
  severity: 'warning',
  title: 'There are too few volumes for the clouds',
  message: ({ storageClass, needed, there }) =>
    `the clouds need ${needed} volumes of class ${storageClass}, which makes none by itself, and ${there} are free or theirs`,
  remedy: ({ storageClass }) =>
    `make more PersistentVolumes of class ${storageClass}, or name a class with a provisioner in the site file`,
  description: `Databases, message queues, OVN's databases and image storage claim a volume for each replica. A class without a
provisioner (local disks) only gives out what somebody has made: the first claim too many stays pending, and its pod with it.`,
  example: { storageClass: 'local-storage', needed: 30, there: 24 },
})

export const tooFewAddresses = problem<{ owner: string; needed: number; free: number; holders: string }>({
  code: 'SL9204',
  severity: 'error',
  title: 'Addresses that a cloud needs for its Services are taken',
  message: ({ owner, needed, free, holders }) =>
    `${owner} needs ${needed} LoadBalancer addresses, and ${free} of its span are free; taken by ${holders}`,
  remedy: () => 'free the addresses, or plan another `vips` span',
  description: `The plan has room for every VIP in its span, but on the cluster Services of other namespaces already hold addresses
of it: MetalLB will not give them a second time, and the cloud's Services stay pending.`,
  example: { owner: 'rhoso2/internalapi', needed: 3, free: 2, holders: 'shop/web' },
})

export const plannedVipTaken = problem<{
  owner: string
  address: string
  slots: readonly string[]
  holder: string
}>({
  code: 'SL9205',
  severity: 'error',
  title: 'A planned VIP is held by a Service of another namespace',
  message: ({ owner, address, slots, holder }) =>
    `${owner} plans ${address} for ${slots.join(', ')}, and Service ${holder} holds it`,
  remedy: ({ holder }) =>
    `free it (kubectl -n ${holder.split('/')[0]} get service ${holder.split('/')[1]}), or pin another address under \`vips\` in the site file`,
  description: `MetalLB gives an address to Services of one namespace only. A cloud whose VIP is taken would be deployed up to its
Services, and they would stay pending: so \`up\` looks before it begins.`,
  example: {
    owner: 'rhoso2/internalapi',
    address: '172.27.0.80',
    slots: ['keystone.internal', 'nova.internal'],
    holder: 'shop/web',
  },
})

export const tooManyClouds = problem<{ clouds: number }>({
  code: 'SL9211',
  severity: 'warning',
  title: 'More clouds than are supported on one cluster',
  message: ({ clouds }) => `the site has ${clouds} clouds; up to 5 on one cluster are supported`,
  remedy: () => 'spread the clouds over several clusters if you need support for them',
  description: `Stackloom plans and deploys more, and tests with fifty. The supported number of control planes on one cluster is
five: beyond it etcd, the operators and the nodes are yours to watch.`,
  example: { clouds: 7 },
})

export const tooManyHosts = problem<{ hosts: number }>({
  code: 'SL9212',
  severity: 'warning',
  title: 'More data plane hosts than are supported',
  message: ({ hosts }) => `the site has ${hosts} data plane hosts; up to 250 are supported`,
  remedy: () => 'spread the hosts over several sites if you need support for them',
  description: `Stackloom plans thousands. The supported number is 250; beyond it the time of a deployment, the load on RabbitMQ and
the size of OVN's databases are yours to watch.`,
  example: { hosts: 320 },
})

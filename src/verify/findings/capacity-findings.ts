/** SL92xx: whether a cluster has enough capacity for the clouds of the site. */
import { problem } from '../../errors/finding.ts'

export const tooLittleMemory = problem<{ clouds: number; needed: string; free: string }>({
  code: 'SL9201',
  severity: 'warning',
  title: 'The nodes may have too little memory for the clouds',
  message: ({ clouds, needed, free }) =>
    `${clouds} control plane${clouds === 1 ? '' : 's'} use about ${needed} of memory, but the nodes have only ${free} free`,
  remedy: () => 'add nodes or memory, reduce the number of clouds, or lower the replicas of galera, rabbitmq and ovn',
  description: `A highly available control plane was measured at 15.4 GiB and half a CPU while idle. Free memory is the allocatable memory of the
nodes minus the requests of pods outside the clouds. OpenStack pods mostly have no requests, so the scheduler accepts them and
the node kills them later.`,
  example: { clouds: 5, needed: '77 GiB', free: '41 GiB' },
})

export const tooLittleCpu = problem<{ clouds: number; needed: string; free: string }>({
  code: 'SL9202',
  severity: 'warning',
  title: 'The nodes may have too little CPU for the clouds',
  message: ({ clouds, needed, free }) =>
    `${clouds} control plane${clouds === 1 ? '' : 's'} use about ${needed} CPUs when idle, but the nodes have only ${free} free`,
  remedy: () => 'add nodes or CPUs, or reduce the number of clouds',
  description: `A highly available control plane was measured at 0.47 CPU while idle; deploying and using it needs several times that. Free CPU
is the allocatable CPU of the nodes minus the requests of pods outside the clouds.`,
  example: { clouds: 5, needed: '2.4', free: '1.5' },
})

export const tooFewVolumes = problem<{ storageClass: string; needed: number; there: number }>({
  code: 'SL9203',
  severity: 'warning',
  title: 'There are too few volumes for the clouds',
  message: ({ storageClass, needed, there }) =>
    `the clouds need ${needed} volumes of class ${storageClass}, which has no provisioner, but only ${there} are available`,
  remedy: ({ storageClass }) =>
    `create more PersistentVolumes of class ${storageClass}, or set a class with a provisioner in the site file`,
  description: `Databases, message queues, OVN databases and image storage claim one volume per replica. A class without a provisioner (local
disks) only has volumes that were created manually: claims without a free volume stay pending, and so do their pods.`,
  example: { storageClass: 'local-storage', needed: 30, there: 24 },
})

export const tooFewAddresses = problem<{ owner: string; needed: number; free: number; holders: string }>({
  code: 'SL9204',
  severity: 'error',
  title: 'A cloud has too few free addresses for its Services',
  message: ({ owner, needed, free, holders }) =>
    `${owner} needs ${needed} LoadBalancer addresses, but only ${free} of its span are free; used by ${holders}`,
  remedy: () => 'release the addresses, or plan another `vips` span',
  description: `The planned span is large enough for every VIP, but Services of other namespaces already use some of its addresses: MetalLB does
not assign them twice, and Services of the cloud stay pending.`,
  example: { owner: 'rhoso2/internalapi', needed: 3, free: 2, holders: 'shop/web' },
})

export const plannedVipTaken = problem<{ owner: string; address: string; slots: readonly string[]; holder: string }>({
  code: 'SL9205',
  severity: 'error',
  title: 'A Service of another namespace uses a planned VIP',
  message: ({ owner, address, slots, holder }) =>
    `${address} is planned for ${slots.join(', ')} of ${owner}, but Service ${holder} has it`,
  remedy: ({ holder }) =>
    `release it (kubectl -n ${holder.split('/')[0]} get service ${holder.split('/')[1]}), or pin another address under \`vips\` in the site file`,
  description: `MetalLB shares an address only within one namespace. If a VIP is in use, the Services of the cloud would stay pending after the
deployment, so \`up\` checks this first.`,
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
  title: 'The site has more clouds than one cluster supports',
  message: ({ clouds }) => `the site has ${clouds} clouds; up to 5 on one cluster are supported`,
  remedy: () => 'distribute the clouds over several clusters if you need support',
  description: `Up to five control planes on one cluster are supported. Stackloom plans and deploys more, and is tested with fifty, but you must
monitor etcd, the operators and the nodes yourself.`,
  example: { clouds: 7 },
})

export const tooManyHosts = problem<{ hosts: number }>({
  code: 'SL9212',
  severity: 'warning',
  title: 'The site has more data plane hosts than supported',
  message: ({ hosts }) => `the site has ${hosts} data plane hosts; up to 250 are supported`,
  remedy: () => 'distribute the hosts over several sites if you need support',
  description: `Up to 250 hosts are supported. Stackloom plans thousands, but you must monitor the deployment time, the load on RabbitMQ and the
size of the OVN databases yourself.`,
  example: { hosts: 320 },
})

/** SL92xx: whether a cluster has enough capacity for the clouds of the site. */
import { problem } from '../../errors/finding.ts'

export const tooLittleMemory = problem<{ clouds: number; needed: string; free: string }>({
  code: 'SL9201',
  severity: 'warning',
  message: ({ clouds, needed, free }) =>
    `${clouds} control plane${clouds === 1 ? '' : 's'} use about ${needed} of memory, but the nodes have only ${free} free`,
  remedy: () => 'add nodes or memory, reduce the number of clouds, or lower the replicas of galera, rabbitmq and ovn',
})

export const tooLittleCpu = problem<{ clouds: number; needed: string; free: string }>({
  code: 'SL9202',
  severity: 'warning',
  message: ({ clouds, needed, free }) =>
    `${clouds} control plane${clouds === 1 ? '' : 's'} use about ${needed} CPUs when idle, but the nodes have only ${free} free`,
  remedy: () => 'add nodes or CPUs, or reduce the number of clouds',
})

export const tooFewVolumes = problem<{ storageClass: string; needed: number; there: number }>({
  code: 'SL9203',
  severity: 'warning',
  message: ({ storageClass, needed, there }) =>
    `the clouds need ${needed} volumes of class ${storageClass}, which has no provisioner, but only ${there} are available`,
  remedy: ({ storageClass }) =>
    `create more PersistentVolumes of class ${storageClass}, or set a class with a provisioner in the site file`,
})

export const tooFewAddresses = problem<{ owner: string; needed: number; free: number; holders: string }>({
  code: 'SL9204',
  severity: 'error',
  message: ({ owner, needed, free, holders }) =>
    `${owner} needs ${needed} LoadBalancer addresses, but only ${free} of its span are free; used by ${holders}`,
  remedy: () => 'release the addresses, or plan another `vips` span',
})

export const plannedVipTaken = problem<{ owner: string; address: string; slots: readonly string[]; holder: string }>({
  code: 'SL9205',
  severity: 'error',
  message: ({ owner, address, slots, holder }) =>
    `${address} is planned for ${slots.join(', ')} of ${owner}, but Service ${holder} has it`,
  remedy: ({ holder }) =>
    `release it (\`kubectl -n ${holder.split('/')[0]} get service ${holder.split('/')[1]}\`), or pin another address under \`vips\` in the site file`,
})

export const tooManyClouds = problem<{ clouds: number }>({
  code: 'SL9211',
  severity: 'warning',
  message: ({ clouds }) => `the site has ${clouds} clouds; up to 5 on one cluster are supported`,
  remedy: () => 'distribute the clouds over several clusters if you need support',
})

export const tooManyHosts = problem<{ hosts: number }>({
  code: 'SL9212',
  severity: 'warning',
  message: ({ hosts }) => `the site has ${hosts} data plane hosts; up to 250 are supported`,
  remedy: () => 'distribute the hosts over several sites if you need support',
})

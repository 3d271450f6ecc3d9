/** SL814x to SL816x: settings that Kolla-Ansible would refuse or ignore, and the known risks of a lab. */
import { problem } from '../../errors/finding.ts'

export const perNodeInGlobals = problem<{ variable: string }>({
  code: 'SL8140',
  severity: 'error',
  message: ({ variable }) => `${variable} differs between nodes, and globals.yml overrides every other place`,
  remedy: ({ variable }) => `move ${variable} to openstack.hostVars, below the node's name`,
})

export const removedVariable = problem<{ variable: string; instead: string }>({
  code: 'SL8141',
  severity: 'error',
  message: ({ variable }) => `this release of Kolla-Ansible does not read ${variable}`,
  remedy: ({ instead }) => instead,
})

export const refusedByPrechecks = problem<{ variable: string; why: string }>({
  code: 'SL8142',
  severity: 'error',
  message: ({ variable, why }) => `${variable}: ${why}`,
  remedy: ({ variable }) => `remove ${variable}, or give it a value that prechecks accept`,
})

export const managedVariable = problem<{ variable: string; field: string }>({
  code: 'SL8143',
  severity: 'error',
  message: ({ variable, field }) => `${field} sets ${variable}, so it must not be set in globals`,
  remedy: ({ field }) => `remove it and set ${field}`,
})

export const tgtdWithoutTarget = problem<{ node: string; has: string; lacks: string }>({
  code: 'SL8144',
  severity: 'error',
  message: ({ node, has, lacks }) => `${node}: ${has} is set without ${lacks}`,
  remedy: () => 'remove it: `lab render` sets both to the address on the storage network',
})

export const invalidRouterId = problem<{ id: number }>({
  code: 'SL8145',
  severity: 'error',
  message: ({ id }) => `keepalived's router id is ${id}; it must be from 1 to 255`,
  remedy: () => 'choose another id, such as 51',
})

export const unknownVariable = problem<{ variable: string; nearest: string | undefined }>({
  code: 'SL8146',
  severity: 'error',
  message: ({ variable, nearest }) =>
    `nothing in Kolla-Ansible reads ${variable}${nearest ? `; did you mean ${nearest}?` : ''}`,
  remedy: ({ variable, nearest }) =>
    nearest ? `write ${nearest}, or remove ${variable}` : `remove ${variable}, or accept SL8146 with the reason`,
})

export const runsOnHost = problem<{ field: string; why: string }>({
  code: 'SL8147',
  severity: 'error',
  message: ({ field, why }) => `${field} could run a program on this machine: ${why}`,
  remedy: ({ field }) => `write the value of ${field} out, or use filters only, such as {{ name | default('x') }}`,
})

export const storageWithoutDisks = problem<{ phase: string; why: string }>({
  code: 'SL8150',
  severity: 'error',
  message: ({ phase, why }) => `storage phase ${phase}: ${why}`,
  remedy: ({ phase }) =>
    phase === 'lvm'
      ? 'give a node with the role storage disks: {lvm: 10GiB}'
      : 'give two nodes disks: {osd: 20GiB}, and one node the role ceph-mon',
})

export const imagesNotPublished = problem<{ tag: string }>({
  code: 'SL8151',
  severity: 'error',
  message: ({ tag }) => `upstream publishes no images ${tag}`,
  remedy: () => 'use containers.base: debian, or containers.build: all',
})

export const imageWithoutChecksum = problem<{ image: string }>({
  code: 'SL8152',
  severity: 'warning',
  message: ({ image }) => `${image} is used without a checksum`,
  remedy: () => 'add vm.image.sha256',
})

export const vipsEqual = problem<{ address: string }>({
  code: 'SL8153',
  severity: 'error',
  message: ({ address }) => `the internal and the external VIP are both ${address}`,
  remedy: () => 'give the external VIP an address of the external network',
})

export const imagesUntested = problem<{ tag: string }>({
  code: 'SL8160',
  severity: 'info',
  message: ({ tag }) => `${tag}: upstream builds these images weekly and does not test them`,
  remedy: () => 'if an image fails, add it to containers.build: the stage `images` builds it from source',
})

export const emulatedGuests = problem<{ arch: string }>({
  code: 'SL8161',
  severity: 'info',
  message: ({ arch }) => `instances run in emulation (TCG) inside the ${arch} nodes, and are slow`,
  remedy: () => 'no change is needed: nova_compute_virt_type is qemu and the CPU model is max, as emulation requires',
})

export const partsWithoutTls = problem<{ without: string }>({
  code: 'SL8162',
  severity: 'info',
  message: ({ without }) => `without TLS in this release: ${without}`,
  remedy: () => 'no change is needed: this traffic stays on isolated networks; the README of the tree lists it',
})

export const stateOnOsDisk = problem<{ node: string }>({
  code: 'SL8163',
  severity: 'info',
  message: ({ node }) => `${node} keeps the database, the queue and Glance's images on its OS disk`,
  remedy: ({ node }) => `to replace ${node} without a backup, give it disks: {state: 40GiB}`,
})

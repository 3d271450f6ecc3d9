/** Generates desired states around what the renderer writes, and mistakes that people make in such states. */
import fc from 'fast-check'
import type { Interface, NetworkState } from '../../../src/sandbox/actors/nmstate/enactments.ts'

export const NICS = ['eth1', 'eth2']

/** Every second state or so has no mistake. */
const rarely = <T>(usual: fc.Arbitrary<T>, mistake: T, weight = 1): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 40 }, { arbitrary: fc.constant(mistake), weight })

/** nmstate tries these mistakes for minutes: a few of each are enough. */
const seldom = <T>(usual: fc.Arbitrary<T>, mistake: T): fc.Arbitrary<T> =>
  fc.oneof({ arbitrary: usual, weight: 150 }, { arbitrary: fc.constant(mistake), weight: 1 })

const ipv4 = fc.record({
  enabled: fc.constant(true),
  dhcp: fc.constant(false),
  address: fc.tuple(
    fc.record({
      ip: rarely(
        fc.integer({ min: 1, max: 250 }).map((host) => `172.17.${host % 5}.${host}`),
        'fd00::1',
      ),
      'prefix-length': rarely(fc.constantFrom(16, 24, 32), 33),
    }),
  ),
})
const ipv6 = fc.record({
  enabled: fc.constant(true),
  dhcp: fc.constant(false),
  autoconf: fc.constant(false),
  address: fc.tuple(
    fc.record({
      ip: rarely(
        fc.integer({ min: 1, max: 250 }).map((host) => `fd00:17:${host % 5}::${host}`),
        '172.17.0.1',
      ),
      'prefix-length': rarely(fc.constantFrom(64, 128), 129),
    }),
  ),
})
const off = fc.constant({ enabled: false })
const addressing = fc.oneof(
  fc.record({ ipv4, ipv6: off }),
  fc.record({ ipv4, ipv6 }),
  fc.record({ ipv4: off, ipv6: off }),
)
const mtu = rarely(fc.constantFrom(1400, 1500), 1000)

const ethernet = fc
  .record({ name: seldom(fc.constantFrom(...NICS), 'eth9'), mtu: fc.constantFrom(1500, 9000) })
  .map(({ name, mtu: bytes }) => ({ name, type: 'ethernet', state: 'up', mtu: bytes }))

const vlan = fc
  .record({
    base: seldom(rarely(fc.constantFrom('eth1', 'eth2'), 'bond0', 2), 'eth9'),
    id: rarely(fc.integer({ min: 20, max: 23 }), 5000, 1),
    bytes: seldom(mtu, 9000),
    addresses: addressing,
    alias: seldom(fc.constant<string | undefined>(undefined), 'internal'),
    extra: rarely(fc.constant({}), { mtuu: 1500 }, 1),
    name: rarely(fc.constant<string | undefined>(undefined), 'a-name-of-16-byte', 1),
  })
  .map(({ base, id, bytes, addresses, alias, name, extra }) => ({
    name: name ?? alias ?? `${base}.${id}`,
    type: 'vlan',
    state: 'up',
    mtu: bytes,
    vlan: { 'base-iface': base, id },
    ...addresses,
    ...extra,
  }))

const bridge = fc
  .record({
    name: fc.constantFrom('br0', 'br1'),
    ports: fc.subarray(['eth1', 'eth2', 'eth1.20', 'eth2.21'], { maxLength: 2 }),
    unknown: rarely(fc.constant<readonly string[]>([]), ['nothing0'], 1),
    bytes: mtu,
    addresses: addressing,
  })
  .map(({ name, ports, unknown, bytes, addresses }) => ({
    name,
    type: 'linux-bridge',
    state: 'up',
    mtu: bytes,
    bridge: { options: { stp: { enabled: false } }, port: [...ports, ...unknown].map((port) => ({ name: port })) },
    ...addresses,
  }))

const bond = fc
  .record({
    mode: rarely(fc.constantFrom<string | undefined>('active-backup', 'balance-xor'), undefined, 3),
    ports: fc.subarray(NICS, { minLength: 1 }),
  })
  .map(({ mode, ports }) => ({
    name: 'bond0',
    type: 'bond',
    state: 'up',
    'link-aggregation': { ...(mode !== undefined && { mode }), port: ports },
  }))

const absent = fc
  .constantFrom(
    ...['eth1.20', 'eth1.21', 'eth2.20', 'eth2.21', 'bond0.20'].map((name) => ({ name, type: 'vlan' })),
    ...['br0', 'br1'].map((name) => ({ name, type: 'linux-bridge' })),
    { name: 'bond0', type: 'bond' },
  )
  .map((iface) => ({ ...iface, state: 'absent' }))

const anyInterface: fc.Arbitrary<Interface> = fc.oneof(
  { arbitrary: vlan, weight: 8 },
  { arbitrary: ethernet, weight: 2 },
  { arbitrary: bridge, weight: 2 },
  { arbitrary: bond, weight: 1 },
  { arbitrary: absent, weight: 4 },
)

const route = fc.record({
  destination: fc.constantFrom('172.31.0.0/24', 'fd00:31::/64'),
  'next-hop-interface': fc.constantFrom('eth1.20', 'eth2.21', 'br0'),
  metric: fc.constant(100),
})

export const generatedState: fc.Arbitrary<NetworkState> = fc
  .record({
    interfaces: fc.uniqueArray(anyInterface, { minLength: 1, maxLength: 2, selector: ({ name }) => name }),
    routes: fc.oneof({ arbitrary: fc.constant(undefined), weight: 9 }, { arbitrary: route, weight: 1 }),
    blocks: rarely(fc.constant(false), true, 4),
  })
  .map(({ interfaces, routes, blocks }) => ({
    interfaces,
    ...(routes && { routes: { config: [routes] } }),
    ...(blocks && {
      'route-rules': { config: [{ iif: 'eth1', family: 'ipv4', 'route-table': 18_000, priority: 18_020 }] },
    }),
  }))

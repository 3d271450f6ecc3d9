/** Tests what happens to node policies, which belong to the whole site, when a cloud or a node leaves the site file. */
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getList, getString } from '../../../src/api/raw-object.ts'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'

const POLICY = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' }
const NODE_STATE = { apiVersion: 'nmstate.io/v1beta1', kind: 'NodeNetworkState' }
const rhoso1 = { name: 'rhoso1', namespace: 'openstack' }
const rhoso2 = { name: 'rhoso2', namespace: 'openstack2' }

interface Words {
  readonly clouds: readonly object[]
  readonly nodes?: number
  readonly isolation?: 'vlan-per-cloud' | 'shared-vlan'
  readonly forwarding?: 'block' | 'allow'
}

/** JSON is YAML. */
function siteOf({ clouds, nodes = 2, isolation = 'vlan-per-cloud', forwarding = 'block' }: Words): string {
  const cluster = {
    dns: ['192.168.122.1'],
    isolation: { forwarding },
    nodes: Array.from({ length: nodes }, (_, index) => ({
      name: `worker-${index}`,
      nics: { main: 'enp6s0', storage: 'enp7s0' },
    })),
  }
  return JSON.stringify({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'nodes' },
    spec: { cluster, addressing: { isolation }, clouds },
  })
}

describe('node networking', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', controllerManager: true })
  let cast: RunningActors | undefined
  const folder = useFolder()

  beforeAll(async () => {
    await prepareCluster(cluster.client, ['worker-0', 'worker-1'])
    cast = startActors(cluster.connection, ['nmstate'])
  }, 600_000)
  afterAll(() => cast?.stop())

  const stackloom = runCommands(folder, cluster)
  const write = (words: Words) => writeFile(path.join(folder, 'site.yaml'), siteOf(words))
  /** With namespace and attachments: a cloud without any object counts as not deployed. */
  const UP = ['up', ...['nncp', 'namespace', 'netattach'].flatMap((stage) => ['--stage', stage]), '--yes']
  const up = async (...words: readonly string[]) => {
    const { code, err } = await stackloom(...UP, ...words)
    expect(code, err).toBe(0)
    return err
  }
  const down = async (...words: readonly string[]) => {
    const { code, err } = await stackloom('down', '--yes', '--events', 'jsonl', ...words)
    expect(code, err).toBe(0)
    return err
  }
  /** By name: equal versions mean that nothing was written in between. */
  const policies = async (): Promise<Readonly<Record<string, string>>> => {
    const { items } = await cluster.client.list(POLICY)
    return Object.fromEntries(
      items.map(({ metadata, ...one }) => [
        metadata.name,
        JSON.stringify([metadata.uid, metadata.generation, one['spec']]),
      ]),
    )
  }
  const ofOthers = (all: Readonly<Record<string, string>>, without: RegExp) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !without.test(name)))
  /** Interfaces and addresses in the policies of a node. */
  const addressesOn = async (node: string): Promise<readonly string[]> => {
    const { items } = await cluster.client.list(POLICY)
    return items
      .filter((item) => getString(item, 'spec', 'nodeSelector', 'kubernetes.io/hostname') === node)
      .flatMap((item) => getList(item, 'spec', 'desiredState', 'interfaces'))
      .flatMap((iface) =>
        getList(iface, 'ipv4', 'address').map((address) => `${getString(iface, 'name')} ${getString(address, 'ip')}`),
      )
      .sort()
  }
  /** What a node has: interfaces by name, and the number of routes and rules. */
  const stateOf = async (node: string) => {
    const state = await cluster.client.get({ ...NODE_STATE, name: node })
    const list = (...path: readonly string[]) => getList(state, 'status', 'currentState', ...path)
    return {
      interfaces: list('interfaces').flatMap((iface) => getString(iface, 'name') ?? []),
      routes: list('routes', 'config').length,
      rules: list('route-rules', 'config').length,
    }
  }
  /** Changes of a policy, in order. */
  const doneTo = (events: string, name: string): readonly string[] =>
    events
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
      .filter(({ kind, object }) => kind === 'applied' && object?.name === name)
      .map(({ change }) => change)

  describe('of clouds with segments of their own', () => {
    it('of a cloud that left the site file is not pruned', async () => {
      await write({ clouds: [rhoso1, rhoso2] })
      await up()
      const before = await policies()
      expect(Object.keys(before).sort()).toEqual([
        'openstack-worker-0',
        'openstack-worker-1',
        'openstack2-worker-0',
        'openstack2-worker-1',
        'stackloom-base-worker-0',
        'stackloom-base-worker-1',
      ])
      await write({ clouds: [rhoso1] })
      expect(await up('--prune')).toContain('SL2405')
      expect(await policies()).toEqual(before)
    })

    it('is removed from the nodes with its cloud; that of other clouds is unchanged', async () => {
      const before = await policies()
      const events = await down('--cloud', 'rhoso2')
      expect(doneTo(events, 'openstack2-worker-1')).toEqual(['changed', 'deleted'])
      expect(await policies()).toEqual(ofOthers(before, /^openstack2-/))
    })

    it('of a node that left the site file is shown, and removed only with --prune', async () => {
      const before = await policies()
      await write({ clouds: [rhoso1], nodes: 1 })
      await up()
      expect(await policies()).toEqual(before)
      const shown = await stackloom('diff')
      expect(shown.out).toContain('openstack-worker-1')
      await up('--prune')
      expect(await policies()).toEqual(ofOthers(before, /worker-1/))
      await down('--all')
      expect(await policies()).toEqual({})
    })
  })

  describe('that changes in the site file', () => {
    const withRoute = { networks: { internalapi: { routes: [{ destination: '10.9.0.0/24', nexthop: '+1' }] } } }
    const withoutStorage = { ...rhoso1, networks: { storage: false } }
    const expectPlanned = async () => expect((await stackloom('diff')).out).not.toMatch(/worker-\d/)

    it('loses the interfaces of a network that left the cloud, with its rules, and keeps the others', async () => {
      await rm(path.join(folder, 'site.lock.yaml'), { force: true })
      await write({ clouds: [{ ...rhoso1, ...withRoute }, rhoso2] })
      await up()
      const before = await stateOf('worker-0')
      expect(before.interfaces).toContain('enp6s0.21')
      const others = ofOthers(await policies(), /^openstack-/)
      await write({ clouds: [{ ...withoutStorage, networks: { ...withRoute.networks, storage: false } }, rhoso2] })
      const shown = await stackloom('diff')
      expect(shown.out).toContain('enp6s0.21')
      const events = await up('--events', 'jsonl')
      expect(doneTo(events, 'openstack-worker-0')).toEqual(['changed', 'changed'])
      const after = await stateOf('worker-0')
      expect(after).toEqual({
        interfaces: before.interfaces.filter((name) => name !== 'enp6s0.21'),
        routes: before.routes - 1,
        rules: before.rules - 1,
      })
      expect(ofOthers(await policies(), /^openstack-/)).toEqual(others)
      await expectPlanned()
    })

    it('loses a route on an interface that stays', async () => {
      const before = await stateOf('worker-1')
      await write({ clouds: [withoutStorage, rhoso2] })
      await up()
      expect(await stateOf('worker-1')).toEqual({ ...before, routes: before.routes - 1 })
      await expectPlanned()
    })

    it('loses the rules of every cloud when forwarding is allowed', async () => {
      const before = await stateOf('worker-1')
      expect(before.rules).toBeGreaterThan(0)
      await write({ clouds: [withoutStorage, rhoso2], forwarding: 'allow' })
      await up()
      expect(await stateOf('worker-1')).toEqual({ ...before, routes: 0, rules: 0 })
      await expectPlanned()
    })

    it('loses the address of a NIC whose untagged network leaves the cloud', async () => {
      const addressesOf = async (nic: string) => {
        const state = await cluster.client.get({ ...NODE_STATE, name: 'worker-0' })
        const interfaces = getList(state, 'status', 'currentState', 'interfaces')
        const found = interfaces.find((iface) => getString(iface, 'name') === nic)
        return found && getList(found, 'ipv4', 'address').map((address) => getString(address, 'ip'))
      }
      const onNic = { ...rhoso1, networks: { storage: { nic: 'storage', vlan: 'untagged' } } }
      await write({ clouds: [onNic, rhoso2], forwarding: 'allow' })
      await up('--allow-move', 'rhoso1/storage')
      expect(await addressesOf('enp7s0')).toEqual([expect.stringMatching(/^172\.18\.0\./)])
      await write({ clouds: [withoutStorage, rhoso2], forwarding: 'allow' })
      await up()
      expect(await addressesOf('enp7s0')).toEqual([])
      await expectPlanned()
    })

    it('is completed by the next run when one ended after it had removed an interface', async () => {
      const before = await stateOf('worker-0')
      const live = await cluster.client.get({ ...POLICY, name: 'openstack-worker-0' })
      const interfaces = [{ name: 'enp6s0.22', type: 'vlan', state: 'absent' }]
      const metadata = { name: 'openstack-worker-0', labels: live?.metadata.labels ?? {} }
      const spec = { ...(live?.['spec'] as object), desiredState: { interfaces } }
      await cluster.client.apply({ ...POLICY, metadata, spec }, { fieldManager: 'stackloom' })
      await up()
      expect((await stateOf('worker-0')).interfaces.toSorted()).toEqual(before.interfaces.toSorted())
      await expectPlanned()
      await down('--all')
    })
  })

  describe('of clouds that share their segments', () => {
    const words = { isolation: 'shared-vlan' } as const
    let alone: readonly string[] = []

    it('has one policy for each node, to which the second cloud adds its addresses', async () => {
      await rm(path.join(folder, 'site.lock.yaml'), { force: true })
      await write({ ...words, clouds: [rhoso1] })
      await up()
      alone = await addressesOn('worker-0')
      await write({ ...words, clouds: [rhoso1, rhoso2] })
      await up()
      expect(Object.keys(await policies())).toEqual(['stackloom-base-worker-0', 'stackloom-base-worker-1'])
      const both = await addressesOn('worker-0')
      expect(both).toEqual(expect.arrayContaining([...alone]))
      expect(both).toContain('enp6s0.20 172.17.1.5')
    })

    it('keeps the addresses of a cloud that is still deployed', async () => {
      const before = await policies()
      await write({ ...words, clouds: [rhoso1] })
      const refused = await stackloom(...UP, '--prune')
      expect({ code: refused.code, err: refused.err }).toEqual({
        code: 1,
        err: expect.stringMatching(/SL4027.*rhoso2.*172\.17\.1\.5/),
      })
      expect(await policies()).toEqual(before)
    })

    it('is unchanged by down; the next up removes exactly the addresses of that cloud', async () => {
      const before = await policies()
      await down('--cloud', 'rhoso2')
      expect(await policies()).toEqual(before)
      // Its addresses are free, although no plan was made since it left the file.
      expect(await up('--prune')).not.toContain('SL2405')
      expect(Object.keys(await policies())).toEqual(Object.keys(before))
      expect(await addressesOn('worker-0')).toEqual(alone)
    })
  })
})

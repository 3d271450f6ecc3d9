import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getField } from '../../../src/api/raw-object.ts'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'

const site = (hosts: Readonly<Record<string, string>>): string => `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: moved}
spec:
  cluster:
    dns: [192.168.122.1]
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
  - name: rhoso1
    namespace: openstack
    nodeSets: [{name: compute}, {name: networker, role: networker}]
    hosts: [${Object.entries(hosts)
      .map(([name, nodeSet]) => `{name: ${name}, nodeSet: ${nodeSet}}`)
      .join(', ')}]
`

describe('a host of a node set', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  const folder = useFolder()
  const stackloom = runCommands(folder, cluster)
  let actors: RunningActors | undefined

  beforeAll(async () => {
    await prepareCluster(cluster.client, ['worker-0'])
    actors = startActors(cluster.connection)
  }, 600_000)
  afterAll(() => actors?.stop())

  const write = (hosts: Readonly<Record<string, string>>): Promise<void> =>
    writeFile(path.join(folder, 'site.yaml'), site(hosts))
  /** By host: its node set and the address of its control plane network. */
  const placements = async (): Promise<Readonly<Record<string, readonly unknown[]>>> => {
    const kind = { apiVersion: 'dataplane.openstack.org/v1beta1', kind: 'OpenStackDataPlaneNodeSet' }
    const { items } = await cluster.client.list(kind)
    return Object.fromEntries(
      items.flatMap((set) => {
        const nodes = getField(set, 'spec', 'nodes') as Readonly<Record<string, { networks: { fixedIP: string }[] }>>
        return Object.entries(nodes).map(([host, { networks }]) => [host, [set.metadata.name, networks[0]?.fixedIP]])
      }),
    )
  }

  it('moves to another one with its addresses', async () => {
    await write({ h0: 'compute', h1: 'compute', h2: 'networker', h3: 'networker' })
    expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
    const before = await placements()
    await write({ h0: 'compute', h1: 'networker', h2: 'compute', h3: 'networker' })
    expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
    const address = (host: string): unknown => before[host]?.[1]
    expect(await placements()).toEqual({
      h0: ['compute', address('h0')],
      h1: ['networker', address('h1')],
      h2: ['compute', address('h2')],
      h3: ['networker', address('h3')],
    })
  })

  it('leaves its node set when it leaves the site file', async () => {
    await write({ h0: 'compute', h1: 'networker', h3: 'networker' })
    const shown = await stackloom('diff')
    expect(shown).toMatchObject({ code: 1, out: expect.stringContaining('spec.nodes.h2') })
    expect(await stackloom('up', '--yes')).toMatchObject({ code: 0 })
    expect(Object.keys(await placements())).toEqual(['h0', 'h1', 'h3'])
  })

  it('is refused with the command to use when its old node set left the site file with it', async () => {
    await write({ h0: 'networker', h1: 'networker', h3: 'networker' })
    const refused = await stackloom('up', '--yes')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('SL4031')
    expect(refused.err).toMatch(/`kubectl --kubeconfig \S+ -n openstack delete openstackdataplanenodeset compute`/)
  })
})

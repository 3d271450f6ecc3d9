import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import type { PlannedCloud } from '../../../src/plan/plan.ts'
import { useCluster } from '../../cluster.ts'
import { buildForDocs, runDocCommands } from '../../doc-runner.ts'
import { sandboxCommands } from '../../doc-sandboxes.ts'
import { useFolder } from '../../folder.ts'
import { adoptPlan } from './adopt-plan.ts'
import { allActors, prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'
import { addressesIn, installCloud, installedNetConfig, installedObjects, SAMPLE, settled } from './install-yamls.ts'

const plan = adoptPlan(1)
/** With designate, whose name servers have a Service for each replica, in lists of the control plane. */
const cloud = plan.clouds[0] as PlannedCloud

const ATTACHMENT = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' }
const CONTROL_PLANE = { apiVersion: 'core.openstack.org/v1beta1', kind: 'OpenStackControlPlane' }

describe('stackloom adopt', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: '0.6.0', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined
  const folder = useFolder()
  let before: ReadonlyMap<string, string> = new Map()
  let afterAdopt: () => Promise<readonly string[]> = async () => ['the cloud is not adopted']

  beforeAll(async () => {
    await prepareCluster(
      cluster.client,
      plan.from.cluster.nodes.map(({ name }) => name),
    )
    cast = startActors(cluster.connection, [...allActors, 'services'])
    const upstream = { pool: (network: string) => network, prefixes: { designateext: '172.50.0' } }
    const objects = [...installedObjects(plan, cloud, upstream), installedNetConfig(cloud, upstream)]
    await installCloud(cluster.client, objects)
    before = await settled(cluster.client, cloud.namespace, 16)
  }, 600_000)
  afterAll(() => cast?.stop())

  const stackloom = runCommands(folder, cluster)
  const adopt = (...words: readonly string[]) => stackloom('adopt', '--cloud', cloud.namespace, ...words)

  it('uses a site file that is imported from the cluster', async () => {
    const { code, err } = await stackloom('import', '--source', 'cluster', '--out', 'site.yaml')
    expect(code, err).toBe(0)
    // Upstream's default is public address space of somebody: whoever keeps it must say so.
    const refused = await adopt()
    expect(refused.err).toContain('SL2103')
    const file = path.join(folder, 'site.yaml')
    const site = parseDocument(await readFile(file, 'utf8'))
    site.setIn(['spec', 'accept'], [{ code: 'SL2103', where: '172.50.0.0/24', reason: 'as install_yamls has it' }])
    // What the import cannot see, as guide/import says.
    site.setIn(['spec', 'cluster', 'platform'], 'openshift')
    site.setIn(['spec', 'cluster', 'dns'], ['192.168.122.1'])
    site.setIn(['spec', 'cluster', 'storageClass'], 'local')
    await writeFile(file, String(site))
    expect(site.toJS().spec.clouds[0].keep).toEqual(['attachments', 'control-plane'])
    expect(err).toContain('SL2099')
  })

  it('shows the move within 80 columns, and changes nothing without consent', async () => {
    const { code, err, out } = await adopt()
    expect({ code, out }, err).toEqual({ code: 1, out: '' })
    expect(err).toMatch(/internalapi +12 Services, seconds +internalapi -> openstack0-internalapi/)
    expect(err).toContain('keeps 172.17.0.80 172.17.0.85 172.17.0.86')
    expect(err).toContain('keeps 172.50.0.85 172.50.0.86 172.50.0.87')
    const shown = err.slice(err.indexOf('openstack0 in namespace'), err.indexOf('error SL4057')).split('\n')
    expect(shown.filter((line) => line.length > 80)).toEqual([])
    expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
  })

  it('shows the same move on stdout with --dry-run, and changes nothing', async () => {
    const { code, err, out } = await adopt('--dry-run')
    expect(code, err).toBe(0)
    expect(out).toMatch(/internalapi +12 Services, seconds +internalapi -> openstack0-internalapi/)
    expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
  })

  it('moves with consent as the guide says, keeps every address, and prints the gap of each network', async () => {
    const bin = await buildForDocs(path.join(folder, 'program'))
    const env = { KUBECONFIG: cluster.kubeconfig }
    const [adoption, ...rest] = sandboxCommands('adopt')
    expect(await runDocCommands(adoption ? [adoption] : [], { bin, cwd: folder, env })).toEqual([])
    expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
    afterAdopt = () => runDocCommands(rest, { bin, cwd: folder, env })
  })

  it('finds nothing to move in a second run', async () => {
    const { code, err } = await adopt()
    expect(code).toBe(0)
    expect(err).toContain('there is nothing to move')
  })

  const attachments = async (): Promise<readonly string[]> => {
    const { items } = await cluster.client.list(ATTACHMENT, { namespace: cloud.namespace })
    return items.map(({ metadata, ...rest }) => JSON.stringify([metadata.name, metadata.resourceVersion, rest['spec']]))
  }
  const controlPlanes = async (): Promise<readonly string[]> =>
    (await cluster.client.list(CONTROL_PLANE, { namespace: cloud.namespace })).items.map(
      ({ metadata }) => metadata.name,
    )

  it('leaves a difference that names neither the attachments nor the control plane', async () => {
    const { out, err } = await stackloom('diff', '-o', 'json')
    const { changes, refusals } = JSON.parse(out)
    expect(refusals, err).toEqual([])
    const kinds = new Set(changes.map(({ kind }: { kind: string }) => kind))
    expect(kinds).toContain('NodeNetworkConfigurationPolicy')
    expect(kinds).not.toContain('NetworkAttachmentDefinition')
    expect(kinds).not.toContain('OpenStackControlPlane')
  })

  it('is followed by an `up` that changes neither attachments, control plane nor addresses', async () => {
    const kept = await attachments()
    // diff, up and verify of the guide.
    expect(await afterAdopt()).toEqual([])
    expect(await attachments()).toEqual(kept)
    expect(await controlPlanes()).toEqual([SAMPLE])
    expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
    const { code: same, out: difference } = await stackloom('diff')
    expect(same, difference).toBe(0)
  })

  it('passes `verify`, with a warning about the attachments', async () => {
    const { code, err, out } = await stackloom('verify')
    expect(code, `${out}${err}`).toBe(0)
    expect(err).toContain('warning SL9006')
    expect(err).not.toContain('--force-conflicts')
  })

  it('has a `down` that changes nothing while the control plane of the other tool exists', async () => {
    const { client } = cluster
    const foreign = async () => ({
      attachments: await attachments(),
      controlPlanes: await controlPlanes(),
      addresses: await addressesIn(client, cloud.namespace),
      pools: (await client.list({ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' })).items.length,
    })
    const present = await foreign()
    for (const words of [['--dry-run'], ['--yes']]) {
      const { code, err } = await stackloom('down', '--cloud', cloud.namespace, ...words)
      expect(code, err).toBe(1)
      expect(err).toContain('SL4077')
    }
    expect(await foreign()).toEqual(present)
  })

  it('has an `up` that refuses to start without `keep`, because of the second control plane', async () => {
    const file = path.join(folder, 'site.yaml')
    const text = await readFile(file, 'utf8')
    const site = parseDocument(text)
    site.deleteIn(['spec', 'clouds', 0, 'keep'])
    await writeFile(file, String(site))
    const { code, err } = await stackloom('up', '--yes')
    await writeFile(file, text)
    expect(code).toBe(1)
    expect(err).toContain('SL4032')
    expect(err).toContain('keep: [control-plane]')
    expect(await controlPlanes()).toEqual([SAMPLE])
  })

  it('has a `down` that leaves what existed before, after the other tool has deleted the control plane', async () => {
    const { client } = cluster
    await client.delete({ ...CONTROL_PLANE, namespace: cloud.namespace, name: SAMPLE })
    const services = async (): Promise<number> => (await addressesIn(client, cloud.namespace)).size
    await expect.poll(services, { timeout: 120_000, interval: 200 }).toBe(0)
    const kept = (await attachments()).map((text) => JSON.parse(text)[0])
    const { code, err, out } = await stackloom('down', '--cloud', cloud.namespace, '--yes')
    expect(code, `${out}${err}`).toBe(0)
    expect((await attachments()).map((text) => JSON.parse(text)[0])).toEqual(kept)
    const secret = { apiVersion: 'v1', kind: 'Secret', namespace: cloud.namespace, name: 'osp-secret' }
    expect(await client.get(secret)).toBeDefined()
    const netConfigs = { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' }
    expect((await client.list(netConfigs, { namespace: cloud.namespace })).items.length).toBe(1)
    const pools = (await client.list({ apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' })).items
    expect(pools.filter(({ metadata }) => metadata.name.startsWith(`${cloud.namespace}-`))).toEqual([])
  })
})

import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import type { PlannedCloud } from '../../../src/plan/plan.ts'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { adoptPlan } from './adopt-plan.ts'
import { prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'
import { addressesIn, installCloud, installedObjects, settled } from './install-yamls.ts'

const plan = adoptPlan(1)
/** With designate, whose name servers have a Service for each replica, in lists of the control plane. */
const cloud = plan.clouds[0] as PlannedCloud

describe('stackloom adopt', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: '0.6.0', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined
  const folder = useFolder()
  let before: ReadonlyMap<string, string> = new Map()

  beforeAll(async () => {
    await prepareCluster(
      cluster.client,
      plan.from.cluster.nodes.map(({ name }) => name),
    )
    cast = startActors(cluster.connection, ['openstack'])
    const upstream = { pool: (network: string) => network, prefixes: { designateext: '172.50.0' } }
    await installCloud(cluster.client, installedObjects(plan, cloud, upstream))
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
    await writeFile(file, String(site))
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

  it('moves with consent, keeps every address, and prints the gap of each network', async () => {
    const { code, err, out } = await adopt('--yes', '-o', 'json')
    expect(code, err).toBe(0)
    const told = JSON.parse(out)
    expect(told).toMatchObject({ outcome: 'done', namespace: cloud.namespace })
    expect(told.networks.find(({ network }: { network: string }) => network === 'internalapi')).toMatchObject({
      interrupted: true,
      gapMs: expect.any(Number),
    })
    expect(await addressesIn(cluster.client, cloud.namespace)).toEqual(before)
  })

  it('finds nothing to move in a second run', async () => {
    const { code, err } = await adopt()
    expect(code).toBe(0)
    expect(err).toContain('there is nothing to move')
  })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { getString } from '../../../src/api/raw-object.ts'
import { main } from '../../../src/cli/main.ts'
import { systemClock } from '../../../src/clock/clock.ts'
import { openLiveView } from '../../../src/deploy/live-view.ts'
import { up } from '../../../src/deploy/up.ts'
import { update } from '../../../src/deploy/update/update.ts'
import { isUpdated, planUpdate, type UpdatePlan, updateKinds } from '../../../src/deploy/update/update-plan.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import type { RunEvent } from '../../../src/run/events.ts'
import { AVAILABLE } from '../../../src/sandbox/actors/openstack/openstack-version.ts'
import { useCluster } from '../../cluster.ts'
import { typeDocCommand } from '../../doc-sandboxes.ts'
import { testIo } from '../../io.ts'
import { neverAborted } from '../../never-aborted.ts'
import { sandboxPlan } from '../../plan.ts'
import { nodeNames, prepareCluster, type RunningActors, startActors } from './deployment-fixture.ts'

const plan = sandboxPlan({
  nodes: 1,
  clouds: [
    { name: 'rhoso1', namespace: 'openstack', hosts: [{ name: 'compute-0' }] },
    { name: 'rhoso2', namespace: 'openstack2' },
  ],
})
const documents = renderDocuments(plan)
const siteFile = `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: lab}
spec:
  cluster:
    dns: [192.168.122.1]
    nodes: [{name: worker-0, nic: enp6s0}, {name: worker-1, nic: enp6s0}, {name: worker-2, nic: enp6s0}]
  clouds:
  - {name: rhoso1, namespace: openstack}
  - {name: rhoso2, namespace: openstack2}
`
const quiet = { emit: () => undefined, stop: neverAborted(), clock: systemClock }
const versionOf = (namespace: string) => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackVersion',
  namespace,
  name: 'controlplane',
})

describe('update', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined

  beforeAll(async () => {
    await prepareCluster(cluster.client, nodeNames(plan))
    cast = startActors(cluster.connection)
    const report = await up({
      client: cluster.client,
      plan,
      documents,
      selection: {},
      run: 'test',
      what: 'up',
      sink: () => undefined,
      stop: neverAborted(),
      discoverHosts: async () => 'simulated',
    })
    expect(report.outcome).toBe('done')
    for (const { namespace } of plan.clouds) {
      const patch = { metadata: { annotations: { [AVAILABLE]: '0.7.0' } } }
      await cluster.client.patch(versionOf(namespace), patch, { type: 'merge' })
      const seen = async (): Promise<boolean> => {
        const live = await cluster.client.get(versionOf(namespace))
        return getString(live, 'status', 'availableVersion') === '0.7.0'
      }
      await vi.waitUntil(seen, { timeout: 120_000, interval: 100 })
    }
  }, 600_000)
  afterAll(() => cast?.stop())

  const inspect = async <T>(
    work: (plan: UpdatePlan, view: ReturnType<typeof openLiveView>) => Promise<T>,
  ): Promise<T> => {
    const view = openLiveView(cluster.client)
    try {
      await view.watch(updateKinds, quiet)
      return await work(planUpdate({ cloud: 'rhoso1', namespace: 'openstack' }, view.index()), view)
    } finally {
      await view.close()
    }
  }

  const objectsOf = async (namespace: string): Promise<string> => {
    const kinds = [...updateKinds, { apiVersion: 'v1', kind: 'Service' }]
    const lists = await Promise.all(kinds.map((kind) => cluster.client.list(kind, { namespace })))
    return JSON.stringify(lists.map(({ items }) => items))
  }

  it('starts with the deployed, wanted and available version', async () => {
    const found = await inspect(async (updatePlan) => updatePlan)
    expect(found).toMatchObject({ deployed: '0.6.0', target: '0.6.0', available: '0.7.0', wanted: '0.7.0' })
    expect(found.findings).toEqual([])
  })

  it("reaches the new version in upstream's order, without a write to the other cloud", async () => {
    const other = await objectsOf('openstack2')
    const events: RunEvent[] = []
    const { client } = cluster
    const report = await inspect((found, view) => {
      const { version, wanted } = found
      if (!version || wanted === undefined) throw new Error('there is nothing to update')
      const settings = { client, view, site: plan.site, run: 'test', stop: neverAborted() }
      return update({ ...settings, plan: { ...found, version, wanted }, sink: (event) => events.push(event) })
    })
    expect(report.outcome).toBe('done')
    const ended = events.filter(({ kind }) => kind === 'stage-finished').map(({ stage }) => stage)
    expect(ended).toEqual(['target', 'ovn-control-plane', 'ovn-data-plane', 'control-plane', 'data-plane', 'deployed'])
    const created = events.flatMap((event) =>
      event.kind === 'applied' && event.change === 'created' ? [event.object?.name] : [],
    )
    expect(created).toEqual(['update-ovn-0-7-0', 'update-update-0-7-0'])
    expect(await objectsOf('openstack2')).toBe(other)
  })

  it('has nothing to do in a second run', async () => {
    expect(await inspect(async (updatePlan) => isUpdated(updatePlan))).toBe(true)
  })

  const command = (...words: readonly string[]) => stackloom('update', ...words)
  const stackloom = async (...words: readonly string[]) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'stackloom-update-'))
    try {
      await writeFile(path.join(folder, 'site.yaml'), siteFile)
      const io = testIo({ cwd: folder })
      const code = await main([...words, '--kubeconfig', cluster.kubeconfig], io)
      return { code, out: io.out(), err: io.err() }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  it('shows the versions as a command, and changes nothing without consent', async () => {
    const before = await objectsOf('openstack2')
    const { err, out } = await typeDocCommand('update', 'stackloom update --cloud rhoso2', stackloom)
    expect(out).toBe('')
    expect(err).toMatch(/rhoso2 +0\.6\.0 +0\.6\.0 +0\.7\.0 +0\.7\.0/)
    expect(err).toContain('SL4073')
    expect(await objectsOf('openstack2')).toBe(before)
    const wrong = await command('--cloud', 'rhoso2', '--to', '9.9.9', '--yes')
    expect(wrong.code).toBe(1)
    expect(await objectsOf('openstack2')).toBe(before)
  })

  it('shows the versions with --dry-run, and changes nothing', async () => {
    const before = await objectsOf('openstack2')
    const { code, out } = await command('--cloud', 'rhoso2', '--dry-run')
    expect(code).toBe(0)
    expect(out).toMatch(/rhoso2 +0\.6\.0 +0\.6\.0 +0\.7\.0 +0\.7\.0/)
    expect(await objectsOf('openstack2')).toBe(before)
  })

  it('updates as a command, and reports the new version in the next run', async () => {
    const { code, out, err } = await command('--cloud', 'rhoso2', '--yes', '-o', 'json')
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ cloud: 'rhoso2', wanted: '0.7.0', outcome: 'done' })
    const again = await command('--cloud', 'rhoso2')
    expect(again.code).toBe(0)
    expect(again.out).toMatch(/rhoso2 +0\.7\.0 +0\.7\.0/)
  })
})

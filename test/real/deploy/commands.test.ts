import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { getField, getString } from '../../../src/api/raw-object.ts'
import { main } from '../../../src/cli/main.ts'
import { down } from '../../../src/deploy/down/down.ts'
import { readInventories, readInventory } from '../../../src/deploy/inventory.ts'
import type { ObjectRef } from '../../../src/kube/client.ts'
import { selfCommand } from '../../../src/sandbox/sandbox-context.ts'
import { useCluster } from '../../cluster.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { neverAborted } from '../../never-aborted.ts'
import { prepareCluster, type RunningActors, runCommands, startActors } from './deployment-fixture.ts'
import { resourceVersions, settledObjects } from './settled-objects.ts'

const site = `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: walk}
spec:
  cluster:
    dns: [192.168.122.1]
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
  - {name: rhoso1, namespace: openstack}
`
const NETWORK = { apiVersion: 'operator.openshift.io/v1', kind: 'Network', name: 'cluster' }
const DNS = { apiVersion: 'operator.openshift.io/v1', kind: 'DNS', name: 'default' }
const POOL = {
  apiVersion: 'metallb.io/v1beta1',
  kind: 'IPAddressPool',
  namespace: 'metallb-system',
  name: 'openstack-storage',
}
const CONTROL_PLANE = {
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackControlPlane',
  namespace: 'openstack',
  name: 'controlplane',
}
const LEASE = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  namespace: 'stackloom-system',
  name: 'stackloom-up',
}

/** OpenShift's settings, with any fields. */
function definition(kind: string, plural: string): KubeObject {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.operator.openshift.io` },
    spec: {
      group: 'operator.openshift.io',
      scope: 'Cluster',
      names: { kind, plural },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  }
}

describe('deployment commands', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  let cast: RunningActors | undefined
  const folder = useFolder()

  beforeAll(async () => {
    await writeFile(path.join(folder, 'site.yaml'), site)
    await prepareCluster(cluster.client, ['worker-0'])
    for (const crd of [definition('Network', 'networks'), definition('DNS', 'dnses')])
      await cluster.client.apply(crd, { fieldManager: 'administrator' })
    const settings = [
      { ref: NETWORK, spec: { defaultNetwork: { type: 'OVNKubernetes' } } },
      { ref: DNS, spec: {} },
    ]
    for (const { ref, spec } of settings) {
      const { name, ...kind } = ref
      const write = () => cluster.client.create({ ...kind, metadata: { name }, spec })
      await vi.waitFor(write, { timeout: 120_000, interval: 100 })
    }
    cast = startActors(cluster.connection)
  }, 600_000)
  afterAll(() => cast?.stop())

  const stackloom = runCommands(folder, cluster)
  const get = (ref: ObjectRef) => cluster.client.get(ref)
  const edit = (ref: ObjectRef, patch: object, fieldManager = 'a-hand') =>
    cluster.client.patch(ref, patch, { type: 'merge', fieldManager })

  /** Runs the program as a process and interrupts it with Ctrl-C when a stage starts. */
  const interruptedAt = (stage: string): Promise<{ readonly code: number | null; readonly said: string }> => {
    const [file = '', ...words] = selfCommand(path.resolve(import.meta.dirname, '../../../src/sandbox'))
    const args = [...words, 'up', '--yes', '--events', 'jsonl', '--kubeconfig', cluster.kubeconfig]
    const child = spawn(file, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    let interrupted = false
    const hear = (text: string): void => {
      said += text
      // Once: a second Ctrl-C does not wait for a safe stop.
      if (interrupted || !new RegExp(`"stage-started".*"stage":"${stage}"`).test(said)) return
      interrupted = true
      child.kill('SIGINT')
    }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    child.stderr.setEncoding('utf8').on('data', hear)
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
  }

  it('stop at Ctrl-C with 130, print their state, and release the cluster', async () => {
    const { code, said } = await interruptedAt('nncp')
    expect(code).toBe(130)
    const events = said
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    expect(events.at(-1)).toMatchObject({ kind: 'run-finished', outcome: 'stopped' })
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'stage-finished', stage: 'control-plane', outcome: 'stopped' }),
    )
    expect(said).toContain('run the same command again to resume')
    // Every write was emitted, and none happened after the last event.
    for (const { object } of events.filter(({ kind }) => kind === 'applied')) expect(await get(object)).toBeDefined()
    expect(getField(await get(LEASE), 'spec', 'holderIdentity') ?? '').toBe('')
  })

  it('resume; report cluster-wide settings and do not change them without consent', async () => {
    const { code, err, out } = await stackloom('up')
    expect(code, err).toBe(0)
    expect(err).toContain('cluster setting: network.operator/cluster')
    expect(err).toContain('SL4024')
    expect(getField(await get(NETWORK), 'spec')).toEqual({ defaultNetwork: { type: 'OVNKubernetes' } })
    expect(getField(await get(DNS), 'spec')).toEqual({})
    expect(out).toContain('stackloom access --cloud rhoso1')
  })

  it('change cluster-wide settings with consent', async () => {
    const { code, err } = await stackloom('up', '--configure-cluster')
    expect(code, err).toBe(0)
    expect(getField(await get(NETWORK), 'spec', 'defaultNetwork', 'ovnKubernetesConfig', 'gatewayConfig')).toEqual({
      routingViaHost: true,
      ipForwarding: 'Global',
    })
    expect(getField(await get(DNS), 'spec', 'upstreamResolvers', 'upstreams')).toMatchObject([
      { address: '192.168.122.1' },
      { type: 'SystemResolvConf' },
    ])
  })

  it('write nothing when nothing differs: every object keeps its resource version', async () => {
    const before = resourceVersions(await settledObjects(cluster.connection))
    const { code, err } = await stackloom('up')
    expect(code, err).toBe(0)
    // The Lease changes with every run.
    expect(resourceVersions(await settledObjects(cluster.connection))).toEqual(before)
  })

  it('find nothing to change, and exit with 0', async () => {
    const { code, out, err } = await stackloom('diff')
    expect({ code, out }, err).toEqual({ code: 0, out: 'nothing would change\n' })
    expect(await stackloom('diff', '-n', 'openstack')).toMatchObject({ code: 0 })
    // `up -n openstack9 --yes` must not deploy everything.
    for (const command of ['diff', 'up', 'status', 'down'])
      expect(
        await stackloom(command, '-n', 'openstack9', ...(command === 'status' || command === 'diff' ? [] : ['--yes'])),
      ).toMatchObject({
        code: 2,
        err: expect.stringContaining('no cloud in namespace openstack9'),
      })
    const status = await stackloom('status')
    expect(status.code, status.err).toBe(0)
    expect(status.out).toMatch(/✓ rhoso1 .*ready/)
    const verbose = await stackloom('status', '-v')
    expect(verbose.err).toMatch(/^connect to https:\/\/\S+, context /m)
    expect(verbose.err).toMatch(/^GET \/api\S+ 200$/m)
    expect(status.err).not.toContain('GET ')
    const wide = [...out.split('\n'), ...status.out.split('\n')].filter((line) => line.length > 80)
    expect(wide).toEqual([])
  })

  it('show what they would do with --dry-run, and write nothing', async () => {
    const before = resourceVersions(await settledObjects(cluster.connection))
    const up = await stackloom('up', '--dry-run', '-o', 'json')
    expect(up.code, up.err).toBe(0)
    expect(JSON.parse(up.out)).toMatchObject({ changes: [], refusals: [], findings: expect.any(Array) })
    expect((await stackloom('doctor')).err).toContain('`stackloom doctor -f site.yaml` also compares')
    const down = await stackloom('down', '--cloud', 'rhoso1', '--dry-run')
    expect(down.code, down.err).toBe(0)
    expect(down.out).toMatch(/^rhoso1: \d+ to delete, \d+ to keep\n/)
    expect(down.out).toContain(`  - IPAddressPool ${POOL.namespace}/${POOL.name}\n`)
    expect(down.err).toContain('dry run: nothing was changed')
    const all = await stackloom('down', '--all', '--dry-run', '-o', 'json')
    expect(JSON.parse(all.out)).toMatchObject({ groups: [{ cloud: 'rhoso1' }, { deleted: expect.any(Array) }] })
    expect(await stackloom('down', '--cloud', 'rhoso9', '--dry-run')).toMatchObject({ code: 1 })
    expect(resourceVersions(await settledObjects(cluster.connection))).toEqual(before)
  })

  it('stop safely at --timeout, with exit code 1 and the way to continue', async () => {
    await edit(POOL, { spec: { autoAssign: true } })
    const { code, err } = await stackloom('up', '--force-conflicts', '--yes', '--timeout', '1ms')
    expect(code).toBe(1)
    expect(err).toContain('SL4100')
    expect((await stackloom('up', '--timeout', 'soon')).code).toBe(2)
    expect((await stackloom('up', '--force-conflicts', '--yes', '--timeout', '30m')).code).toBe(0)
    expect(getField(await get(POOL), 'spec', 'autoAssign')).toBe(false)
  })

  it('show the status again after each change with --watch, until Ctrl-C', async () => {
    const stop = new AbortController()
    const io = testIo({ cwd: folder, stop: stop.signal })
    const done = main(['status', '--watch', '--all', '--kubeconfig', cluster.kubeconfig], io)
    await vi.waitFor(() => expect(io.out()).toMatch(/✓ rhoso1/), { timeout: 120_000, interval: 100 })
    await cluster.client.delete(POOL)
    await vi.waitFor(() => expect(io.out()).toMatch(/[✗●] rhoso1/), { timeout: 120_000, interval: 100 })
    stop.abort()
    expect(await done).toBe(130)
    expect((await stackloom('status', '--watch', '--from', '.')).code).toBe(2)
    expect((await stackloom('up', '--yes')).code).toBe(0)
  })

  it('show a manual edit in the diff with field, manager and risk, and exit with 1', async () => {
    await edit(POOL, { spec: { autoAssign: true } })
    const { code, out, err } = await stackloom('diff', '-o', 'json')
    expect(code).toBe(1)
    const told = JSON.parse(out)
    expect(told.changes).toMatchObject([{ change: 'update', risk: 'changes a VIP', name: POOL.name }])
    expect(err).toContain('a-hand')
    expect(getString(told.refusals[0], 'message')).toContain('autoAssign')
    // Without a terminal and --yes nothing is done.
    const asked = await stackloom('up', '--force-conflicts')
    expect(asked.code).toBe(1)
    expect(asked.err).toContain('SL4016')
    expect(getField(await get(POOL), 'spec', 'autoAssign')).toBe(true)
    expect((await stackloom('up', '--force-conflicts', '--yes')).code).toBe(0)
    expect(getField(await get(POOL), 'spec', 'autoAssign')).toBe(false)
  })

  it("report that the cluster's control plane has another schema than the lock", async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      name: 'openstackcontrolplanes.core.openstack.org',
    }
    const [version] = getField(await get(crd), 'spec', 'versions') as [{ schema: { openAPIV3Schema: unknown } }]
    const place = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/novelty'
    expect(version.schema).toBeDefined()
    await cluster.client.patch(crd, [{ op: 'add', path: place, value: { type: 'string' } }], { type: 'json' })
    const { code, err } = await stackloom('up')
    expect(code, err).toBe(0)
    expect(err).toContain('SL4026')
    await cluster.client.patch(crd, [{ op: 'remove', path: place }], { type: 'json' })
    expect((await stackloom('up')).err).not.toContain('SL4026')
  })

  /** The stage that failed, of a run that soon takes what does not go for stuck. */
  async function stuckDown(options: Partial<Parameters<typeof down>[0]> = {}) {
    const run = { client: cluster.client, clouds: ['rhoso1'], run: 'test', sink: () => undefined, stop: neverAborted() }
    const report = await down({ ...run, stuckMs: 500, ...options })
    return report.stages.find(({ outcome }) => outcome === 'failed')
  }

  it('report a finalizer whose owner does not run, and do not remove it', async () => {
    await cast?.stop()
    const stuck = await stuckDown()
    expect(stuck).toMatchObject({ name: 'control-plane', findings: [{ code: 'SL4042' }] })
    expect(stuck?.reason).toMatch(/OpenStackControlPlane openstack\/\S+ is kept by \S+, set by actor-openstack/)
    expect((await get(CONTROL_PLANE))?.metadata.finalizers).toHaveLength(1)
    cast = startActors(cluster.connection)
  })

  it('report an address of another owner in the namespace, and do not free it', async () => {
    const foreign = {
      apiVersion: 'network.openstack.org/v1beta1',
      kind: 'IPSet',
      metadata: { namespace: 'openstack', name: 'of-another-owner' },
      spec: { networks: [{ name: 'ctlplane', subnetName: 'subnet1' }] },
    }
    await cluster.client.create(foreign)
    const stuck = await stuckDown({ stuckMs: 20_000 })
    expect(stuck).toMatchObject({ name: 'netconfig', findings: [{ code: 'SL4075' }] })
    expect(stuck?.reason).toContain('of-another-owner')
    const place = { ...foreign.metadata, apiVersion: foreign.apiVersion, kind: foreign.kind }
    expect(await get(place)).toBeDefined()
    await cluster.client.delete(place)
  })

  it('keep the volumes of a cloud with their Secrets until --delete-data', async () => {
    const claim: KubeObject = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: 'openstack', name: 'mysql-db-openstack-galera-0' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    await cluster.client.create(claim)
    const refused = await stackloom('down', '--cloud', 'rhoso1')
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('SL4046')
    const kept = await stackloom('down', '--cloud', 'rhoso1', '--yes')
    expect(kept.code, kept.err).toBe(0)
    expect(kept.err).toContain('mysql-db-openstack-galera-0')
    expect(await get({ ...claim.metadata, apiVersion: 'v1', kind: claim.kind })).toBeDefined()
    expect(await get({ apiVersion: 'v1', kind: 'Secret', namespace: 'openstack', name: 'osp-secret' })).toBeDefined()
    expect((await readInventory(cluster.client, 'rhoso1'))?.objects.map(({ kind }) => kind).sort()).toEqual([
      'Namespace',
      'Secret',
    ])
    // The namespace controller cannot delete this one.
    const held = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'openstack', name: 'of-another-owner' }
    await cluster.client.create({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'openstack', name: held.name, finalizers: ['example.com/another-owner'] },
    })
    const stuck = await stuckDown({ deleteData: true })
    expect(stuck).toMatchObject({ name: 'namespace', findings: [{ code: 'SL4076' }] })
    expect(stuck?.reason).toContain('example.com/another-owner')
    await cluster.client.patch(held, [{ op: 'remove', path: '/metadata/finalizers' }], { type: 'json' })
    const gone = await stackloom('down', '--cloud', 'rhoso1', '--delete-data', '--yes')
    expect(gone.code, gone.err).toBe(0)
    expect(await get({ apiVersion: 'v1', kind: 'Namespace', name: 'openstack' })).toBeUndefined()
    expect((await readInventories(cluster.client)).map(({ cloud }) => cloud)).toEqual([undefined])
  })
})

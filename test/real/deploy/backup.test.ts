import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ipSets } from '../../../src/api/ipset.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { readLastBackup } from '../../../src/backup/last-backup.ts'
import { heldAddresses } from '../../../src/backup/select-objects.ts'
import { main } from '../../../src/cli/main.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { typeDocCommand } from '../../doc-sandboxes.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { runAndKill } from '../../killed-run.ts'
import { RELEASES } from '../../sandbox-context.ts'
import { launchOperator, type RunningOperator } from '../ipam/operator.ts'
import { prepareCluster, type RunningActors, startActors } from './deployment-fixture.ts'

const site = `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: lab}
spec:
  cluster:
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
  - {name: rhoso1, namespace: openstack}
  - {name: rhoso2, namespace: openstack2}
`
const namespace = 'openstack'
const kills = count({ test: 1, soak: 20 })

describe('a backup', { timeout: 900_000 + kills * 180_000 }, () => {
  const cluster = useCluster({ crds: 'own', metallb: true, controllerManager: true })
  const folder = useFolder()
  let actors: RunningActors | undefined
  let operator: RunningOperator | undefined
  let recipient = ''

  const run = async (...words: readonly string[]) => {
    const io = testIo({ cwd: folder, columns: 200 })
    const code = await main([...words, '--kubeconfig', cluster.kubeconfig], io)
    return { code, out: io.out(), err: io.err() }
  }
  const list = async (kind: string, apiVersion = 'v1') => {
    const { items } = await cluster.client.list({ apiVersion, kind }, { namespace })
    return items.map((item) => ({ ...item, kind }) as KubeObject)
  }
  const addresses = async () =>
    heldAddresses([...(await list('IPSet', ipSets.apiVersion)), ...(await list('Service'))]).toSorted((a, b) =>
      JSON.stringify(a).localeCompare(JSON.stringify(b)),
    )
  const ipSet = (name: string): KubeObject => ({
    ...ipSets,
    metadata: { name, namespace },
    spec: { networks: ['ctlplane', 'internalapi'].map((network) => ({ name: network, subnetName: 'subnet1' })) },
  })
  const hasAddresses = (names: readonly string[]) =>
    vi.waitUntil(
      async () => {
        const held = await addresses()
        return names.every((name) => held.filter(({ holder }) => holder === `IPSet ${name}`).length === 2)
      },
      { timeout: 120_000, interval: 200 },
    )
  /** Everything of the cloud is lost: its namespace, its pools and what Stackloom knows of it. */
  const lose = async () => {
    const { client } = cluster
    await client.delete({ apiVersion: 'v1', kind: 'Namespace', name: namespace })
    for (const kind of ['L2Advertisement', 'IPAddressPool']) {
      const { items } = await client.list({ apiVersion: 'metallb.io/v1beta1', kind })
      for (const { metadata } of items.filter((item) => item.metadata.name.startsWith('openstack-')))
        await client.delete({
          apiVersion: 'metallb.io/v1beta1',
          kind,
          namespace: 'metallb-system',
          name: metadata.name,
        })
    }
    const inventory = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      namespace: 'stackloom-system',
      name: 'inventory-cloud-rhoso1',
    }
    await client.delete(inventory)
    const isGone = async () => !(await client.get({ apiVersion: 'v1', kind: 'Namespace', name: namespace }))
    await vi.waitUntil(isGone, { timeout: 240_000, interval: 200 })
  }

  beforeAll(async () => {
    const identity = await generateIdentity()
    recipient = await identityToRecipient(identity)
    await writeFile(path.join(folder, 'key.txt'), `${identity}\n`)
    await writeFile(path.join(folder, 'other.txt'), `${await generateIdentity()}\n`)
    await writeFile(path.join(folder, 'site.yaml'), site)
    await prepareCluster(cluster.client, ['worker-0'])
    actors = startActors(cluster.connection)
    operator = await launchOperator(cluster, { noWebhooks: true, parts: ['ipam'] })
    const { code, err } = await run('up', '--yes')
    expect(code, err).toBe(0)
    // The lowest addresses are free again afterwards, so a new assignment would be another one.
    for (const name of ['gone', 'compute-0', 'compute-1']) {
      await cluster.client.apply(ipSet(name), { fieldManager: 'user' })
      await hasAddresses([name])
    }
    await cluster.client.delete({ ...ipSets, namespace, name: 'gone' })
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'mine', namespace },
      stringData: { key: 'very secret' },
    }
    await cluster.client.apply(secret, { fieldManager: 'user' })
  }, 600_000)
  afterAll(async () => {
    await operator?.stop()
    await actors?.stop()
  })

  const back = (...words: readonly string[]) => run('backup', '--cloud', 'rhoso1', '--recipient', recipient, ...words)
  const restore = (...words: readonly string[]) => run('restore', 'saved', '--identity', 'key.txt', ...words)

  it('has the objects, the addresses and the site, and no readable Secret', async () => {
    const { code, err } = await back('--out', 'saved', '-f', 'site.yaml')
    expect(code, err).toBe(0)
    const manifest = JSON.parse(await readFile(path.join(folder, 'saved/manifest.json'), 'utf8')) as {
      readonly name: string
      readonly files: readonly { readonly path: string }[]
    }
    const files = manifest.files.map((file) => file.path)
    expect(files).toContain('objects/30-Reservation.json')
    expect(files).toContain('objects/50-OpenStackControlPlane.json')
    expect(files).toContain('objects/20-IPAddressPool.json')
    expect(files).toContain('site.lock.yaml')
    for (const file of files)
      expect(await readFile(path.join(folder, 'saved', file), 'latin1'), file).not.toMatch(
        /very secret|dmVyeSBzZWNyZXQ/,
      )
    const [controlPlane] = await list('OpenStackControlPlane', 'core.openstack.org/v1beta1')
    expect(controlPlane && readLastBackup(controlPlane)?.name).toBe(manifest.name)
    expect((await back('--out', 'saved')).err).toContain('SL4115')
  })

  it('is not restored over a cloud that exists', async () => {
    const { code, err } = await restore('--yes')
    expect(err).toContain('SL4120')
    expect(code).toBe(1)
  })

  it('is not restored with another key, without consent, or after a change', async () => {
    expect((await run('restore', 'saved', '--identity', 'other.txt', '--yes')).err).toContain('SL4113')
    expect((await restore()).err).toContain('SL4122')
    await cp(path.join(folder, 'saved'), path.join(folder, 'altered'), { recursive: true })
    await writeFile(path.join(folder, 'altered/addresses.json'), '[]\n')
    expect((await run('restore', 'altered', '--identity', 'key.txt', '--yes')).err).toContain('SL4111')
    await rm(path.join(folder, 'altered/site.yaml'))
    await symlink('/etc/hostname', path.join(folder, 'altered/site.yaml'))
    expect((await run('restore', 'altered', '--identity', 'key.txt', '--yes')).err).toContain('SL1005')
  })

  it('is restored in a drill, which leaves nothing behind', async () => {
    const [state, data] = [path.join(folder, 'state'), path.join(folder, 'data')]
    // The releases of this machine, where a user has them.
    await mkdir(path.join(data, 'stackloom'), { recursive: true })
    await symlink(RELEASES, path.join(data, 'stackloom/crds'))
    const env = { ...process.env, XDG_STATE_HOME: state, XDG_DATA_HOME: data }
    const io = testIo({ cwd: folder, columns: 200, env })
    const code = await main(['restore', 'saved', '--identity', 'key.txt', '--rehearse', '-o', 'json'], io)
    expect(code, io.err()).toBe(0)
    const saved: unknown = JSON.parse(await readFile(path.join(folder, 'saved/addresses.json'), 'utf8'))
    expect(JSON.parse(io.out())).toMatchObject({ outcome: 'done', addresses: (saved as readonly unknown[]).length })
    expect(await readdir(path.join(state, 'stackloom/sandboxes'))).toEqual([])
  })

  it('is not restored to a cluster of another site', async () => {
    const shared = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'stackloom-system', name: 'inventory-shared' }
    const setSite = (name: string) =>
      cluster.client.patch(shared, { data: { site: name } }, { type: 'merge', fieldManager: 'test' })
    await setSite('other')
    const { code, err } = await restore('--yes')
    await setSite('lab')
    expect(err).toContain('SL4170')
    expect(code).toBe(1)
  })

  it('brings every address back to an empty cluster', async () => {
    const before = await addresses()
    expect(before.length).toBeGreaterThan(6)
    await lose()
    await typeDocCommand('restore', 'stackloom restore saved --identity key.txt', (...words) => run(...words, '--yes'))
    expect(await addresses()).toEqual(before)
    // As after a kill behind the last write.
    const again = await restore('--yes')
    expect(again.code, again.err).toBe(0)
    const secret = await cluster.client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: 'mine' })
    expect(secret?.['data']).toEqual({ key: Buffer.from('very secret').toString('base64') })
    const status = await run('status')
    expect(status.code, status.out).toBe(0)
    // The owners of fields are restored, too: otherwise values that defaulting wrote would be removed, which is refused.
    const diff = await run('diff')
    expect(diff.code, diff.out).toBe(0)
    const up = await run('up', '--yes')
    expect(up.code, up.err).toBe(0)
    expect(await addresses()).toEqual(before)
  })

  it('brings every address back after kills at any point', async () => {
    const before = await addresses()
    const words = ['restore', 'saved', '--identity', 'key.txt', '--yes', '--events', 'jsonl']
    for (let done = 0; done < kills; ) {
      await lose()
      for (let ended = false; !ended; ) {
        const moment = done < kills ? 4 + Math.floor(Math.random() * 60) : Number.POSITIVE_INFINITY
        const { code, said } = await runAndKill([...words, '--kubeconfig', cluster.kubeconfig], moment, folder)
        ended = code !== null
        if (ended) expect(code, said).toBe(0)
        else done += 1
      }
      expect(await addresses()).toEqual(before)
    }
  })
})

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { getString } from '../../../src/api/raw-object.ts'
import { main } from '../../../src/cli/main.ts'
import { AVAILABLE } from '../../../src/sandbox/actors/openstack/openstack-version.ts'
import { selfCommand } from '../../../src/sandbox/sandbox-context.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { allActors, prepareCluster, type RunningActors, startActors } from './deployment-fixture.ts'

const site = `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: berlin}
spec:
  cluster:
    dns: [192.168.122.1]
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
  - {name: rhoso1, namespace: openstack}
  - {name: rhoso2, namespace: openstack2}
`
const lostKubeconfig = `
apiVersion: v1
kind: Config
current-context: oslo
contexts: [{name: oslo, context: {cluster: oslo, user: oslo}}]
clusters: [{name: oslo, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: oslo, user: {}}]
`
const namespaces = ['openstack', 'openstack2']
const kills = count({ test: 3, soak: 20 })

const versionOf = (namespace: string) => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackVersion',
  namespace,
  name: 'controlplane',
})

describe('a fleet', { timeout: 900_000 + kills * 120_000 }, () => {
  const cluster = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  const folder = useFolder()
  let cast: RunningActors | undefined

  const run = async (...words: readonly string[]) => {
    const io = testIo({ cwd: folder, columns: 200 })
    const code = await main(words, io)
    return { code, out: io.out(), err: io.err() }
  }

  beforeAll(async () => {
    const fleet = `
apiVersion: stackloom.dev/v1alpha1
kind: Fleet
metadata: {name: europe}
spec:
  sites:
  - {name: oslo, file: site.yaml, kubeconfig: oslo.conf}
  - {name: berlin, file: site.yaml, kubeconfig: ${cluster.kubeconfig}, canary: true}
`
    const files = { 'site.yaml': site, 'oslo.conf': lostKubeconfig, 'fleet.yaml': fleet }
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text)
    await prepareCluster(cluster.client, ['worker-0'])
    cast = startActors(cluster.connection, [...allActors, 'services'])
    const { code, err } = await run('up', '--yes', '--kubeconfig', cluster.kubeconfig)
    expect(code, err).toBe(0)
  }, 600_000)
  afterAll(() => cast?.stop())

  const offer = async (version: string): Promise<void> => {
    for (const namespace of namespaces) {
      const patch = { metadata: { annotations: { [AVAILABLE]: version } } }
      await cluster.client.patch(versionOf(namespace), patch, { type: 'merge' })
      const isOffered = async (): Promise<boolean> =>
        getString(await cluster.client.get(versionOf(namespace)), 'status', 'availableVersion') === version
      await vi.waitUntil(isOffered, { timeout: 120_000, interval: 100 })
    }
  }
  const deployed = () =>
    Promise.all(
      namespaces.map(async (namespace) =>
        getString(await cluster.client.get(versionOf(namespace)), 'status', 'deployedVersion'),
      ),
    )

  it('is clean when everything that the services have is there', async () => {
    // The services' operators come after the deployment: until everything that they make is there.
    for (const command of ['verify', 'doctor']) {
      const problems = async () => {
        const { out } = await run(command, '-f', 'site.yaml', '-o', 'json', '--kubeconfig', cluster.kubeconfig)
        const { findings, diagnoses = [] } = JSON.parse(out) as {
          readonly findings: readonly object[]
          readonly diagnoses?: readonly object[]
        }
        return [...findings, ...diagnoses]
      }
      await expect.poll(problems, { timeout: 300_000, interval: 1_000 }).toEqual([])
    }
  })

  it.each([['status'], ['verify'], ['doctor'], ['hosts'], ['certificates']])(
    'shows the result of %s for each site, and names the one without an answer',
    async (command) => {
      const { code, out } = await run(command, '--fleet', 'fleet.yaml', '-o', 'json')
      const { sites } = JSON.parse(out) as { readonly sites: readonly { readonly result: object }[] }
      expect(sites).toMatchObject([
        { site: 'oslo', verdict: 'unreachable', exitCode: 2 },
        { site: 'berlin', verdict: 'fine', exitCode: 0 },
      ])
      expect(code).toBe(3)
      const alone = await run(command, '-o', 'json', '--kubeconfig', cluster.kubeconfig, ...fileOf(command))
      expect(Object.keys(sites[1]?.result ?? {})).toEqual(Object.keys(JSON.parse(alone.out) as object))
    },
  )
  const fileOf = (command: string): readonly string[] =>
    ['verify', 'doctor'].includes(command) ? ['-f', 'site.yaml'] : []

  it('updates nothing at a site that is not clean', async () => {
    await offer('0.7.0')
    const pool = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name: 'openstack-internalapi', namespace: 'metallb-system' },
    }
    const { client } = cluster
    const before = await client.get({ ...pool, namespace: 'metallb-system', name: pool.metadata.name })
    await client.delete({ ...pool, namespace: 'metallb-system', name: pool.metadata.name })
    const update = await run('update', '--fleet', 'fleet.yaml', '--to', '0.7.0', '--yes', '--check-timeout', '0s')
    expect(update.err).toContain('SL4165: verify of site berlin is not clean')
    expect(update.code).toBe(1)
    expect(await deployed()).toEqual(['0.6.0', '0.6.0'])
    const { spec, metadata } = before as { readonly spec?: unknown; readonly metadata: { readonly labels?: object } }
    const again = { ...pool, metadata: { ...pool.metadata, labels: metadata.labels }, spec }
    await client.apply(again as typeof pool, { fieldManager: 'stackloom' })
  })

  it('asks before it updates', async () => {
    const { code, err, out } = await run('update', '--fleet', 'fleet.yaml')
    expect(err).toContain('SL4166')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(await deployed()).toEqual(['0.6.0', '0.6.0'])
  })

  /** Runs the program as a process and kills it after this number of lines of progress. */
  const killed = (
    words: readonly string[],
    lines: number,
  ): Promise<{ readonly code: number | null; readonly said: string }> => {
    const [file = '', ...self] = selfCommand(path.resolve(import.meta.dirname, '../../../src/sandbox'))
    const child = spawn(file, [...self, ...words], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.split('\n').length > lines) child.kill('SIGKILL')
    })
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, said })))
  }

  it('is updated by the same command after kills at any point, one cloud after the other', async () => {
    let done = 0
    for (let minor = 7; done < kills; minor += 1) {
      const version = `0.${minor}.0`
      if (minor > 7) await offer(version)
      const words = ['update', '--fleet', 'fleet.yaml', '--to', version, '--yes', '--pause', '1s', '--events', 'jsonl']
      for (let ended = false; !ended; ) {
        const moment = done < kills ? 6 + Math.floor(Math.random() * 40) : Number.POSITIVE_INFINITY
        const { code, said } = await killed(words, moment)
        ended = code !== null
        if (code === null) done += 1
        else expect(code, said).toBe(3)
        const [first, second] = await deployed()
        // The second cloud is never ahead of the first one.
        if (second === version) expect(first).toBe(version)
      }
      expect(await deployed()).toEqual([version, version])
    }
    const { code, out } = await run('update', '--fleet', 'fleet.yaml', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({ clouds: [{ outcome: 'unchanged' }, { outcome: 'unchanged' }] })
    expect(code).toBe(3)
  })
})

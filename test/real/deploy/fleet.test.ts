import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { getString } from '../../../src/api/raw-object.ts'
import { main } from '../../../src/cli/main.ts'
import { AVAILABLE } from '../../../src/sandbox/actors/openstack/openstack-version.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { typeDocCommand } from '../../doc-sandboxes.ts'
import { useFolder } from '../../folder.ts'
import { testIo } from '../../io.ts'
import { runAndKill } from '../../killed-run.ts'
import { allActors, prepareCluster, type RunningActors, startActors } from './deployment-fixture.ts'

const renderSite = (name: string, clouds: readonly string[]): string => `
apiVersion: stackloom.dev/v1alpha1
kind: Site
metadata: {name: ${name}}
spec:
  cluster:
    dns: [192.168.122.1]
    nodes: [{name: worker-0, nic: enp6s0}]
  clouds:
${clouds.map((cloud) => `  - {name: ${cloud}, namespace: ${cloud}}`).join('\n')}
`
const lostKubeconfig = `
apiVersion: v1
kind: Config
current-context: oslo
contexts: [{name: oslo, context: {cluster: oslo, user: oslo}}]
clusters: [{name: oslo, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: oslo, user: {}}]
`
const kills = count({ test: 1, soak: 20 })

const versionOf = (namespace: string) => ({
  apiVersion: 'core.openstack.org/v1beta1',
  kind: 'OpenStackVersion',
  namespace,
  name: 'controlplane',
})

describe('a fleet', { timeout: 900_000 + kills * 120_000 }, () => {
  const berlin = useCluster({ crds: 'today', metallb: true, controllerManager: true })
  const hamburg = useCluster({ crds: 'today', metallb: true, controllerManager: true, second: true })
  /** In the order of an update: the canary first. */
  const clouds = [
    [berlin, 'berlin1'],
    [berlin, 'berlin2'],
    [hamburg, 'hamburg1'],
  ] as const
  const folder = useFolder()
  const actors: RunningActors[] = []

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
  - {name: oslo, file: berlin.yaml, kubeconfig: oslo.conf}
  - {name: hamburg, file: hamburg.yaml, kubeconfig: ${hamburg.kubeconfig}}
  - {name: berlin, file: berlin.yaml, kubeconfig: ${berlin.kubeconfig}, canary: true}
`
    const files = {
      'berlin.yaml': renderSite('berlin', ['berlin1', 'berlin2']),
      'hamburg.yaml': renderSite('hamburg', ['hamburg1']),
      'oslo.conf': lostKubeconfig,
      'fleet.yaml': fleet,
    }
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text)
    for (const [file, { client, connection, kubeconfig }] of sites) {
      await prepareCluster(client, ['worker-0'])
      actors.push(startActors(connection, [...allActors, 'services']))
      const { code, err } = await run('up', '-f', file, '--yes', '--kubeconfig', kubeconfig)
      expect(code, err).toBe(0)
    }
  }, 900_000)
  afterAll(async () => {
    for (const started of actors) await started.stop()
  })
  const sites = [
    ['berlin.yaml', berlin],
    ['hamburg.yaml', hamburg],
  ] as const

  const offer = async (version: string): Promise<void> => {
    for (const [{ client }, namespace] of clouds) {
      const patch = { metadata: { annotations: { [AVAILABLE]: version } } }
      await client.patch(versionOf(namespace), patch, { type: 'merge' })
      const isOffered = async (): Promise<boolean> =>
        getString(await client.get(versionOf(namespace)), 'status', 'availableVersion') === version
      await vi.waitUntil(isOffered, { timeout: 120_000, interval: 100 })
    }
  }
  const deployed = () =>
    Promise.all(
      clouds.map(async ([{ client }, namespace]) =>
        getString(await client.get(versionOf(namespace)), 'status', 'deployedVersion'),
      ),
    )

  it('is clean when everything that the services have is there', async () => {
    // The services' operators come after the deployment: until everything that they make is there.
    for (const [file, { kubeconfig }, command] of sites.flatMap((site) =>
      ['verify', 'doctor'].map((name) => [...site, name] as const),
    )) {
      const problems = async () => {
        const { out } = await run(command, '-f', file, '-o', 'json', '--kubeconfig', kubeconfig)
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
        { site: 'hamburg', verdict: 'fine', exitCode: 0 },
        { site: 'berlin', verdict: 'fine', exitCode: 0 },
      ])
      expect(code).toBe(3)
      const alone = await run(command, '-o', 'json', '--kubeconfig', berlin.kubeconfig, ...fileOf(command))
      expect(Object.keys(sites[2]?.result ?? {})).toEqual(Object.keys(JSON.parse(alone.out) as object))
    },
  )
  const fileOf = (command: string): readonly string[] =>
    ['verify', 'doctor'].includes(command) ? ['-f', 'berlin.yaml'] : []

  it('is listed as the guide says', async () => {
    await typeDocCommand('fleet', 'stackloom status --fleet fleet.yaml', run)
    const { out } = await typeDocCommand('fleet', 'stackloom doctor --fleet fleet.yaml -o json', run)
    expect(JSON.parse(out)).toMatchObject({ sites: [{}, {}, { result: { diagnoses: [] } }] })
    await typeDocCommand('fleet', 'stackloom hosts --fleet fleet.yaml --behind', run)
    await typeDocCommand('fleet', 'stackloom plan --check --fleet fleet.yaml', run)
  })

  it('updates nothing while the canary is not clean', async () => {
    await offer('0.7.0')
    const pool = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      metadata: { name: 'berlin1-internalapi', namespace: 'metallb-system' },
    }
    const { client } = berlin
    const before = await client.get({ ...pool, namespace: 'metallb-system', name: pool.metadata.name })
    await client.delete({ ...pool, namespace: 'metallb-system', name: pool.metadata.name })
    const update = await run('update', '--fleet', 'fleet.yaml', '--to', '0.7.0', '--yes', '--check-timeout', '0s')
    expect(update.err).toContain('SL4165: verify of site berlin is not clean')
    expect(update.code).toBe(1)
    expect(await deployed()).toEqual(['0.6.0', '0.6.0', '0.6.0'])
    const { spec, metadata } = before as { readonly spec?: unknown; readonly metadata: { readonly labels?: object } }
    const again = { ...pool, metadata: { ...pool.metadata, labels: metadata.labels }, spec }
    await client.apply(again as typeof pool, { fieldManager: 'stackloom' })
  })

  it('asks before it updates', async () => {
    await typeDocCommand('fleet', 'stackloom update --fleet fleet.yaml --to 0.7.0 --dry-run', run)
    const { err, out } = await typeDocCommand('fleet', 'stackloom update --fleet fleet.yaml --to 0.7.0', run)
    expect(err).toContain('SL4166')
    expect(out).toBe('')
    expect(await deployed()).toEqual(['0.6.0', '0.6.0', '0.6.0'])
  })

  it('is updated by the same command after kills at any point, one cloud after the other, the canary first', async () => {
    let done = 0
    for (let minor = 7; done < kills; minor += 1) {
      const version = `0.${minor}.0`
      if (minor > 7) await offer(version)
      const words = ['update', '--fleet', 'fleet.yaml', '--to', version, '--yes', '--pause', '1s', '--events', 'jsonl']
      for (let ended = false; !ended; ) {
        const moment = done < kills ? 6 + Math.floor(Math.random() * 40) : Number.POSITIVE_INFINITY
        const { code, said } = await runAndKill(words, moment, folder)
        ended = code !== null
        if (code === null) done += 1
        else expect(code, said).toBe(3)
        const versions = await deployed()
        // No cloud is ahead of one that comes before it.
        expect(versions.lastIndexOf(version)).toBe(versions.filter((found) => found === version).length - 1)
      }
      expect(await deployed()).toEqual([version, version, version])
    }
    const { code, out } = await run('update', '--fleet', 'fleet.yaml', '-o', 'json')
    expect(JSON.parse(out)).toMatchObject({ clouds: clouds.map(() => ({ outcome: 'unchanged' })) })
    expect(code).toBe(3)
  })

  it('lets no other site follow while the canary is in its pause', async () => {
    const before = await deployed()
    await offer('0.99.0')
    const stop = new AbortController()
    let said = ''
    const io = testIo({
      cwd: folder,
      columns: 200,
      stop: stop.signal,
      stderr: (text) => {
        said += text
        if (said.includes('pause: the canaries run')) stop.abort()
      },
    })
    const text = 'stackloom update --fleet fleet.yaml --to 0.99.0 --pause 2h --yes'
    await typeDocCommand('fleet', text, async (...words) => ({ code: await main(words, io), out: io.out(), err: said }))
    expect(await deployed()).toEqual(['0.99.0', '0.99.0', before[2]])
  })
})

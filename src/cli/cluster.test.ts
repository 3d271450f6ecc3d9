import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testIo } from '../../test/io.ts'
import {
  respondCoreDiscovery,
  respondJson,
  type ScriptedServer,
  startScriptedServer,
} from '../../test/scripted-server.ts'
import { createAuthority } from '../pki/authority.ts'
import { type ClusterFlags, gatherSnapshot, openCluster, withClusterFlags } from './cluster.ts'
import type { CommandEntry } from './command.ts'
import { main } from './main.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' }
let folder: string
let server: ScriptedServer
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-cluster-'))
  server = await startScriptedServer((seen, answer) => {
    if (respondCoreDiscovery(seen, answer)) return
    const headers = { warning: '299 - "ConfigMaps are old"' }
    respondJson(answer, { metadata: { resourceVersion: '1' }, items: [{ metadata: { name: 'a' } }] }, 200, headers)
  })
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

function kubeconfig(): string {
  const file = path.join(folder, 'config')
  const contexts = ['one', 'two'].map((name) => ({
    name,
    context: { cluster: 'c', namespace: `in-${name}` },
  }))
  const clusters = [{ name: 'c', cluster: { server: server.url } }]
  writeFileSync(file, JSON.stringify({ 'current-context': 'one', contexts, clusters }))
  return file
}

const parseFlags = (...words: readonly string[]): ClusterFlags =>
  withClusterFlags(new Command())
    .parse([...words], { from: 'user' })
    .opts()

describe('the cluster of a command', () => {
  it('is chosen by the same options as in kubectl', async () => {
    const io = testIo({ env: { KUBECONFIG: kubeconfig() } })
    const open = async (...words: readonly string[]) => {
      const { context, namespace, close } = await openCluster(parseFlags(...words), io)
      await close()
      return { context, namespace }
    }
    expect(await open()).toEqual({ context: 'one', namespace: 'in-one' })
    expect(await open('--context', 'two')).toEqual({ context: 'two', namespace: 'in-two' })
    expect(await open('-n', 'mine', '--kubeconfig', kubeconfig())).toEqual({
      context: 'one',
      namespace: 'mine',
    })
  })

  it('gives a snapshot, and each of its warnings is printed once on stderr', async () => {
    const io = testIo({ env: { KUBECONFIG: kubeconfig() } })
    const { snapshot } = await gatherSnapshot({}, [configMap, configMap], io)
    expect(snapshot.objects).toHaveLength(2)
    expect(io.err().match(/warning SL1125: ConfigMaps are old/g)).toHaveLength(1)
    expect(io.out()).toBe('')
  })

  it('is not contacted when a dump is given', async () => {
    writeFileSync(path.join(folder, 'dump.json'), JSON.stringify({ ...configMap, metadata: { name: 'dumped' } }))
    const { snapshot } = await gatherSnapshot({ from: folder }, [configMap], testIo())
    expect(snapshot.objects.map((object) => object.metadata.name)).toEqual(['dumped'])
    expect(server.seen).toHaveLength(0)
  })
})

describe('a command that needs a cluster', () => {
  const listCommand: CommandEntry = {
    name: 'list',
    summary: 'lists something',
    load: () =>
      Promise.resolve({
        define: (command, { io, act }) =>
          void withClusterFlags(command).action((flags: ClusterFlags) =>
            act(async () => {
              const { client, close } = await openCluster(flags, io)
              try {
                io.stdout(`${(await client.list(configMap)).items.length}\n`)
              } finally {
                await close()
              }
              return 0
            }),
          ),
      }),
  }
  const run = async (file: string, content?: object | string) => {
    if (content !== undefined) writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
    const io = testIo({ env: { HOME: folder } })
    const exitCode = await main(['list', '--kubeconfig', file], io, [listCommand])
    return { exitCode, out: io.out(), err: io.err() }
  }
  const config = (cluster: object, user: object = { token: 'hunter2' }) => ({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
  })
  const expired = async () => {
    const past = { now: () => Date.parse('2020-01-01T00:00:00Z') }
    const authority = await createAuthority({ commonName: 'ca', days: 36_500 }, past)
    const leaf = await authority.issue({ commonName: 's', hosts: ['127.0.0.1'], uses: ['server'], days: 30 })
    const old = await startScriptedServer(() => undefined, { cert: leaf.certificate, key: leaf.privateKey })
    const ca = Buffer.from(authority.certificate).toString('base64')
    return { old, cluster: { server: old.url, 'certificate-authority-data': ca } }
  }

  it('reports a connection problem as one finding without secrets or stack, and works when it is fixed', async () => {
    const file = path.join(folder, 'their-config')
    const { old, cluster } = await expired()
    const gone = await startScriptedServer(() => undefined)
    await gone.close()
    const cases: readonly (readonly [string, object | string | undefined])[] = [
      ['SL1002', undefined],
      ['SL1103', 'users: [{name: a, user: {token: hunter2: x}}]'],
      ['SL1104', { ...config({ server: server.url }), 'current-context': 'd' }],
      ['SL1106', config({ server: server.url }, { exec: { command: 'no-such-plugin' } })],
      ['SL1102', config(cluster)],
      ['SL1100', config({ server: gone.url })],
    ]
    for (const [code, content] of cases) {
      const { exitCode, err } = await run(file, content)
      expect(err.match(/error SL\d+/g)).toEqual([`error ${code}`])
      expect(err).toMatch(/fix: \S/)
      expect(err).not.toMatch(/hunter2|\n\s+at /)
      expect(exitCode).toBe(2)
    }
    expect(await run(file, config({ server: server.url }))).toMatchObject({ exitCode: 0, out: '1\n' })
    await old.close()
  })
})

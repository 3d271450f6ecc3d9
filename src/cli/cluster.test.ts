import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { testIo } from '../../test/io.ts'
import { answerCore, answerJson, type PlayedServer, playServer } from '../../test/played-server.ts'
import { type ClusterFlags, gatherSnapshot, openCluster, withClusterFlags } from './cluster.ts'

const configMap = { apiVersion: 'v1', kind: 'ConfigMap' }
let folder: string
let server: PlayedServer
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-cluster-'))
  server = await playServer((seen, answer) => {
    if (answerCore(seen, answer)) return
    const headers = { warning: '299 - "ConfigMaps are old"' }
    answerJson(
      answer,
      { metadata: { resourceVersion: '1' }, items: [{ metadata: { name: 'a' } }] },
      200,
      headers,
    )
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

const flagsOf = (...words: readonly string[]): ClusterFlags =>
  withClusterFlags(new Command())
    .parse([...words], { from: 'user' })
    .opts()

describe('the cluster of a command', () => {
  it('is chosen as with kubectl', async () => {
    const io = testIo({ env: { KUBECONFIG: kubeconfig() } })
    const at = async (...words: readonly string[]) => {
      const { context, namespace, close } = await openCluster(flagsOf(...words), io)
      await close()
      return { context, namespace }
    }
    expect(await at()).toEqual({ context: 'one', namespace: 'in-one' })
    expect(await at('--context', 'two')).toEqual({ context: 'two', namespace: 'in-two' })
    expect(await at('-n', 'mine', '--kubeconfig', kubeconfig())).toEqual({
      context: 'one',
      namespace: 'mine',
    })
  })

  it('is asked for a snapshot, and each of its warnings is told once, on stderr', async () => {
    const io = testIo({ env: { KUBECONFIG: kubeconfig() } })
    const { snapshot } = await gatherSnapshot({}, [configMap, configMap], io)
    expect(snapshot.objects).toHaveLength(2)
    expect(io.err().match(/warning SL1125: ConfigMaps are old/g)).toHaveLength(1)
    expect(io.out()).toBe('')
  })

  it('is not asked when there is a dump of it', async () => {
    writeFileSync(
      path.join(folder, 'dump.json'),
      JSON.stringify({ ...configMap, metadata: { name: 'dumped' } }),
    )
    const { snapshot } = await gatherSnapshot({ from: folder }, [configMap], testIo())
    expect(snapshot.objects.map((one) => one.metadata.name)).toEqual(['dumped'])
    expect(server.seen).toHaveLength(0)
  })
})

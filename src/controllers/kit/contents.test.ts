import { describe, expect, it } from 'vitest'
import { manualClock, settled } from '../../../test/manual-clock.ts'
import { memoryCluster } from '../../../test/memory-cluster.ts'
import type { KubeObject } from '../../api/object.ts'
import { createRuntime } from '../../kube/runtime.ts'
import { type Contents, createContents, withContents } from './contents.ts'

const kind = { apiVersion: 'v1', kind: 'Secret' }
const signal = new AbortController().signal

interface Secret extends KubeObject {
  readonly data?: Readonly<Record<string, string>>
}

function secret(name: string, value: string): Secret {
  return { ...kind, metadata: { name, namespace: 'openstack', annotations: { note: 'long' } }, data: { value } }
}

async function start(limit?: number) {
  const cluster = memoryCluster()
  const runtime = createRuntime({ client: cluster.client, clock: manualClock() })
  const metadata = runtime.cache({ kind, metadataOnly: true })
  const contents = createContents<Secret>({
    kind,
    client: cluster.client,
    metadata,
    ...(limit !== undefined && { limit }),
  })
  const control = new AbortController()
  const running = runtime.run(control.signal)
  await settled()
  const gets = (): number => cluster.requests.filter((request) => request.startsWith('get')).length
  const stop = async (): Promise<void> => {
    control.abort()
    await running
  }
  return { cluster, metadata, contents, gets, stop }
}

const valueOf = async (contents: Contents<Secret>, name: string): Promise<string | undefined> =>
  (await contents.read(`openstack/${name}`, signal))?.data?.['value']

describe('the contents of Secrets', () => {
  it('are not in the cache, and are read once for each version', async () => {
    const { cluster, metadata, contents, gets, stop } = await start()
    const created = await cluster.client.create(secret('a', '1'))
    await settled()
    expect(JSON.stringify(metadata.list())).not.toMatch(/"data"|annotations/)
    expect(await Promise.all([valueOf(contents, 'a'), valueOf(contents, 'a')])).toEqual(['1', '1'])
    expect(await valueOf(contents, 'a')).toBe('1')
    expect(gets()).toBe(1)
    await cluster.client.update({ ...created, data: { value: '2' } })
    await settled()
    expect(await valueOf(contents, 'a')).toBe('2')
    expect(gets()).toBe(2)
    await stop()
  })

  it('are known without a read after an own write, before and after the watch reports it', async () => {
    const { cluster, contents, gets, stop } = await start()
    const created = (await cluster.client.create(secret('a', '1'))) as Secret
    contents.addCreated(created)
    expect(await valueOf(contents, 'a')).toBe('1')
    await settled()
    expect(await valueOf(contents, 'a')).toBe('1')
    const written = (await cluster.client.update({ ...created, data: { value: '2' } })) as Secret
    contents.note(written, created.metadata.resourceVersion ?? '')
    expect(await valueOf(contents, 'a')).toBe('2')
    expect(gets()).toBe(0)
    await stop()
  })

  it('are absent after a deletion, and an object that never existed is not requested', async () => {
    const { cluster, contents, gets, stop } = await start()
    await cluster.client.create(secret('a', '1'))
    await settled()
    await valueOf(contents, 'a')
    await cluster.client.delete({ ...kind, namespace: 'openstack', name: 'a' })
    await settled()
    expect(await valueOf(contents, 'a')).toBeUndefined()
    expect(await valueOf(contents, 'b')).toBeUndefined()
    expect(gets()).toBe(1)
    await stop()
  })

  it('are kept up to the limit; the least recently used ones are read again', async () => {
    const { cluster, contents, gets, stop } = await start(700)
    for (const name of ['a', 'b', 'c']) await cluster.client.create(secret(name, 'x'.repeat(100)))
    await settled()
    for (const name of ['a', 'b', 'a', 'c', 'a']) await valueOf(contents, name)
    expect(gets()).toBe(3)
    await valueOf(contents, 'b')
    expect(gets()).toBe(4)
    await cluster.client.create(secret('large', 'x'.repeat(1000)))
    await settled()
    expect(await valueOf(contents, 'large')).toHaveLength(1000)
    await valueOf(contents, 'b')
    expect(gets()).toBe(5)
    await stop()
  })

  it('are complete when a decision sees them, also where one names the next', async () => {
    const { cluster, contents, stop } = await start(1)
    await cluster.client.create(secret('a', 'b'))
    await cluster.client.create(secret('b', 'end'))
    await settled()
    const decide = withContents((find) => {
      const next = find(contents, 'openstack/a')?.data?.['value']
      return find(contents, `openstack/${next}`)?.data?.['value']
    }, signal)
    expect(await decide).toBe('end')
    await stop()
  })
})

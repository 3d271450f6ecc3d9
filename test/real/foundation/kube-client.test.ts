import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import type { Snapshot } from '../../../src/api/snapshot.ts'
import type { WatchEvent } from '../../../src/kube/client.ts'
import { type Connection, type ConnectOptions, connect } from '../../../src/kube/connect.ts'
import { loadDump } from '../../../src/kube/dump.ts'
import { defaultRetryPolicy } from '../../../src/kube/retry.ts'
import { takeSnapshot } from '../../../src/kube/snapshot.ts'
import { loadAuthority } from '../../../src/pki/authority.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { useCluster } from '../../cluster.ts'
import { count } from '../../counts.ts'
import { sandboxContext } from '../../sandbox-context.ts'

const cluster = useCluster({ crds: 'none', metallb: true, controllerManager: true })
const NS = 'client'
const kinds = {
  namespace: { apiVersion: 'v1', kind: 'Namespace' },
  configMap: { apiVersion: 'v1', kind: 'ConfigMap' },
  pool: { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
  clusterRole: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  widget: { apiVersion: 'test.stackloom.dev/v1', kind: 'Widget' },
} as const

const configMap = (name: string, data: unknown, more: object = {}): KubeObject => ({
  ...kinds.configMap,
  metadata: { name, namespace: NS, ...more },
  data,
})
const at = (name: string) => ({ ...kinds.configMap, name, namespace: NS })
const pool = (name: string, spec: object): KubeObject => ({
  ...kinds.pool,
  metadata: { name, namespace: 'metallb-system' },
  spec,
})
const manager = { fieldManager: 'mine' }

let folder: string
const open: Connection[] = []
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-client-'))
  await cluster.client.apply({ ...kinds.namespace, metadata: { name: NS } }, manager)
})
afterAll(async () => {
  await Promise.all(open.map((connection) => connection.close()))
  rmSync(folder, { recursive: true, force: true })
})

/** A connection to the same cluster as another user, or with other options. */
async function connectAs(user: object | undefined, options: Partial<ConnectOptions> = {}): Promise<Connection> {
  const config = JSON.parse(readFileSync(cluster.kubeconfig, 'utf8')) as {
    users: { name: string; user: object }[]
  }
  const users = config.users.map((entry) => (user ? { name: entry.name, user } : entry))
  const kubeconfig = path.join(folder, `kubeconfig-${open.length}`)
  writeFileSync(kubeconfig, JSON.stringify({ ...config, users }), { mode: 0o600 })
  const connection = await connect({ kubeconfig, env: process.env, ...options })
  open.push(connection)
  return connection
}

function adminUser(): object {
  const config = JSON.parse(readFileSync(cluster.kubeconfig, 'utf8')) as { users: { user: object }[] }
  return config.users[0]?.user ?? {}
}

describe('server-side apply', () => {
  it('names the manager and the path of a conflict, changes nothing, and takes over when forced', async () => {
    const { client } = cluster
    await client.apply(configMap('ssa', { a: '1', b: '1' }), manager)
    await expect(client.apply(configMap('ssa', { a: '2' }), { fieldManager: 'theirs' })).rejects.toMatchObject({
      kind: 'field-conflict',
      conflicts: [{ manager: 'mine', path: '.data.a' }],
      findings: [{ code: 'SL1109', owners: ['mine'] }],
    })
    expect(await client.get(at('ssa'))).toMatchObject({ data: { a: '1', b: '1' } })
    await client.apply(configMap('ssa', { a: '2' }), { fieldManager: 'theirs', force: true })
    expect(await client.get(at('ssa'))).toMatchObject({ data: { a: '2', b: '1' } })
  })

  it('removes fields that its manager no longer sets', async () => {
    const { client } = cluster
    await client.apply(configMap('shrinks', { a: '1', b: '1' }), manager)
    expect((await client.apply(configMap('shrinks', { a: '1' }), manager))['data']).toEqual({ a: '1' })
  })

  it('returns the result of a dry run and changes nothing', async () => {
    const { client } = cluster
    const result = await client.apply(configMap('dry', { a: '1' }), { ...manager, dryRun: true })
    expect(result.metadata.uid).toBeDefined()
    expect(await client.get(at('dry'))).toBeUndefined()
  })

  it('names the namespace that is missing', async () => {
    const misplaced = { ...configMap('lost', {}), metadata: { name: 'lost', namespace: 'nowhere' } }
    await expect(cluster.client.apply(misplaced, manager)).rejects.toMatchObject({
      kind: 'not-found',
      message: expect.stringContaining('the namespace nowhere'),
    })
  })
})

describe('strict validation', () => {
  const wrong = configMap('wrong', { a: '1' })
  it.each([
    ['create', () => cluster.client.create({ ...wrong, dta: {} })],
    ['apply', () => cluster.client.apply({ ...wrong, dta: {} }, manager)],
    ['update', () => cluster.client.update({ ...configMap('strict', {}), dta: {} })],
    ['merge patch', () => cluster.client.patch(at('strict'), { dta: {} }, { type: 'merge' })],
    [
      'JSON patch',
      () => cluster.client.patch(at('strict'), [{ op: 'add', path: '/dta', value: {} }], { type: 'json' }),
    ],
  ])('rejects an unknown field in a %s and names it', async (_, write) => {
    await cluster.client.apply(configMap('strict', {}), manager)
    await expect(write()).rejects.toMatchObject({
      kind: 'invalid',
      causes: [{ path: 'dta', message: 'unknown field "dta"' }],
    })
  })

  it.each([
    ['create', (object: KubeObject) => cluster.client.create(object)],
    ['apply', (object: KubeObject) => cluster.client.apply(object, manager)],
  ])('rejects an unknown field of a custom resource in a %s', async (_, write) => {
    const misspelt = pool('misspelt', { adresses: ['172.17.0.1/32'], addresses: ['172.17.0.2/32'] })
    await expect(write(misspelt)).rejects.toMatchObject({
      kind: 'invalid',
      causes: [{ path: 'spec.adresses' }],
    })
  })

  it('names every invalid field, and a wrong type with its path', async () => {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'A_', namespace: NS },
      spec: { ports: [] },
    }
    await expect(cluster.client.create(service)).rejects.toMatchObject({
      kind: 'invalid',
      causes: [{ path: 'metadata.name' }, { path: 'spec.ports' }],
    })
    await expect(cluster.client.apply(configMap('typed', { a: 1 }), manager)).rejects.toMatchObject({
      kind: 'invalid',
      causes: [{ path: 'data.a' }],
    })
  })
})

describe('conditional writes', () => {
  it('update only the version that was read', async () => {
    const { client } = cluster
    const first = await client.create(configMap('stale', { a: '1' }))
    await client.update({ ...first, data: { a: '2' } })
    await expect(client.update({ ...first, data: { a: '3' } })).rejects.toMatchObject({ kind: 'conflict' })
    await expect(client.create(configMap('stale', {}))).rejects.toMatchObject({ kind: 'already-exists' })
    expect(await client.get(at('stale'))).toMatchObject({ data: { a: '2' } })
  })

  it('delete only the object and version that was read', async () => {
    const { client } = cluster
    const first = await client.create(configMap('guarded', {}))
    const second = await client.update({ ...first, data: { a: '1' } })
    const guard = async (preconditions: object) => client.delete(at('guarded'), { preconditions })
    await expect(guard({ uid: 'another' })).rejects.toMatchObject({ kind: 'conflict' })
    await expect(guard({ resourceVersion: first.metadata.resourceVersion })).rejects.toMatchObject({
      kind: 'conflict',
    })
    const { uid, resourceVersion } = second.metadata
    expect(await guard({ uid, resourceVersion })).toBe(true)
    expect(await guard({ uid })).toBe(false)
  })

  it('patch with a test that must hold', async () => {
    const { client } = cluster
    await client.apply(configMap('patched', { a: '1' }), manager)
    const patch = (value: string) => [
      { op: 'test', path: '/data/a', value },
      { op: 'replace', path: '/data/a', value: '2' },
    ]
    await expect(client.patch(at('patched'), patch('no'), { type: 'json' })).rejects.toMatchObject({
      kind: 'invalid',
    })
    expect(await client.patch(at('patched'), patch('1'), { type: 'json' })).toMatchObject({
      data: { a: '2' },
    })
    expect((await client.patch(at('patched'), { data: { a: null, b: '3' } }, { type: 'merge' }))['data']).toEqual({
      b: '3',
    })
  })

  it('delete dependents, or keep them', async () => {
    const { client } = cluster
    const family = async (name: string) => {
      const { metadata } = await client.create(configMap(name, {}))
      const owner = { ...kinds.configMap, name, uid: metadata.uid ?? '', blockOwnerDeletion: true }
      await client.create(configMap(`${name}-child`, {}, { ownerReferences: [owner] }))
    }
    await family('parent')
    await client.delete(at('parent'), { propagation: 'Foreground' })
    await expect.poll(() => client.get(at('parent-child')), { timeout: 20_000 }).toBeUndefined()
    await family('orphaner')
    await client.delete(at('orphaner'), { propagation: 'Orphan' })
    await expect.poll(() => client.get(at('orphaner')), { timeout: 20_000 }).toBeUndefined()
    expect(await client.get(at('orphaner-child'))).toBeDefined()
  })
})

describe('a kind that is installed later', () => {
  const widget = (name: string, more: object): KubeObject => ({
    ...kinds.widget,
    metadata: { name },
    ...more,
  })
  const anyObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const crd: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.test.stackloom.dev' },
    spec: {
      group: 'test.stackloom.dev',
      scope: 'Cluster',
      names: { kind: 'Widget', plural: 'widgets' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: anyObject, status: anyObject } } },
        },
      ],
    },
  }

  it('is discovered, and its status is a subresource', async () => {
    const { client } = cluster
    expect(await client.resource(kinds.widget)).toBeUndefined()
    expect(await client.get({ ...kinds.widget, name: 'w' })).toBeUndefined()
    await expect(client.list(kinds.widget)).rejects.toMatchObject({ kind: 'not-served' })
    await client.apply(crd, manager)
    await expect.poll(() => client.resource(kinds.widget), { timeout: 20_000 }).toMatchObject({ namespaced: false })
    expect(await client.versions('test.stackloom.dev')).toEqual(['test.stackloom.dev/v1'])

    const created = await client.apply(widget('w', { spec: { size: 1 }, status: { lost: true } }), manager)
    expect(created['status']).toBeUndefined()
    const controller = { fieldManager: 'controller', subresource: 'status' } as const
    const applied = await client.apply(widget('w', { spec: { size: 9 }, status: { ready: true } }), controller)
    expect(applied).toMatchObject({ spec: { size: 1 }, status: { ready: true } })
    const updated = await client.update({ ...applied, status: { ready: false } }, { subresource: 'status' })
    expect(updated).toMatchObject({ spec: { size: 1 }, status: { ready: false } })
    await client.patch(
      { ...kinds.widget, name: 'w' },
      { status: { note: 'x' } },
      { type: 'merge', subresource: 'status' },
    )
    expect(await client.get({ ...kinds.widget, name: 'w' })).toMatchObject({
      status: { ready: false, note: 'x' },
    })
  })

  it('is gone with its CRD, without a stale cache', async () => {
    const { client } = cluster
    await client.delete({ ...crd, name: crd.metadata.name })
    await expect
      .poll(
        () =>
          client.list(kinds.widget).then(
            () => 'served',
            (e: { kind: string }) => e.kind,
          ),
        { timeout: 20_000 },
      )
      .toBe('not-served')
    expect(await client.resource(kinds.widget)).toBeUndefined()
  })
})

describe('many objects', () => {
  const total = count({ test: 600, soak: 10_000 })

  it('are written concurrently while watches run, and listed in pages at one consistent version', async () => {
    const { client } = cluster
    const namespace = 'many'
    await client.apply({ ...kinds.namespace, metadata: { name: namespace } }, manager)
    const { resourceVersion } = await client.list(kinds.configMap, { namespace })
    const stop = new AbortController()
    const seen = Array.from({ length: 20 }, () => new Set<string>())
    const watches = seen.map(async (names) => {
      for await (const event of client.watch(kinds.configMap, {
        namespace,
        resourceVersion,
        signal: stop.signal,
      })) {
        if (event.kind === 'added') names.add(event.object.metadata.name)
      }
    })
    const names = Array.from({ length: total }, (_, index) => `c${index}`)
    await Promise.all(names.map((name) => client.create({ ...configMap(name, {}), metadata: { name, namespace } })))
    const whole = await client.list(kinds.configMap, { namespace, limit: 100_000 })
    const paged = await client.list(kinds.configMap, { namespace })
    expect(paged.items.map((item) => item.metadata.name)).toEqual(whole.items.map((item) => item.metadata.name))
    expect(new Set(paged.items.map((item) => item.metadata.name)).size).toBe(paged.items.length)
    for (const item of paged.items) expect(item).toMatchObject(kinds.configMap)
    // kube-root-ca.crt is created by the controller manager.
    for (const set of seen)
      await expect.poll(() => names.every((name) => set.has(name)), { timeout: 20_000 }).toBe(true)
    stop.abort()
    await Promise.all(watches)
  })
})

describe('a watch', () => {
  it('returns events in order, and ends after its time', async () => {
    const { client } = cluster
    const labels = { watch: 'me' }
    const { resourceVersion } = await client.list(kinds.configMap, { namespace: NS })
    const seen: WatchEvent[] = []
    const options = { namespace: NS, resourceVersion, labelSelector: 'watch=me', timeoutSeconds: 2 }
    const ended = (async () => {
      for await (const event of client.watch(kinds.configMap, options)) seen.push(event)
    })()
    await client.apply(configMap('watched', { a: '1' }, { labels }), manager)
    await client.apply(configMap('watched', { a: '2' }, { labels }), manager)
    await client.delete(at('watched'))
    await ended
    expect(seen.filter((watchEvent) => watchEvent.kind !== 'bookmark').map((watchEvent) => watchEvent.kind)).toEqual([
      'added',
      'modified',
      'deleted',
    ])
  })
})

describe('admission', () => {
  it('that denies is distinguished from an invalid schema, and from a webhook that does not respond', async () => {
    const { client } = cluster
    await client.apply(pool('first', { addresses: ['172.17.1.80/29'] }), manager)
    await expect(client.apply(pool('second', { addresses: ['172.17.1.80/29'] }), manager)).rejects.toMatchObject({
      kind: 'denied',
      findings: [{ code: 'SL1111', message: expect.stringContaining('overlaps') }],
    })
    await cluster.kill('metallb-webhooks')
    try {
      const { client: quickClient } = await connectAs(undefined, {
        retry: { ...defaultRetryPolicy, initialDelayMs: 5 },
      })
      await expect(quickClient.create(pool('third', { addresses: ['172.17.2.80/29'] }))).rejects.toMatchObject({
        kind: 'webhook',
        findings: [{ code: 'SL1115', message: expect.stringContaining('connection refused') }],
      })
    } finally {
      await cluster.start('metallb-webhooks')
    }
  })
})

describe('authentication and authorization', () => {
  it('without a permission, the finding says which user lacks which permission', async () => {
    const { client } = await connectAs({ ...adminUser(), as: 'ann', 'as-groups': ['system:authenticated'] })
    await expect(client.list(kinds.configMap)).rejects.toMatchObject({
      kind: 'forbidden',
      findings: [
        {
          code: 'SL1108',
          message: expect.stringMatching(/cannot list v1 ConfigMap: User "ann" cannot list/),
        },
      ],
    })
    const { snapshot } = await takeSnapshot(client, [kinds.configMap, kinds.widget])
    expect(snapshot.unread.map((unreadKind) => [unreadKind.kind, unreadKind.cause])).toEqual([
      ['ConfigMap', 'forbidden'],
      ['Widget', 'not-served'],
    ])
  })

  it('with a wrong token or an expired certificate, the finding says which', async () => {
    const { client: unknownUser } = await connectAs({ token: 'hunter2' })
    await expect(unknownUser.list(kinds.configMap)).rejects.toMatchObject({
      kind: 'unauthorized',
      findings: [{ code: 'SL1107' }],
    })

    const pki = (name: string) => readFileSync(path.join(path.dirname(cluster.kubeconfig), 'pki', name), 'utf8')
    const lastYear = { now: () => Date.now() - 365 * 86_400_000 }
    const authority = await loadAuthority({ certificate: pki('ca.crt'), privateKey: pki('ca.key') }, lastYear)
    const old = await authority.issue({
      commonName: 'ann',
      organizations: ['system:masters'],
      uses: ['client'],
      days: 30,
    })
    const { client: expiredUser } = await connectAs({
      'client-certificate-data': Buffer.from(old.certificate).toString('base64'),
      'client-key-data': Buffer.from(old.privateKey).toString('base64'),
    })
    await expect(expiredUser.list(kinds.configMap)).rejects.toMatchObject({
      kind: 'unauthorized',
      findings: [{ code: 'SL1102' }],
    })
  })

  it('with a plugin whose token was revoked, the plugin runs again and the work continues', async () => {
    const { client, connection } = cluster
    const account = (name: string) => ({ apiVersion: 'v1', kind: 'ServiceAccount', name, namespace: NS })
    const tokenOf = async (name: string): Promise<string> => {
      await client.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: NS } }, manager)
      const answer = await connection.transport.json({
        method: 'POST',
        path: `/api/v1/namespaces/${NS}/serviceaccounts/${name}/token`,
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
        idempotent: false,
        verb: 'create',
        subject: 'a token',
      })
      return (answer as { status: { token: string } }).status.token
    }
    const command = path.join(folder, 'plugin')
    const give = (token: string) =>
      writeFileSync(
        command,
        `#!/bin/sh\necho run >> ${folder}/runs\necho '${JSON.stringify({ kind: 'ExecCredential', status: { token } })}'\n`,
        { mode: 0o700 },
      )
    give(await tokenOf('first'))
    const { client: robot } = await connectAs({ exec: { command, interactiveMode: 'Never' } })
    const whoAmI = async () => {
      const review = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'SelfSubjectReview',
        metadata: { name: '' },
      }
      const { status } = (await robot.create(review)) as unknown as {
        status: { userInfo: { username: string } }
      }
      return status.userInfo.username
    }
    expect(await whoAmI()).toBe(`system:serviceaccount:${NS}:first`)
    give(await tokenOf('second'))
    await client.delete(account('first'))
    // The server caches valid tokens for some seconds.
    await expect.poll(whoAmI, { timeout: 25_000, interval: 500 }).toBe(`system:serviceaccount:${NS}:second`)
    expect(readFileSync(path.join(folder, 'runs'), 'utf8').trim().split('\n')).toHaveLength(2)
  })
})

describe('the server', () => {
  it('sends warnings, and they are passed on', async () => {
    const heard: string[] = []
    const { client } = await connectAs(undefined, { onWarning: (text) => void heard.push(text) })
    await client.list({ apiVersion: 'v1', kind: 'Endpoints' })
    expect(heard).toEqual([expect.stringContaining('Endpoints is deprecated')])
  })

  it('that is killed and restarted finds its clients waiting with idempotent requests', async () => {
    const longRetry = {
      ...defaultRetryPolicy,
      attempts: { ...defaultRetryPolicy.attempts, unreachable: 100 },
      deadlineMs: 60_000,
      maxDelayMs: 500,
    }
    const { client } = await connectAs(undefined, { retry: longRetry })
    await client.apply(configMap('survivor', { turn: '0' }), manager)
    await cluster.kill('kube-apiserver')
    const writes = Promise.all(
      Array.from({ length: 20 }, (_, index) => client.apply(configMap(`survivor-${index}`, { turn: '1' }), manager)),
    )
    await cluster.start('kube-apiserver')
    expect(await writes).toHaveLength(20)
    expect(await client.get(at('survivor'))).toMatchObject({ data: { turn: '0' } })
  })

  it('that no longer has a version reports it in the stream, as a typed error', async () => {
    // After its restart it has no history.
    const watch = async () => {
      for await (const event of cluster.client.watch(kinds.configMap, { resourceVersion: '1' })) {
        expect(event.kind).toBe('never')
      }
    }
    await expect(watch()).rejects.toMatchObject({ kind: 'expired', status: 410 })
  })
})

describe('a dump of the cluster', () => {
  it('by kubectl gives the same snapshot as the cluster itself', async () => {
    const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
    const dumps = path.join(folder, 'dumps')
    mkdirSync(path.join(dumps, 'deep'), { recursive: true })
    const dump = (file: string, ...words: readonly string[]): void => {
      const args = ['--kubeconfig', cluster.kubeconfig, 'get', '--show-managed-fields', ...words]
      writeFileSync(path.join(dumps, file), execFileSync(kubectl, args, { maxBuffer: 1e8 }))
    }
    dump('namespaces.yaml', 'namespaces', '-o', 'yaml')
    dump('deep/configmaps.json', 'configmaps', '-A', '-o', 'json')
    dump('deep/pool.yaml', 'ipaddresspool', '-n', 'metallb-system', 'first', '-o', 'yaml')
    dump('roles.yaml', 'clusterroles', '-o', 'yaml')
    const wanted = [kinds.namespace, kinds.configMap, kinds.pool, kinds.clusterRole]
    const live = await takeSnapshot(cluster.client, wanted)
    const dumped = await loadDump(dumps, wanted)
    expect([...live.findings, ...dumped.findings]).toEqual([])
    const byKey = ({ objects }: Snapshot) =>
      new Map(objects.map((object) => [`${object.kind} ${object.metadata.namespace} ${object.metadata.name}`, object]))
    expect(byKey(dumped.snapshot)).toEqual(byKey(live.snapshot))
    expect(live.snapshot.objects.length).toBeGreaterThan(100)
  })
})

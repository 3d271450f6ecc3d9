/** The console of the operator: every caller sees what its own token may read. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import type { OverviewDocument } from '../../../src/console/documents/overview.ts'
import { documentNames, routes } from '../../../src/console/routes.ts'
import { useCluster } from '../../cluster.ts'
import { type ConsoleClient, openConsole } from '../../console-client.ts'
import { requestToken } from '../ipam/installed.ts'
import { freePorts, launchOperator, type RunningOperator } from '../ipam/operator.ts'

const LIMIT = 120_000
const SECRET_NAME = 'hidden-from-tenants'

const service = (namespace: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace, name },
  spec: { ports: [{ port: 80 }] },
})

function grant(name: string, namespace: string | undefined): readonly KubeObject[] {
  const group = 'rbac.authorization.k8s.io'
  const apiVersion = `${group}/v1`
  const [role, binding] = namespace === undefined ? ['ClusterRole', 'ClusterRoleBinding'] : ['Role', 'RoleBinding']
  const metadata = { name, ...(namespace !== undefined && { namespace }) }
  return [
    {
      apiVersion,
      kind: role,
      metadata,
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion,
      kind: binding,
      metadata,
      roleRef: { apiGroup: group, kind: role, name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: 'openstack' }],
    },
  ]
}

describe('the console of the operator', { timeout: 600_000 }, () => {
  const cluster = useCluster({ crds: 'own' })
  let operator: RunningOperator | undefined
  let origin = ''
  const opened: ConsoleClient[] = []

  const openAs = async (account: string): Promise<ConsoleClient> => {
    const token = await requestToken(cluster, 'openstack', account)
    const client = openConsole(origin, { authorization: `Bearer ${token}` })
    opened.push(client)
    await vi.waitUntil(
      async () => {
        const { notes } = await client.get<OverviewDocument>(routes.overview)
        return notes.every(({ kind }) => kind !== 'loading')
      },
      { timeout: LIMIT, interval: 200 },
    )
    return client
  }

  beforeAll(async () => {
    const objects: readonly KubeObject[] = [
      ...['openstack', 'openstack2'].map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
      ...['tenant', 'auditor'].map((name) => ({
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name, namespace: 'openstack' },
      })),
      service('openstack', 'keystone-internal'),
      service('openstack2', SECRET_NAME),
      ...grant('tenant', 'openstack'),
      ...grant('auditor', undefined),
    ]
    for (const object of objects) await cluster.client.apply(object, { fieldManager: 'administrator' })
    const [consolePort = 0] = await freePorts(1)
    operator = await launchOperator(cluster, {
      console: true,
      consolePort,
      namespaces: ['openstack', 'openstack2'],
      noWebhooks: true,
      parts: ['ipam'],
    })
    await operator.says('the console is served on loopback')
    origin = `http://127.0.0.1:${consolePort}`
  }, 600_000)
  afterAll(async () => {
    for (const client of opened) client.close()
    await operator?.stop()
  })

  it('answers nothing without a token that the API server accepts', async () => {
    const requests = [{}, { authorization: 'Bearer wrong' }, { authorization: 'Basic YWRtaW46YWRtaW4=' }]
    for (const headers of requests) {
      const response = await fetch(`${origin}${routes.overview}`, { headers })
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({ error: { code: 'SL1309' } })
    }
  })

  it('shows a tenant its own cloud, and that the other one is denied', async () => {
    const client = await openAs('tenant')
    const { clouds, notes } = await client.get<OverviewDocument>(routes.overview)
    const states = new Map(clouds.map(({ id, state, reason }) => [id, { state, reason }]))
    expect(states.get('openstack')?.state).toBe('ready')
    expect(states.get('openstack2')).toEqual({
      state: 'denied',
      reason: 'access denied: this user may not read namespace openstack2',
    })
    expect(notes.some(({ kind }) => kind === 'denied')).toBe(true)
    for (const name of documentNames) {
      if (name === 'lab') continue
      expect(JSON.stringify(await client.get(routes[name])), name).not.toContain(SECRET_NAME)
    }
    const found = await client.get(`/api/search?q=${SECRET_NAME}`)
    expect(JSON.stringify(found)).not.toContain(`openstack2/${SECRET_NAME}`)
    const log = await client.get<{ logs: unknown[] }>('/api/hosts/openstack2/any')
    expect(log.logs).toEqual([])
  })

  it('sends a tenant no change of the other cloud', async () => {
    const client = await openAs('tenant')
    const mark = client.seen().length
    await cluster.client.apply(service('openstack2', `${SECRET_NAME}-2`), { fieldManager: 'administrator' })
    await cluster.client.apply(service('openstack', 'placement-internal'), { fieldManager: 'administrator' })
    await client.waitFor(({ kind }) => kind === 'patch', mark)
    expect(JSON.stringify(client.seen())).not.toContain(SECRET_NAME)
  })

  it('shows an auditor of all namespaces both clouds', async () => {
    const client = await openAs('auditor')
    const { clouds } = await client.get<OverviewDocument>(routes.overview)
    expect(clouds.filter(({ state }) => state === 'denied')).toEqual([])
  })

  it('starts no action, whatever the rights of the caller are', async () => {
    const token = await requestToken(cluster, 'openstack', 'auditor')
    const response = await fetch(`${origin}/api/actions/doctor`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-stackloom-action': '1' },
      body: '{}',
    })
    expect(response.status).toBe(403)
  })
})

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../api/object.ts'
import type { Transport } from '../../kube/transport.ts'
import { type NovaCell, novaCells } from '../kinds/nova.ts'
import { type ComputeHost, createNovaControlPlane, keystoneApis, tryCountInstances } from './nova-control-plane.ts'

let server: Server
let requests: string[]
/** The responses of the cloud: a status and a body by `METHOD /path`. */
let answers: Record<string, readonly [number, unknown]>

/** The header of a redirect. */
let location: string | undefined

beforeEach(async () => {
  requests = []
  location = undefined
  server = createServer((request, response) => {
    const line = `${request.method} ${request.url}`
    requests.push(line)
    void bodyOf(request).then((body) => {
      if (line === 'POST /v3/auth/tokens' && !body.includes('s3cret')) return void response.writeHead(401).end()
      const [status, answer] = answers[line] ?? [404, {}]
      const token = request.headers['x-auth-token'] ?? 'none'
      if (line !== 'POST /v3/auth/tokens' && token !== 'a-token') return void response.writeHead(401).end()
      const headers = { 'x-subject-token': 'a-token', 'content-type': 'application/json' }
      response.writeHead(status, { ...headers, ...(location !== undefined && { location }) })
      response.end(status === 204 ? undefined : JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const entry = (type: string, path: string) => ({
    type,
    endpoints: [{ interface: 'internal', url: `${url()}${path}` }],
  })
  const catalog = [entry('compute', '/nova/v2.1'), entry('network', '/neutron')]
  answers = { 'POST /v3/auth/tokens': [201, { token: { catalog } }] }
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

function compute(): ComputeHost {
  const spec = { cellName: 'cell1', keystoneAuthURL: url(), secret: 'osp', serviceUser: 'nova' }
  const cell: NovaCell = { ...novaCells, metadata: { name: 'nova-cell1', namespace: 'openstack' }, spec }
  return { namespace: 'openstack', host: 'edpm-0', cell }
}

function cloud(password = 's3cret', guard = () => {}, timeoutMs = 20_000, keystones?: readonly KubeObject[]) {
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'osp' },
    data: { ServicePassword: Buffer.from(password).toString('base64') },
  }
  const keystone: KubeObject = {
    ...keystoneApis,
    metadata: { name: 'keystone' },
    status: { apiEndpoints: { internal: url(), public: 'http://127.0.0.1:1' } },
  }
  const client = {
    get: async ({ name }: { name: string }) => (name === 'osp' ? secret : undefined),
    list: async ({ kind }: { kind: string }) => {
      const items = kind === novaCells.kind ? [compute().cell] : (keystones ?? [keystone])
      return { items, resourceVersion: '1' }
    },
  }
  return createNovaControlPlane({ client, transport: {} as Transport, guard, timeoutMs })
}

const never = new AbortController().signal
const SERVERS = 'GET /nova/v2.1/servers?all_tenants=1&host=edpm-0'

describe('createNovaControlPlane', () => {
  it('counts the instances of a host in all projects', async () => {
    answers[SERVERS] = [200, { servers: [{ id: '1' }, { id: '2' }] }]
    expect(await tryCountInstances(cloud(), compute(), never)).toEqual({ kind: 'known', count: 2 })
  })

  it('returns no count for a wrong password, an error, or an unreachable cloud', async () => {
    const why = async (plane = cloud(), of = compute()): Promise<string> => {
      const count = await tryCountInstances(plane, of, never)
      return count.kind === 'unknown' ? count.why : 'known'
    }
    expect(await why(cloud('wrong'))).toBe('Keystone answered 401')
    answers[SERVERS] = [503, {}]
    expect(await why()).toContain('Nova answered 503')
    answers[SERVERS] = [200, {}]
    expect(await why()).toBe('the answer has no list of servers')
    const nowhere = compute()
    const cell = { ...nowhere.cell, spec: { ...nowhere.cell.spec, keystoneAuthURL: 'http://127.0.0.1:1' } }
    expect(await why(cloud(), { ...nowhere, cell })).not.toBe('known')
  })

  it.each(['http://attacker.invalid', 'http://user@127.0.0.1', 'file:///etc/passwd', 'nonsense'])(
    'sends no password to %s, which no KeystoneAPI of the cloud has',
    async (keystoneAuthURL) => {
      const { cell, ...rest } = compute()
      const attack = { ...rest, cell: { ...cell, spec: { ...cell.spec, keystoneAuthURL } } }
      expect(await tryCountInstances(cloud(), attack, never)).toMatchObject({
        kind: 'unknown',
        why: expect.stringContaining('which no KeystoneAPI in namespace openstack has'),
      })
      expect(requests).toEqual([])
    },
  )

  it('follows no redirect', async () => {
    location = `${url()}/elsewhere`
    answers['POST /v3/auth/tokens'] = [307, {}]
    expect(await tryCountInstances(cloud(), compute(), never)).toMatchObject({ kind: 'unknown' })
    expect(requests).toEqual(['POST /v3/auth/tokens'])
  })

  it.each([SERVERS, 'POST /v3/auth/tokens'])(
    'stops reading an answer that is too large, of %s',
    async (line) => {
      answers[SERVERS] = [200, { servers: [] }]
      const [status, answer] = answers[line] ?? [200, {}]
      answers[line] = [status, { ...(answer as object), padding: 'x'.repeat(5 * 2 ** 20) }]
      // Longer than a slow machine needs for the whole answer, so that only its size can be the reason.
      expect(
        await tryCountInstances(
          cloud('s3cret', () => {}, 60_000),
          compute(),
          never,
        ),
      ).toMatchObject({
        kind: 'unknown',
        why: expect.stringMatching(/exceed|terminated/),
      })
    },
    120_000,
  )

  it.each(['..', '', 5])('removes nothing for a compute service with the id %j', async (id) => {
    answers['GET /nova/v2.1/os-services?binary=nova-compute&host=edpm-0'] = [200, { services: [{ id }] }]
    await expect(cloud().removeCompute(compute(), never)).rejects.toThrow('is not an id')
    expect(requests.filter((line) => line.startsWith('DELETE'))).toEqual([])
  })

  it('removes the compute service of the host, and no other', async () => {
    answers['GET /nova/v2.1/os-services?binary=nova-compute&host=edpm-0'] = [200, { services: [{ id: 'abc' }] }]
    answers['DELETE /nova/v2.1/os-services/abc'] = [204, undefined]
    await cloud().removeCompute(compute(), never)
    expect(requests.filter((line) => line.startsWith('DELETE'))).toEqual(['DELETE /nova/v2.1/os-services/abc'])
  })

  it('sends no DELETE when the leadership was lost after the services were listed', async () => {
    answers['GET /nova/v2.1/os-services?binary=nova-compute&host=edpm-0'] = [200, { services: [{ id: 'abc' }] }]
    answers['DELETE /nova/v2.1/os-services/abc'] = [204, undefined]
    const lost = (): void => {
      throw new Error('lost')
    }
    await expect(cloud('s3cret', lost).removeCompute(compute(), never)).rejects.toThrow()
    expect(requests.filter((line) => line.startsWith('DELETE'))).toEqual([])
  })

  it('removes the network agents of the host, and no other; one that is gone meanwhile is no error', async () => {
    const agents = [
      { id: 'controller', host: 'edpm-0' },
      { id: 'metadata', host: 'edpm-0.example.org' },
      { id: 'gone', host: 'edpm-0' },
      { id: 'other', host: 'edpm-01' },
    ]
    answers['GET /neutron/v2.0/agents'] = [200, { agents }]
    for (const id of ['controller', 'metadata']) answers[`DELETE /neutron/v2.0/agents/${id}`] = [204, undefined]
    await cloud().removeAgents({ namespace: 'openstack', host: 'edpm-0' }, never)
    expect(requests.filter((line) => line.startsWith('DELETE'))).toEqual(
      ['controller', 'metadata', 'gone'].map((id) => `DELETE /neutron/v2.0/agents/${id}`),
    )
  })

  it('keeps a node while Neutron does not answer, and asks nothing where there is no Keystone any more', async () => {
    answers['GET /neutron/v2.0/agents'] = [503, {}]
    const host = { namespace: 'openstack', host: 'edpm-0' }
    await expect(cloud().removeAgents(host, never)).rejects.toThrow('Neutron answered 503')
    requests = []
    await cloud('s3cret', () => {}, 20_000, []).removeAgents(host, never)
    expect(requests).toEqual([])
  })

  it('names the pod that is missing for host discovery', async () => {
    await expect(cloud().discoverHosts(compute(), never)).rejects.toThrow('nova-cell0-conductor-0')
  })
})

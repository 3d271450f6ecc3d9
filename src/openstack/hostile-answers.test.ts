/** Answers of a cloud that are wrong on purpose, over real sockets: none may count as an empty list or become another request. */
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { neverAborted } from '../../test/never-aborted.ts'
import { type ComputeHostApi, openComputeHost } from './compute-host.ts'
import { CloudApiError, openSession } from './session.ts'

let server: Server | undefined
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())))

const requests: string[] = []

/** A cloud that answers every request but the login with this body. */
async function openHost(body: string, login?: string): Promise<ComputeHostApi> {
  requests.length = 0
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const url = `http://${request.headers.host}`
    const endpoints = [{ interface: 'internal', url: `${url}/service` }]
    const catalog = ['compute', 'network', 'placement'].map((type) => ({ type, endpoints }))
    const isLogin = request.url === '/v3/auth/tokens'
    response.setHeader('connection', 'close')
    if (isLogin) response.setHeader('x-subject-token', 'token')
    response.end(isLogin ? (login ?? JSON.stringify({ token: { catalog } })) : body)
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  const api = await openSession({
    authUrl: `http://127.0.0.1:${port}`,
    user: 'nova',
    password: 'p',
    project: 'service',
    interface: 'internal',
    guard: () => undefined,
    signal: neverAborted(),
  })
  return openComputeHost(api, 'compute-0')
}

const service = { id: 'u-1', host: 'compute-0', status: 'enabled', state: 'up' } as const

describe('an answer of a cloud', () => {
  it.each([
    '<html>',
    'null',
    '[]',
    '{}',
    '"text"',
    '{"services":{},"servers":{"length":0},"migrations":"","agents":null,"resource_providers":1}',
    '{"services":[null],"servers":[1],"migrations":[[]],"agents":["x"],"resource_providers":[null]}',
  ])('%s is no list, and not an empty one either', async (body) => {
    const host = await openHost(body)
    await expect(host.findService()).rejects.toThrow(CloudApiError)
    await expect(host.listInstances(service)).rejects.toThrow(CloudApiError)
    await expect(host.listMigrations(service)).rejects.toThrow(CloudApiError)
    await expect(host.listAgents()).rejects.toThrow(CloudApiError)
    await expect(host.listProviders()).rejects.toThrow(CloudApiError)
  })

  it('with pages that repeat ends', async () => {
    const servers = Array.from({ length: 500 }, () => ({ id: 'same', name: 'a', status: 'ACTIVE' }))
    const host = await openHost(JSON.stringify({ servers }))
    await expect(host.listInstances(service)).rejects.toThrow('the list of instances has no end')
  })

  it.each(['..', '.', '', 7 as unknown as string])('with the id %j changes nothing', async (id) => {
    const host = await openHost('{}')
    await expect(host.deleteService({ ...service, id })).rejects.toThrow(CloudApiError)
    await expect(host.setStatus({ ...service, id }, 'disabled', 'x')).rejects.toThrow(CloudApiError)
    await expect(host.deleteAgent(id)).rejects.toThrow(CloudApiError)
    await expect(host.deleteProvider(id)).rejects.toThrow(CloudApiError)
    await expect(host.liveMigrate(id)).rejects.toThrow(CloudApiError)
    expect(requests).toEqual(['POST /v3/auth/tokens'])
  })

  it.each([
    '<html>',
    'null',
    '{"token":null}',
    '{"token":{"catalog":[null,{"type":"compute"}]}}',
    '{"token":{"catalog":[{"type":"compute","endpoints":[null,{"interface":"internal","url":"file:///etc/passwd"}]}]}}',
  ])('to a login with %s has no endpoint', async (login) => {
    const find = async (): Promise<unknown> => (await openHost('{}', login)).findService()
    await expect(find()).rejects.toThrow(CloudApiError)
  })

  it('of more bytes than any list has is not read to its end', async () => {
    const host = await openHost(JSON.stringify({ services: [{ host: 'x'.repeat(8 * 2 ** 20) }] }))
    await expect(host.findService()).rejects.toThrow()
  })
})

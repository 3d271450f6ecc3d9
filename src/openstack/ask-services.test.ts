import { createServer, type Server } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { neverAborted } from '../../test/never-aborted.ts'
import { askServices } from './ask-services.ts'

let server: Server | undefined
afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())))

const requests: string[] = []

/** A cloud whose services answer with these states, by the path of their endpoint. */
async function ask(states: Readonly<Record<string, number>>, loginStatus = 201) {
  requests.length = 0
  server = createServer((request, response) => {
    const { url = '', method, headers } = request
    requests.push(`${method} ${url} ${String(headers['x-auth-token'] ?? '')}`.trim())
    const endpoints = (type: string) =>
      ['internal', 'public'].map((side) => ({ interface: side, url: `http://${headers.host}/${side}/${type}` }))
    const catalog = Object.keys(states).map((type) => ({ type, endpoints: endpoints(type) }))
    response.setHeader('connection', 'close')
    if (url === '/v3/auth/tokens') response.setHeader('x-subject-token', 'token')
    const [, , type = ''] = url.split('/')
    response.statusCode = url === '/v3/auth/tokens' ? loginStatus : (states[type] ?? 404)
    response.end(JSON.stringify({ token: { catalog } }))
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { readonly port: number }
  return askServices({
    authUrl: `http://127.0.0.1:${port}`,
    user: 'admin',
    password: 'p',
    project: 'admin',
    interface: 'public',
    signal: neverAborted(),
  })
}

async function closedUrl(): Promise<string> {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const { port } = closed.address() as { readonly port: number }
  await new Promise((resolve) => closed.close(resolve))
  return `http://127.0.0.1:${port}`
}

it('asks each public endpoint with the token, and changes nothing', async () => {
  const answer = await ask({ compute: 200, network: 200 })
  expect(answer).toMatchObject({ kind: 'asked', services: [{ type: 'compute' }, { type: 'network' }] })
  expect(JSON.stringify(answer)).not.toContain('problem')
  expect(requests[0]).toBe('POST /v3/auth/tokens')
  expect(requests.slice(1).toSorted()).toEqual([
    'GET /public/compute/servers?limit=1 token',
    'GET /public/network/v2.0/networks?limit=1 token',
  ])
})

it('reports a service that fails, that refuses the token, and that does not know its own list', async () => {
  const answer = await ask({ compute: 500, network: 401, image: 404 })
  expect(answer).toMatchObject({
    services: [{ problem: 'it answers 500' }, { problem: 'it answers 401' }, { problem: 'it answers 404' }],
  })
})

it('takes any answer of a service that it does not know but a failure', async () => {
  const answer = await ask({ 'key-manager': 300, dns: 503 })
  expect(answer).toMatchObject({ services: [{ type: 'key-manager' }, { type: 'dns', problem: 'it answers 503' }] })
  expect(answer.kind === 'asked' && answer.services[0]?.problem).toBeUndefined()
})

it('reports a cloud that gives no token', async () => {
  expect(await ask({}, 401)).toMatchObject({ kind: 'no-token', reason: 'Keystone answered 401' })
  const silent = { user: 'a', password: 'p', project: 'a', interface: 'public', signal: neverAborted() } as const
  expect(await askServices({ ...silent, authUrl: await closedUrl() })).toMatchObject({
    kind: 'no-token',
    reason: expect.stringContaining('ECONNREFUSED'),
  })
})

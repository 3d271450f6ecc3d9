/** The console of a site without a cluster, over HTTP: documents, and what its server refuses. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { request as sendRequest } from 'node:http'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { exampleEvents } from '../../../test/console-documents.ts'
import { useFolder } from '../../../test/folder.ts'
import { type TestIo, testIo } from '../../../test/io.ts'
import { schemas } from '../../console/documents/schemas.ts'
import { streamEvent } from '../../console/documents/stream.ts'
import { ACTION_HEADER, fillRoute, type RouteName } from '../../console/routes.ts'
import { main } from '../main.ts'

const folder = useFolder()
const stop = new AbortController()
const io = testIo({ cwd: folder, env: { HOME: folder }, stop: stop.signal })
let running: Promise<number>
let port = 0
let cookie = ''

const HOSTILE = '<img src=x onerror=alert(1)>\u001b[31m'

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
}

interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Without the rules of fetch, which would set Host and normalize paths. */
function send({ method = 'GET', path: target, headers = {}, body }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = sendRequest({ host: '127.0.0.1', port, method, path: target, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => void (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

const get = (target: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  send({ path: target, headers: { cookie, ...headers } })

const json = async <T>(target: string): Promise<T> => JSON.parse((await get(target)).text) as T

/** Uses a token and returns the cookie of its session. */
async function enter(token: string): Promise<string> {
  const { headers } = await send({ path: `/?token=${token}` })
  return (headers['set-cookie'] as string[] | undefined)?.[0]?.split(';')[0] ?? ''
}

/** The token of the link that was printed last and is not used yet. */
const unusedToken = (): string => /.*for another browser: \S+token=(\S+)/s.exec(io.err())?.[1] ?? ''

const code = ({ text }: Reply): string => (JSON.parse(text) as { error: { code: string } }).error.code

beforeAll(async () => {
  copyFileSync('examples/two-clouds.yaml', path.join(folder, 'site.yaml'))
  const [first, ...events] = exampleEvents('recorded', true)
  const hostile = { ...first, what: HOSTILE }
  writeFileSync(
    path.join(folder, 'run.jsonl'),
    [hostile, ...events].map((event) => `${JSON.stringify(event)}\n`).join(''),
  )
  running = main(['console', '--run', 'run.jsonl'], io)
  await vi.waitUntil(() => io.out().includes('token='), { timeout: 60_000 })
  const url = new URL(io.out().trim())
  port = Number(url.port)
  cookie = await enter(url.searchParams.get('token') ?? '')
}, 120_000)

afterAll(async () => {
  stop.abort()
  await running
})

describe('options of the console', () => {
  it.each([
    ['--run', 'missing.jsonl', 'SL1002'],
    ['--lab', 'missing.yaml', 'SL1002'],
    ['--file', 'missing.yaml', 'SL1002'],
    ['--from', 'missing', 'SL1002'],
    ['--kubeconfig', 'missing', 'SL1002'],
    ['--prometheus', 'no-url', 'SL1001'],
    ['--port', '65536', 'SL1001'],
  ])('end the program with 2 where %s names nothing: %s', async (option, value, expected) => {
    const wrong = testIo({ cwd: folder, env: { HOME: folder } })
    expect(await main(['console', option, value], wrong)).toBe(2)
    expect(wrong.err()).toContain(expected)
    expect(wrong.out()).toBe('')
  })
})

describe('--open', () => {
  const browser = process.platform === 'darwin' ? 'open' : 'xdg-open'

  /** Starts a console with this PATH and stops it once the condition holds. */
  async function openWith(PATH: string, isDone: (io: TestIo) => boolean): Promise<TestIo> {
    const end = new AbortController()
    const opened = testIo({ cwd: folder, env: { HOME: folder, PATH }, stop: end.signal })
    const exit = main(['console', '--open'], opened)
    try {
      await vi.waitUntil(() => isDone(opened), { timeout: 60_000 })
    } finally {
      end.abort()
    }
    expect(await exit).toBe(0)
    return opened
  }

  const pages = (): readonly string[] => readdirSync(folder).filter((name) => name.startsWith('stackloom-console-'))

  it('gives the printed link to the browser of the user by a page that only this user can read', async () => {
    const programs = path.join(folder, 'programs')
    const record = path.join(folder, 'opened')
    mkdirSync(programs)
    const part = `${record}.part`
    const script = ['#!/bin/sh', `echo "$*" >${part}`, `/bin/cat "$1" >>${part}`, `/bin/mv ${part} ${record}`, '']
    writeFileSync(path.join(programs, browser), script.join('\n'), { mode: 0o755 })
    let mode = 0
    const { out, err } = await openWith(programs, () => {
      const [page] = pages()
      if (page !== undefined) mode = statSync(path.join(folder, page)).mode & 0o777
      return existsSync(record)
    })
    const [words = '', page = ''] = readFileSync(record, 'utf8').split('\n')
    expect(words).toMatch(/^\S+\/stackloom-console-[0-9a-f]{8}\.html$/)
    expect(page).toContain(`<meta http-equiv="refresh" content="0; url=${out().trim()}">`)
    expect(mode).toBe(0o600)
    expect(err()).not.toContain('no browser')
    expect(pages()).toEqual([])
  })

  it('removes the page when its link was used', async () => {
    const programs = path.join(folder, 'programs-used')
    mkdirSync(programs)
    writeFileSync(path.join(programs, browser), '#!/bin/sh\n', { mode: 0o755 })
    let sent: Promise<unknown> | undefined
    await openWith(programs, ({ out, err }) => {
      if (!sent && pages().length === 1) sent = fetch(out().trim(), { redirect: 'manual' })
      return err().includes('for another browser') && pages().length === 0
    })
  })

  it('says so where there is no browser, and serves the page', async () => {
    const { out } = await openWith(path.join(folder, 'no-programs'), ({ err }) =>
      err().includes('no browser could be opened: copy the link'),
    )
    expect(out()).toContain('token=')
    expect(pages()).toEqual([])
  })
})

describe('the link of the console', () => {
  it('is required', async () => {
    expect(code(await send({ path: '/api/meta' }))).toBe('SL1300')
    expect((await send({ path: '/' })).status).toBe(401)
  })

  it('is refused with a wrong token, and gives no cookie', async () => {
    const reply = await send({ path: `/?token=${'x'.repeat(unusedToken().length)}` })
    expect([reply.status, code(reply), reply.headers['set-cookie']]).toEqual([401, 'SL1301', undefined])
  })

  it('becomes an HttpOnly cookie of this site alone, once', async () => {
    const token = unusedToken()
    const reply = await send({ path: `/?token=${token}` })
    expect([reply.status, reply.headers['location']]).toEqual([303, '/'])
    const [setCookie = ''] = reply.headers['set-cookie'] as string[]
    expect(setCookie).toMatch(/^stackloom-console-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/)
    expect(code(await send({ path: `/?token=${token}` }))).toBe('SL1301')
    expect((await get('/api/meta', { cookie: setCookie.split(';')[0] ?? '' })).status).toBe(200)
  })

  it('has a successor for another browser, and both browsers stay', async () => {
    const first = await enter(unusedToken())
    const second = await enter(unusedToken())
    expect(first).not.toBe(second)
    for (const session of [first, second, cookie])
      expect((await get('/api/meta', { cookie: session })).status).toBe(200)
  })

  it('is not replaced by a cookie that was guessed', async () => {
    const guessed = `stackloom-console-${port}=${'A'.repeat(43)}`
    expect((await send({ path: '/api/meta', headers: { cookie: guessed } })).status).toBe(401)
  })
})

describe('requests of other sites', () => {
  it.each(['attacker.example', '127.0.0.1', 'localhost:1', '127.0.0.1.attacker.example'])(
    'are refused for the host %s',
    async (host) => {
      const reply = await get('/api/meta', { host })
      expect([reply.status, code(reply)]).toEqual([421, 'SL1302'])
    },
  )

  it('are answered for localhost with the port of the console', async () => {
    expect((await get('/api/meta', { host: `localhost:${port}` })).status).toBe(200)
  })

  it.each(['https://attacker.example', 'null', 'http://127.0.0.1:1'])(
    'are refused from the origin %s',
    async (origin) => {
      const reply = await get('/api/meta', { origin })
      expect([reply.status, code(reply)]).toEqual([403, 'SL1303'])
    },
  )

  it('are refused when the browser says that they are cross-site, except to open the page', async () => {
    expect(code(await get('/api/meta', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }))).toBe('SL1303')
    const opened = await get('/', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })
    expect([200, 503]).toContain(opened.status)
  })

  it('open the page by a link, for which the browser keeps the cookie back, and get no value', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    const reply = await send({ path: '/', headers: link })
    expect([reply.status, reply.headers['x-frame-options']]).toEqual([200, 'DENY'])
    expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; base-uri/)
    expect(reply.text).toContain("location.replace('/open' + location.hash)")
    expect(reply.text).not.toContain('main.js')
    expect((await send({ path: '/api/meta', headers: link })).status).toBe(401)
    expect((await send({ path: '/open', headers: { ...link, 'sec-fetch-site': 'same-origin' } })).status).toBe(401)
  })

  it('start no action by a form', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const reply = await send({
      method: 'POST',
      path: '/api/actions/up',
      headers: { cookie, ...form },
      body: 'confirm=1',
    })
    expect(reply.status).toBe(403)
    const plain = { cookie, 'content-type': 'text/plain', [ACTION_HEADER]: '1' }
    expect((await send({ method: 'POST', path: '/api/actions/up', headers: plain, body: '{}' })).status).toBe(403)
  })

  it('start no action without --allow-actions', async () => {
    const headers = { cookie, 'content-type': 'application/json', [ACTION_HEADER]: '1' }
    const reply = await send({ method: 'POST', path: '/api/actions/plan', headers, body: '{}' })
    expect([reply.status, code(reply)]).toEqual([403, 'SL1304'])
  })

  it('are limited in size and in method', async () => {
    const headers = { cookie, 'content-type': 'application/json', [ACTION_HEADER]: '1' }
    const body = JSON.stringify({ confirm: 'x'.repeat(20 << 10) })
    expect((await send({ method: 'POST', path: '/api/actions/up', headers, body })).status).toBe(413)
    expect((await send({ method: 'PUT', path: '/api/meta', headers: { cookie } })).status).toBe(405)
    expect((await send({ method: 'DELETE', path: '/', headers: { cookie } })).status).toBe(405)
  })
})

describe('paths', () => {
  it.each([
    '/../package.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/..%2f..%2fetc/passwd',
    '/web/../../package.json',
    '//etc/passwd',
    '/main.js/../../package.json',
    '/assets/%00',
  ])('outside of the page give nothing: %s', async (target) => {
    const reply = await get(target)
    expect(reply.text).not.toMatch(/root:|"devDependencies"/)
    expect([400, 404, 503]).toContain(reply.status)
  })

  it('name only documents that exist', async () => {
    expect(code(await get('/api/secrets'))).toBe('SL1306')
    expect(code(await get(fillRoute('network', { cloud: '__proto__', network: 'constructor' })))).toBe('SL1306')
    expect(code(await get(fillRoute('run', { run: '../../etc/passwd' })))).toBe('SL1306')
    expect((await get('/api/search?q=')).status).toBe(400)
    expect((await get(`/api/search?q=${'x'.repeat(300)}`)).status).toBe(400)
    expect((await get(`${fillRoute('runEvents', { run: 'run' })}?from=-1`)).status).toBe(400)
  })
})

describe('answers', () => {
  it('have a strict policy and are not stored', async () => {
    for (const target of ['/api/meta', '/', '/api/nothing', '/?token=wrong']) {
      const { headers } = await get(target)
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
      expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:/)
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['cache-control']).toBe('no-store')
      expect(headers['access-control-allow-origin']).toBeUndefined()
    }
  })

  const fixed = ['meta', 'overview', 'addresses', 'topology', 'runs', 'hosts', 'findings', 'actions'] as const
  it.each<RouteName>(fixed)('of %s have their schema', async (name) => {
    const parsed = schemas[name as (typeof fixed)[number]].safeParse(await json(fillRoute(name)))
    expect(parsed.error).toBeUndefined()
  })

  it('with a key have their schema', async () => {
    const network = await json(fillRoute('network', { cloud: 'rhoso1', network: 'storage' }))
    expect(schemas.network.safeParse(network).error).toBeUndefined()
    const item = await json(fillRoute('topologyItem', { item: 'segment:main/20' }))
    expect(schemas.topologyItem.safeParse(item).error).toBeUndefined()
    const found = await json<{ answers: unknown[] }>('/api/search?q=172.17.0.85')
    expect(schemas.search.safeParse(found).error).toBeUndefined()
    expect(found.answers).toHaveLength(1)
  })

  it('pass names from files on as data', async () => {
    const { runs } = await json<{ runs: { what: string; id: string }[] }>('/api/runs')
    expect(runs.find(({ id }) => id === 'run')?.what).toBe(HOSTILE)
    const reply = await get('/api/runs')
    expect(reply.headers['content-type']).toMatch(/^application\/json/)
  })

  it('replay the events of a recorded run', async () => {
    const { events } = await json<{ events: { kind: string }[] }>(`${fillRoute('runEvents', { run: 'run' })}?from=2`)
    expect(events).toHaveLength(exampleEvents('recorded', true).length - 2)
    expect(events.at(-1)?.kind).toBe('run-finished')
  })
})

describe('the stream', () => {
  it('begins with hello, reports a change of the site file, and resumes after the last event', async () => {
    const events = openStream({})
    expect(await events.next('hello')).toMatchObject({ kind: 'hello' })
    copyFileSync('examples/five-clouds-bgp.yaml', path.join(folder, 'site.yaml'))
    const patch = await events.next('patch')
    expect(streamEvent.safeParse(patch).error).toBeUndefined()
    const { version } = patch as { version: number }
    events.close()
    const { server } = await json<{ server: string }>('/api/meta')
    const resumed = openStream({ 'last-event-id': `${server}-${version - 1}` })
    expect(await resumed.next('patch')).toMatchObject({ version })
    resumed.close()
    const reset = openStream({ 'last-event-id': 'other-3' })
    expect(await reset.next('reset')).toMatchObject({ kind: 'reset' })
    reset.close()
  }, 60_000)

  it('serves many pages, and no more than its limit', async () => {
    const streams: ReturnType<typeof openStream>[] = []
    // The server may not have noticed yet that the streams of earlier tests are closed.
    const openAll = async (): Promise<boolean> => {
      const stream = openStream({})
      if ((await stream.status) === 200) streams.push(stream)
      return streams.length === 64
    }
    await vi.waitUntil(openAll, { timeout: 30_000, interval: 1 })
    await Promise.all(streams.map((stream) => stream.next('hello')))
    expect((await get('/api/stream')).status).toBe(503)
    for (const stream of streams) stream.close()
    await expect
      .poll(
        async () => {
          const stream = openStream({})
          const status = await stream.status
          stream.close()
          return status
        },
        { timeout: 30_000 },
      )
      .toBe(200)
  }, 60_000)
})

function openStream(headers: Readonly<Record<string, string>>) {
  const waiting: { readonly kind: string; readonly resolve: (event: unknown) => void }[] = []
  const seen: { readonly kind: string }[] = []
  let setStatus: (status: number) => void = () => undefined
  const status = new Promise<number>((resolve) => {
    setStatus = resolve
  })
  const sent = sendRequest(
    { host: '127.0.0.1', port, path: '/api/stream', headers: { cookie, ...headers } },
    (response) => {
      setStatus(response.statusCode ?? 0)
      let rest = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        const parts = (rest + chunk).split('\n\n')
        rest = parts.pop() ?? ''
        for (const part of parts) {
          const data = /^data: (.*)$/m.exec(part)?.[1]
          if (data === undefined) continue
          const event = JSON.parse(data) as { readonly kind: string }
          const index = waiting.findIndex(({ kind }) => kind === event.kind)
          if (index < 0) seen.push(event)
          else waiting.splice(index, 1)[0]?.resolve(event)
        }
      })
      response.on('error', () => undefined)
    },
  )
  sent.on('error', () => undefined)
  sent.end()
  return {
    status,
    next: (kind: string): Promise<unknown> => {
      const index = seen.findIndex((event) => event.kind === kind)
      if (index >= 0) return Promise.resolve(seen.splice(index, 1)[0])
      return new Promise((resolve) => void waiting.push({ kind, resolve }))
    },
    close: () => sent.destroy(),
  }
}

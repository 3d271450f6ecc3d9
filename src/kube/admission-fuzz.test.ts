import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { connect as connectTls } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { count, isSoak } from '../../test/counts.ts'
import { type EventLoopMeter, eventLoopMeter, measureEventLoopArgs } from '../../tools/event-loop.ts'
import { createAuthority } from '../pki/authority.ts'
import { readCredentialFolder } from '../pki/watch-credentials.ts'
import { serveAdmission } from './admission-server.ts'
import { serveHealth } from './health-server.ts'

const target = '/validate'
const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u-1', operation: 'CREATE', object: { metadata: { name: 'a' } } },
})

function post(body: string, { url = target, headers = '', length = String(Buffer.byteLength(body)) } = {}): string {
  return `POST ${url} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${length}\r\n${headers}\r\n${body}`
}

/** As large as the server accepts: many values, many bytes, and a list that it has to refuse. */
const largestReviews = [
  { a: Array.from({ length: 79_000 }, () => 1) },
  { a: Array.from({ length: 9_900 }, (_, index) => ({ [`k${index}`]: index })) },
  {
    a: Array.from({ length: 9_900 }, (_, index) => ({ [`k${index}`]: index })),
    b: Array.from({ length: 120_000 }, () => 1),
  },
  { a: Array.from({ length: 50_000 }, (_, index) => ({ [`k${index}`]: index })) },
  Object.fromEntries(Array.from({ length: 70_000 }, (_, index) => [`k${index}`, 1])),
  { a: 'x'.repeat(3_900_000) },
  { a: '\\"'.repeat(900_000) },
  { a: Array.from({ length: 200_000 }, () => 1) },
].map((object) => post(review.replace('"metadata"', `"spec":${JSON.stringify(object)},"metadata"`)))

/** Requests that a client in the cluster can send; each is the first bytes of a connection. */
const hostile: readonly (readonly [string, string | Buffer])[] = [
  ['a target of two slashes', 'GET // HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['a target with a bad port', post(review, { url: '//a:99999999' })],
  ['a target with an open bracket', post(review, { url: '//[' })],
  ['a target in absolute form', post(review, { url: 'https://[::1' })],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['an upgrade', 'GET /validate HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'],
  ['a bad escape', post(review, { url: '/validate?timeout=%E0%A4%A&timeout=%' })],
  ['a long time-out', post(review, { url: `/validate?timeout=${'9'.repeat(10_000)}s` })],
  ['an expectation', post(review, { headers: 'expect: 200-maybe\r\n' })],
  ['a negative length', post(review, { length: '-1' })],
  ['two lengths', post(review, { headers: 'content-length: 3\r\n' })],
  ['a body that ends early', post(review, { length: '100000' })],
  ['a chunk without an end', 'POST /validate HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffff\r\nx'],
  ['a header of 64 KiB', post(review, { headers: `x: ${'x'.repeat(65_536)}\r\n` })],
  ['a thousand headers', post(review, { headers: 'x: y\r\n'.repeat(1_000) })],
  ['a null byte', 'GET /\0 HTTP/1.1\r\n\r\n'],
  ['no HTTP', Buffer.from([0, 1, 2, 255, 254])],
  ['a null request', post('{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}')],
  ['deep brackets', post('['.repeat(500_000))],
  ['many small values', post(`[${'[],'.repeat(300_000)}1]`)],
  ['prototype keys', post(review.replace('"metadata"', '"__proto__":{"allowed":true},"metadata"'))],
  ['an unfinished string', post('"'.padEnd(10_000, '\\'))],
]

describe('the servers of the operator', () => {
  let folder: string
  let authority: Awaited<ReturnType<typeof createAuthority>>
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'stackloom-fuzz-'))
    authority = await createAuthority({ commonName: 'test' })
    const pair = await authority.issue({ commonName: 'webhook', hosts: ['127.0.0.1'], uses: ['server'] })
    await writeFile(path.join(folder, 'tls.crt'), pair.certificate)
    await writeFile(path.join(folder, 'tls.key'), pair.privateKey)
  })
  afterAll(() => rm(folder, { recursive: true }))

  /** What the server logged as an error: a request of a client is none, whatever it is. */
  const errors: string[] = []

  async function serving<T>(attack: (port: number) => Promise<T>, more: { totalBodyLimit?: number } = {}): Promise<T> {
    errors.length = 0
    const control = new AbortController()
    const server = await serveAdmission(
      {
        host: '127.0.0.1',
        port: 0,
        handlers: { [target]: () => ({ allowed: true }) },
        credentials: { read: () => readCredentialFolder(folder) },
        graceMs: 0,
        log: ({ level, message, reason }) => void (level === 'error' && errors.push(`${message}: ${String(reason)}`)),
        ...more,
      },
      control.signal,
    )
    try {
      return await attack(server.port)
    } finally {
      control.abort()
      await server.stopped
    }
  }

  /** What the server sends until it closes the connection. */
  function send(port: number, bytes: string | Buffer, { end = true } = {}): Promise<string> {
    return new Promise((resolve) => {
      let text = ''
      const socket = connectTls({ host: '127.0.0.1', port, ca: authority.certificate })
      socket.on('data', (piece) => {
        text += piece.toString('latin1')
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(text))
      socket.write(bytes)
      if (end) socket.end()
    })
  }

  const answers = async (port: number): Promise<boolean> => (await send(port, post(review))).includes('"allowed":true')

  it.each(hostile)('survive %s', async (_, bytes) => {
    await serving(async (port) => {
      await send(port, bytes)
      expect(await answers(port)).toBe(true)
    })
    expect(errors).toEqual([])
  })

  it.each(['//', '//a:99999999', '//[', '/\\/[', 'https://[::1', '/%', '/__proto__', '/constructor'])(
    'answer the target %s, which is no webhook, as any other',
    async (url) => {
      await serving(async (port) => {
        expect(await send(port, `GET ${url} HTTP/1.1\r\nhost: a\r\n\r\n`)).toMatch(/^HTTP\/1.1 404 /)
        expect(await send(port, post(review, { url }))).toMatch(/^HTTP\/1.1 404 /)
      })
      expect(errors).toEqual([])
    },
  )

  it.each([
    ['more keys than a person writes', Object.fromEntries(Array.from({ length: 10_001 }, (_, n) => [`k${n}`, 1]))],
    ['more values than two objects have', Array.from({ length: 170_000 }, () => 1)],
    ['more levels than an object has', Array.from({ length: 201 }).reduce<unknown>((inner) => [inner], 1)],
    ['more bytes than two objects have', 'x'.repeat(4_200_000)],
  ])('refuse a review with %s before they parse it', async (_, value) => {
    await serving(async (port) => {
      const body = review.replace('"metadata"', `"spec":${JSON.stringify(value)},"metadata"`)
      expect(await send(port, post(body))).toMatch(/^HTTP\/1.1 413 /)
      expect(await answers(port)).toBe(true)
    })
  })

  it('survive bytes that are no TLS record and connections that are cut at any point', async () => {
    await serving(async (port) => {
      for (let cut = 0; cut < 20; cut += 1) {
        await new Promise<void>((resolve) => {
          const socket = connectTcp({ host: '127.0.0.1', port }, () => {
            socket.write(
              Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 9, 9, 9, 9, 9, 9, 9, 9, 9]).subarray(0, cut),
            )
            socket.resetAndDestroy()
          })
          socket.on('error', () => {})
          socket.on('close', () => resolve())
        })
      }
      expect(await answers(port)).toBe(true)
    })
  })

  /** The same server in a process of its own, so that its event loop and its memory can be measured. */
  async function servingProcess(attack: (port: number, meter: EventLoopMeter) => Promise<void>): Promise<void> {
    const child = fork('test/admission-process.ts', [folder, target], {
      execArgv: ['--expose-gc', '--import', 'tsx', ...measureEventLoopArgs],
    })
    try {
      const [port] = (await once(child, 'message')) as [number]
      await attack(port, eventLoopMeter(child))
      expect(child.exitCode).toBeNull()
    } finally {
      child.kill()
    }
  }

  it('survive random changes of valid and hostile requests, which do not occupy them and leave nothing behind', async () => {
    const rounds = count({ test: 200, soak: 10_000 })
    let seed = 20
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor((seed / 2_147_483_648) * below)
    }
    await servingProcess(async (port, meter) => {
      const sendRandom = async (requests: number): Promise<void> => {
        for (let round = 0; round < requests; round += 1) {
          const [, sample] = hostile[random(hostile.length)] ?? ['', '']
          const bytes = Buffer.from(random(2) === 0 ? post(review) : sample).subarray(0, 4_096)
          for (let change = random(8); change >= 0; change -= 1) bytes[random(bytes.length)] = random(256)
          await send(port, bytes.subarray(0, random(bytes.length) + 1))
        }
      }
      const sendLargest = async (): Promise<void> => {
        for (const bytes of [...hostile.map(([, sample]) => sample), ...largestReviews]) await send(port, bytes)
      }
      await sendRandom(rounds / 10)
      await sendLargest()
      const { heapBytes } = await meter.end()
      await meter.begin()
      const halfOpen = Array.from({ length: 50 }, () => connectTcp({ host: '127.0.0.1', port }).on('error', () => {}))
      await sendRandom((rounds * 9) / 10)
      for (let round = 0; round < rounds / 200; round += 1) await sendLargest()
      for (const socket of halfOpen) socket.destroy()
      const after = await meter.end()
      expect(await answers(port)).toBe(true)
      const grown = (after.heapBytes - heapBytes) / 2 ** 20
      console.log(`the longest turn took ${after.longestMs.toFixed(1)} ms, the heap has ${grown.toFixed(1)} MiB more`)
      if (!isSoak()) return
      expect(after.longestMs).toBeLessThan(50)
      expect(grown).toBeLessThan(16)
    })
  }, 1_800_000)

  it('close connections after a response that is not a review', async () => {
    await serving(async (port) => {
      expect(await send(port, 'GET /x HTTP/1.1\r\nhost: a\r\n\r\n', { end: false })).toMatch(/^HTTP\/1.1 404 /)
    })
  })

  it('hold no more bytes of bodies than allowed, and give them back', async () => {
    await serving(
      async (port) => {
        expect(await send(port, post(review.padEnd(5_000)))).toMatch(/^HTTP\/1.1 503 /)
        for (let round = 0; round < 50; round += 1) expect(await answers(port)).toBe(true)
      },
      { totalBodyLimit: 1_000 },
    )
  })

  it('accept a limited number of connections of one address', async () => {
    await serving(async (port) => {
      const sockets = Array.from({ length: 310 }, () => connectTcp({ host: '127.0.0.1', port }))
      const closed = await new Promise<number>((resolve) => {
        let ended = 0
        for (const socket of sockets) {
          socket.on('error', () => {})
          socket.on('close', () => {
            ended += 1
            if (ended === 10) resolve(ended)
          })
        }
      })
      expect(closed).toBe(10)
      await Promise.all(
        sockets.map(
          (socket) => new Promise((resolve) => (socket.destroyed ? resolve(0) : socket.on('close', resolve).destroy())),
        ),
      )
      while (!(await answers(port)));
    })
  })

  it('collect metrics once at a time, however many clients ask', async () => {
    const control = new AbortController()
    let running = 0
    let most = 0
    const metrics = {
      text: async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise((resolve) => setTimeout(resolve, 20))
        running -= 1
        return { type: 'text/plain', body: 'a 1\n' }
      },
    }
    const server = await serveHealth({ host: '127.0.0.1', port: 0, ready: () => [], metrics }, control.signal)
    const scrape = async () => (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
    expect(new Set(await Promise.all(Array.from({ length: 20 }, scrape)))).toEqual(new Set(['a 1\n']))
    expect(most).toBe(1)
    control.abort()
    await server.stopped
  })
})

import { createSocket, type Socket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { askDns } from './ask-dns.ts'

const servers: Socket[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

const stop = new AbortController().signal

/** A DNS server on loopback that knows one name; `answers: false` makes it silent. */
async function serve(answers: boolean): Promise<string> {
  const server = createSocket('udp4')
  servers.push(server)
  server.on('message', (query, from) => {
    if (answers) server.send(replyTo(query), from.port, from.address)
  })
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve))
  return `127.0.0.1:${server.address().port}`
}

/** Answers 172.17.0.80 for keystone, no data for its AAAA, and NXDOMAIN for other names. */
function replyTo(query: Buffer): Buffer {
  const question = query.subarray(12, query.indexOf(0, 12) + 5)
  const isKnown = question.toString('latin1').includes('keystone')
  const isA = question.readUInt16BE(question.length - 4) === 1
  const answer =
    isKnown && isA ? Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 172, 17, 0, 80]) : Buffer.alloc(0)
  const header = Buffer.from(query.subarray(0, 12))
  header[2] = 0x81
  header[3] = isKnown ? 0x80 : 0x83
  header.writeUInt16BE(answer.length > 0 ? 1 : 0, 6)
  header.writeUInt32BE(0, 8)
  return Buffer.concat([header, question, answer])
}

describe('askDns', () => {
  it('returns addresses, and an empty list for an unknown name', async () => {
    const server = await serve(true)
    const names = ['keystone-internal.openstack.svc', 'missing.openstack.svc']
    const { answers, unreachable } = await askDns({ server, names, timeoutMs: 2_000, stop })
    expect(unreachable).toBeUndefined()
    expect(Object.fromEntries(answers)).toEqual({
      'keystone-internal.openstack.svc': ['172.17.0.80'],
      'missing.openstack.svc': [],
    })
  })

  it('reports an unreachable server', async () => {
    const server = await serve(false)
    const { unreachable } = await askDns({ server, names: ['a.svc'], timeoutMs: 50, stop })
    expect(unreachable).toBe('timeout')
  })
})

/** Answers of servers that are wrong on purpose, over real sockets: each is a finding, and no memory is filled. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { neverAborted } from '../../../test/never-aborted.ts'
import { openRegistry } from '../images/ask-registry.ts'
import { openNetBox } from './client.ts'

let server: Server | undefined
afterEach(
  () =>
    new Promise<void>((resolve) => {
      server?.closeAllConnections()
      if (server) server.close(() => resolve())
      else resolve()
    }),
)

async function serve(answer: (url: string, response: ServerResponse, address: string) => void): Promise<string> {
  server = createServer((request, response) => answer(request.url ?? '', response, request.headers.host ?? ''))
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  return `127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

/** Writes until the client hangs up. */
function writeForever(response: ServerResponse): void {
  const piece = Buffer.alloc(2 ** 20, 'x')
  const more = (): void => {
    if (!response.destroyed) response.write(piece, more)
  }
  response.on('error', () => undefined)
  more()
}

const listPrefixes = async (address: string): Promise<readonly unknown[]> => {
  const netBox = openNetBox({ url: `http://${address}`, token: 't', stop: neverAborted() })
  try {
    return await netBox.list('prefixes')
  } finally {
    await netBox.close()
  }
}

describe('an answer of NetBox', () => {
  it('without an end is a finding', async () => {
    const address = await serve((_, response) => writeForever(response))
    await expect(listPrefixes(address)).rejects.toThrow('SL2230')
  })

  it('with pages that repeat is a finding', async () => {
    const address = await serve((url, response, host) =>
      response.end(JSON.stringify({ results: [], next: `http://${host}${url}` })),
    )
    await expect(listPrefixes(address)).rejects.toThrow('has no end')
  })

  it('with a next page that is no address is a finding', async () => {
    const address = await serve((_, response) => response.end(JSON.stringify({ results: [], next: 'http://[' })))
    await expect(listPrefixes(address)).rejects.toThrow('SL2230')
  })

  it('with more results than arguments fit on the stack is read', async () => {
    const address = await serve((_, response) => response.end(JSON.stringify({ results: Array(500_000).fill(1) })))
    expect(await listPrefixes(address)).toHaveLength(500_000)
  })
})

describe('an answer of a registry', () => {
  it('without an end is an unknown image', async () => {
    const address = await serve((url, response, host) => {
      if (url.startsWith('/token')) return writeForever(response)
      response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${host}/token"` }).end()
    })
    const registry = openRegistry({ auths: new Map(), plainHttp: true, stop: neverAborted() })
    const image = { registry: address, repository: 'a', reference: 'latest', isDigest: false }
    expect(await registry.ask(image)).toMatchObject({ kind: 'unknown' })
    await registry.close()
  })

  it('with a token that would add a header is an unknown image', async () => {
    const address = await serve((url, response, host) => {
      if (url.startsWith('/token')) return response.end(JSON.stringify({ token: 'a\r\nx: y' }))
      response.writeHead(401, { 'www-authenticate': `Bearer realm="http://${host}/token"` }).end()
    })
    const registry = openRegistry({ auths: new Map(), plainHttp: true, stop: neverAborted() })
    const image = { registry: address, repository: 'a', reference: 'latest', isDigest: false }
    expect(await registry.ask(image)).toMatchObject({ kind: 'unknown' })
    await registry.close()
  })
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createNetServer, connect as dial, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { instantClock } from '../../test/instant-clock.ts'
import { respondCoreDiscovery, respondJson, startScriptedServer, statusObject } from '../../test/scripted-server.ts'
import { createAuthority } from '../pki/authority.ts'
import { connect } from './connect.ts'

let folder: string
const open: { readonly close: () => Promise<void> }[] = []
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-connect-'))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((resource) => resource.close()))
  rmSync(folder, { recursive: true, force: true })
})

const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'ns' }

function kubeconfig(cluster: object, user: object): string {
  const file = path.join(folder, 'config')
  writeFileSync(
    file,
    JSON.stringify({
      'current-context': 'c',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    }),
  )
  return file
}

/** A plugin whose every run returns the next token: t1, t2, … */
function countingPlugin(): object {
  const file = path.join(folder, 'plugin')
  const runs = path.join(folder, 'runs')
  writeFileSync(runs, '')
  const status = `{\\"token\\":\\"t$(wc -l < ${runs} | tr -d ' ')\\"}`
  writeFileSync(file, `#!/bin/sh\necho >> ${runs}\necho "{\\"kind\\":\\"ExecCredential\\",\\"status\\":${status}}"\n`, {
    mode: 0o700,
  })
  return { exec: { command: file, interactiveMode: 'Never' } }
}

describe('a connection', () => {
  it('gets a new token from the plugin when the server rejects the old one, and continues', async () => {
    let accepted = 't1'
    const server = await startScriptedServer((seen, answer) => {
      if (seen.headers.authorization !== `Bearer ${accepted}`) {
        return respondJson(answer, statusObject(401, 'Unauthorized', 'Unauthorized'), 401)
      }
      if (respondCoreDiscovery(seen, answer)) return
      respondJson(answer, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    })
    const file = kubeconfig({ server: server.url }, countingPlugin())
    const connection = await connect({ kubeconfig: file, env: process.env, clock: instantClock() })
    open.push(connection, server)
    expect(await connection.client.get(ref)).toMatchObject({ metadata: { name: 'a' } })
    accepted = 't2'
    expect(await connection.client.get(ref)).toMatchObject({ metadata: { name: 'a' } })
    expect(server.seen.map((seenRequest) => seenRequest.headers.authorization)).toEqual([
      'Bearer t1',
      'Bearer t1',
      'Bearer t1',
      'Bearer t2',
    ])
  })

  it('uses the proxy of the kubeconfig, with TLS to the server inside', async () => {
    const authority = await createAuthority({ commonName: 'ca' })
    const { certificate, privateKey } = await authority.issue({
      commonName: 's',
      hosts: ['api.lab.example'],
      uses: ['server'],
    })
    const server = await startScriptedServer(
      (seen, answer) => void (respondCoreDiscovery(seen, answer) || respondJson(answer, {})),
      {
        cert: certificate,
        key: privateKey,
      },
    )
    const proxy = await tunnelTo(server.port)
    // The name does not exist: only the proxy can reach it.
    const cluster = {
      server: 'https://api.lab.example:6443',
      'proxy-url': `http://user:pass@127.0.0.1:${proxy.port}`,
      'certificate-authority-data': Buffer.from(authority.certificate).toString('base64'),
    }
    const connection = await connect({ kubeconfig: kubeconfig(cluster, { token: 't' }), env: {} })
    open.push(connection, proxy, server)
    expect(await connection.client.resource(ref)).toMatchObject({ plural: 'configmaps' })
    expect(proxy.requests).toEqual([`api.lab.example:6443 Basic ${Buffer.from('user:pass').toString('base64')}`])
    expect(server.seen[0]?.headers.authorization).toBe('Bearer t')
  })

  it.each(['socks5', 'socks5h'])('uses a proxy of scheme %s, with TLS to the server inside', async (scheme) => {
    const authority = await createAuthority({ commonName: 'ca' })
    const { certificate: cert, privateKey: key } = await authority.issue({
      commonName: 's',
      hosts: ['api.lab.example'],
      uses: ['server'],
    })
    const server = await startScriptedServer(
      (seen, answer) => void (respondCoreDiscovery(seen, answer) || respondJson(answer, {})),
      { cert, key },
    )
    const socks = await socksTo(server.port)
    const cluster = {
      server: 'https://api.lab.example:6443',
      'proxy-url': `${scheme}://127.0.0.1:${socks.port}`,
      'certificate-authority-data': Buffer.from(authority.certificate).toString('base64'),
    }
    const connection = await connect({ kubeconfig: kubeconfig(cluster, { token: 't' }), env: {} })
    open.push(connection, socks, server)
    expect(await connection.client.resource(ref)).toMatchObject({ plural: 'configmaps' })
    expect(socks.requests).toEqual(['api.lab.example:6443'])
  })

  it('reports why a SOCKS proxy does not connect', async () => {
    const socks = await socksTo(undefined)
    const cluster = { server: 'http://api.lab.example:6443', 'proxy-url': `socks5://127.0.0.1:${socks.port}` }
    const connection = await connect({
      kubeconfig: kubeconfig(cluster, { token: 't' }),
      env: {},
      clock: instantClock(),
    })
    open.push(connection, socks)
    await expect(connection.client.list(ref)).rejects.toMatchObject({
      findings: [{ code: 'SL1122', message: expect.stringContaining('host unreachable') }],
    })
    expect(socks.requests).toHaveLength(1)
  })

  it('names the proxy that refuses, without its password and without retrying', async () => {
    const proxy = await tunnelTo(undefined)
    const cluster = {
      server: 'https://api.lab.example',
      'proxy-url': `http://user:hunter2@127.0.0.1:${proxy.port}`,
    }
    const connection = await connect({
      kubeconfig: kubeconfig(cluster, { token: 't' }),
      env: {},
      clock: instantClock(),
    })
    open.push(connection, proxy)
    const error = await connection.client.list(ref).then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown as { findings: { code: string; message: string }[] },
    )
    expect(error.findings[0]).toMatchObject({
      code: 'SL1122',
      message: expect.stringContaining(`http://127.0.0.1:${proxy.port}`),
    })
    expect(JSON.stringify(error)).not.toContain('hunter2')
    expect(proxy.requests).toHaveLength(1)
  })

  it('reports an unreachable server in one finding', async () => {
    const server = await startScriptedServer(() => undefined)
    await server.close()
    const file = kubeconfig({ server: server.url }, { token: 'hunter2' })
    const connection = await connect({ kubeconfig: file, env: {}, clock: instantClock() })
    open.push(connection)
    const error = await connection.client.list(ref).then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown as { findings: { code: string }[] },
    )
    expect(error.findings.map((finding) => finding.code)).toEqual(['SL1100'])
    expect(JSON.stringify(error)).not.toContain('hunter2')
  })
})

/** A proxy that answers every CONNECT with a tunnel to one local port, or refuses. */
async function tunnelTo(port: number | undefined) {
  const requests: string[] = []
  const server = createServer()
  const sockets = collected()
  server.on('connect', (request, socket: Socket) => {
    requests.push(`${request.url} ${request.headers['proxy-authorization']}`)
    sockets.add(socket)
    if (port === undefined) return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    sockets.add(splice(socket, port, () => socket.write('HTTP/1.1 200 OK\r\n\r\n')))
  })
  return { requests, ...(await listening(server, sockets)) }
}

/** The same for SOCKS 5 without a password. */
async function socksTo(port: number | undefined) {
  const requests: string[] = []
  const sockets = collected()
  const server = createNetServer((socket) => {
    sockets.add(socket)
    socket.once('data', () => {
      socket.write(Buffer.from([5, 0]))
      socket.once('data', (request) => {
        const length = request[4] ?? 0
        requests.push(`${request.subarray(5, 5 + length).toString()}:${request.readUInt16BE(5 + length)}`)
        if (port === undefined) return void socket.end(Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]))
        sockets.add(splice(socket, port, () => socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))))
      })
    })
  })
  return { requests, ...(await listening(server, sockets)) }
}

function splice(socket: Socket, port: number, ready: () => void): Socket {
  const inner = dial(port, '127.0.0.1', () => {
    ready()
    inner.pipe(socket).pipe(inner)
  })
  return inner
}

function collected() {
  const sockets = new Set<Socket>()
  return {
    add: (socket: Socket) => void sockets.add(socket.on('error', () => undefined)),
    destroy: () => sockets.forEach((socket) => socket.destroy()),
  }
}

async function listening(server: Server, sockets: ReturnType<typeof collected>) {
  server.on('connection', sockets.add)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      sockets.destroy()
      await closed
    },
  }
}

import { execFileSync } from 'node:child_process'
import { mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuthority, loadAuthority } from './authority.ts'
import { isDueForRenewal, isMatchingPair, parseCertificate } from './certificate.ts'
import type { KeyKind } from './keys.ts'
import { readCredentialFolder, watchCredentials } from './watch-credentials.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stackloom-pki-'))
})
afterAll(() => rm(folder, { recursive: true }))

const DAY_MS = 86_400_000

describe('a certificate authority', () => {
  it.each<KeyKind>(['ecdsa-p256', 'rsa-2048'])('signs with %s what strict verifiers accept', async (keys) => {
    const authority = await createAuthority({ commonName: 'sandbox', keys })
    const server = await authority.issue({
      commonName: 'kube-apiserver',
      hosts: ['127.0.0.1', '::1', 'localhost', 'kubernetes.default.svc'],
      uses: ['server'],
    })
    const client = await authority.issue({
      commonName: 'admin',
      organizations: ['system:masters'],
      uses: ['client'],
    })
    const files = { ca: authority.certificate, server: server.certificate, client: client.certificate }
    for (const [name, pem] of Object.entries(files)) await writeFile(path.join(folder, `${name}.pem`), pem)
    const verify = (purpose: string, ...more: string[]): string =>
      execFileSync(
        'openssl',
        ['verify', '-x509_strict', '-check_ss_sig', '-CAfile', 'ca.pem', '-purpose', purpose, ...more],
        { cwd: folder, encoding: 'utf8' },
      )
    expect(verify('sslserver', '-verify_ip', '127.0.0.1', 'server.pem')).toContain('OK')
    expect(verify('sslserver', '-verify_ip', '::1', 'server.pem')).toContain('OK')
    expect(verify('sslserver', '-verify_hostname', 'kubernetes.default.svc', 'server.pem')).toContain('OK')
    expect(verify('sslclient', 'client.pem')).toContain('OK')
    expect(() => verify('sslserver', '-verify_hostname', 'other', 'server.pem')).toThrow()
    expect(() => verify('sslclient', 'server.pem')).toThrow()
    expect(parseCertificate(client.certificate)).toMatchObject({
      commonName: 'admin',
      organizations: ['system:masters'],
      authority: false,
    })
    expect(parseCertificate(server.certificate).hosts).toContain('127.0.0.1')
    expect(isMatchingPair(server)).toBe(true)
    expect(isMatchingPair({ ...server, privateKey: client.privateKey })).toBe(false)
  })

  it('continues with the stored key', async () => {
    const made = await createAuthority({ commonName: 'kept' })
    const again = await loadAuthority({ certificate: made.certificate, privateKey: made.privateKey })
    const leaf = await again.issue({ commonName: 'x', hosts: ['localhost'], uses: ['server'] })
    const server = createServer({ cert: leaf.certificate, key: leaf.privateKey }, (_, res) => res.end('hello'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const status = await new Promise((resolve, reject) => {
      request({ port, host: 'localhost', ca: made.certificate, agent: false }, (res) => {
        res.resume()
        resolve(res.statusCode)
      })
        .on('error', reject)
        .end()
    })
    server.close()
    expect(status).toBe(200)
  })

  it('signs nothing that outlives it, and is due for renewal with a third of its lifetime left', async () => {
    const clock = { now: () => Date.parse('2026-01-01T00:00:00Z') }
    const authority = await createAuthority({ commonName: 'short', days: 30 }, clock)
    const { certificate } = await authority.issue({ commonName: 'x', uses: ['client'], days: 90 })
    expect(parseCertificate(certificate).notAfter).toBe(clock.now() + 30 * DAY_MS)
    expect(isDueForRenewal(certificate, clock.now() + 19 * DAY_MS)).toBe(false)
    expect(isDueForRenewal(certificate, clock.now() + 21 * DAY_MS)).toBe(true)
  })
})

describe('watchCredentials', () => {
  it('reports a new pair when both files match, also after a swapped symlink, and not before', async () => {
    const authority = await createAuthority({ commonName: 'reload' })
    const issue = () => authority.issue({ commonName: 'x', uses: ['server'] })
    const [first, second, third] = await Promise.all([issue(), issue(), issue()])
    const write = async (name: string, pair: typeof first): Promise<void> => {
      const data = await mkdtemp(path.join(folder, 'data-'))
      await writeFile(path.join(data, 'tls.crt'), pair.certificate)
      await writeFile(path.join(data, 'tls.key'), pair.privateKey)
      await symlink(data, path.join(folder, `${name}.next`))
      await rename(path.join(folder, `${name}.next`), path.join(folder, name))
    }
    await write('live', first)
    const seen: string[] = []
    const problems: unknown[] = []
    const stop = new AbortController()
    const initial = await watchCredentials({
      read: () => readCredentialFolder(path.join(folder, 'live')),
      pollMs: 5,
      signal: stop.signal,
      onChange: ({ certificate }) => seen.push(certificate),
      onProblem: (reason) => problems.push(reason),
    })
    expect(initial).toEqual(first)
    await write('live', { certificate: second.certificate, privateKey: third.privateKey })
    await expect.poll(() => problems.length).toBeGreaterThan(0)
    expect(seen).toEqual([])
    await write('live', third)
    await expect.poll(() => seen).toEqual([third.certificate])
    stop.abort()
  })
})

import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseCertificate } from '../pki/certificate.ts'
import { ensureCertificates, renderKubeconfig } from './certificates.ts'
import { type SandboxFolder, sandboxFolder } from './folder.ts'

let folder: SandboxFolder
const pem = (name: string) => readFile(path.join(folder.pki, name), 'utf8')
const YEAR_MS = 365 * 86_400_000

beforeAll(async () => {
  folder = sandboxFolder(await mkdtemp(path.join(tmpdir(), 'stackloom-identity-')))
  await ensureCertificates(folder, Date.now())
})
afterAll(() => rm(folder.root, { recursive: true }))

describe('the certificates of a sandbox', () => {
  it('are reused while they are valid', async () => {
    const before = await Promise.all(['ca.crt', 'admin.crt', 'service-account.key'].map(pem))
    await ensureCertificates(folder, Date.now() + YEAR_MS)
    expect(await Promise.all(['ca.crt', 'admin.crt', 'service-account.key'].map(pem))).toEqual(before)
  })

  it('are all renewed before one expires, except the token key', async () => {
    const [authority, admin, tokens] = await Promise.all(['ca.crt', 'admin.crt', 'service-account.key'].map(pem))
    await ensureCertificates(folder, Date.now() + 8 * YEAR_MS)
    expect(await pem('ca.crt')).not.toBe(authority)
    expect(await pem('admin.crt')).not.toBe(admin)
    expect(await pem('service-account.key')).toBe(tokens)
  })

  it('have private keys with mode 0600 and a self-contained kubeconfig', async () => {
    expect((await stat(path.join(folder.pki, 'ca.key'))).mode & 0o777).toBe(0o600)
    expect(parseCertificate(await pem('admin.crt')).organizations).toEqual(['system:masters'])
    const config = JSON.parse(await renderKubeconfig(folder, 'admin', 'stackloom-x', 6443)) as {
      clusters: { cluster: Record<string, string> }[]
    }
    expect(config.clusters[0]?.cluster['server']).toBe('https://127.0.0.1:6443')
    expect(Object.keys(config.clusters[0]?.cluster ?? {})).toContain('certificate-authority-data')
  })
})

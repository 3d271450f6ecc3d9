/**
 * Who is who in a sandbox: its own authority, a certificate per program, and kubeconfigs. Made at the first
 * start, renewed by a later one when they grow old.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Authority, createAuthority, type LeafRequest, loadAuthority } from '../pki/authority.ts'
import { isDueForRenewal } from '../pki/certificate.ts'
import type { SandboxFolder } from './folder.ts'

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']
const VALIDITY_DAYS = 3650

/** One leaf per file name. */
const certificateRequests = {
  etcd: { commonName: 'etcd', hosts: LOOPBACK, uses: ['server', 'client'] },
  'etcd-client': { commonName: 'kube-apiserver-etcd-client', uses: ['client'] },
  apiserver: {
    commonName: 'kube-apiserver',
    hosts: [...LOOPBACK, 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '10.96.0.1'],
    uses: ['server'],
  },
  'controller-manager': {
    commonName: 'system:kube-controller-manager',
    // Its own role is for clusters in which every controller has a service account of its own.
    organizations: ['system:masters'],
    hosts: LOOPBACK,
    uses: ['server', 'client'],
  },
  'metallb-webhook': { commonName: 'metallb-webhook', hosts: LOOPBACK, uses: ['server'] },
  metallb: { commonName: 'metallb', organizations: ['system:masters'], uses: ['client'] },
  admin: { commonName: 'admin', organizations: ['system:masters'], uses: ['client'] },
} as const satisfies Readonly<Record<string, LeafRequest>>

export type CertificateName = keyof typeof certificateRequests

export async function ensureCertificates(folder: SandboxFolder, now: number): Promise<void> {
  await mkdir(folder.pki, { recursive: true, mode: 0o700 })
  const authority = await ensureAuthority(folder.pki, now)
  await Promise.all(
    Object.entries<LeafRequest>(certificateRequests).map(async ([name, request]) => {
      if (authority.kept && (await isCurrent(path.join(folder.pki, `${name}.crt`), now))) return
      const { certificate, privateKey } = await authority.issue({ ...request, days: VALIDITY_DAYS })
      await writePair(folder.pki, name, certificate, privateKey)
    }),
  )
  await ensureServiceAccountKey(folder.pki)
}

async function ensureAuthority(pki: string, now: number): Promise<Authority & { readonly kept: boolean }> {
  const file = path.join(pki, 'ca.crt')
  if (await isCurrent(file, now)) {
    const [certificate, privateKey] = await Promise.all([
      readFile(file, 'utf8'),
      readFile(path.join(pki, 'ca.key'), 'utf8'),
    ])
    return { ...(await loadAuthority({ certificate, privateKey })), kept: true }
  }
  const made = await createAuthority({ commonName: 'stackloom sandbox', days: VALIDITY_DAYS })
  await writePair(pki, 'ca', made.certificate, made.privateKey)
  return { ...made, kept: false }
}

async function isCurrent(file: string, now: number): Promise<boolean> {
  try {
    return !isDueForRenewal(await readFile(file, 'utf8'), now)
  } catch {
    return false
  }
}

async function writePair(pki: string, name: string, certificate: string, privateKey: string): Promise<void> {
  await writeFile(path.join(pki, `${name}.key`), privateKey, { mode: 0o600 })
  await writeFile(path.join(pki, `${name}.crt`), certificate)
}

/** The key with which the API server signs tokens must stay the same, or every token dies with a restart. */
async function ensureServiceAccountKey(pki: string): Promise<void> {
  const file = path.join(pki, 'service-account.key')
  const present = await readFile(file, 'utf8').catch(() => '')
  if (present.includes('PRIVATE KEY')) return
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeFile(file, privateKey.export({ format: 'pem', type: 'sec1' }), { mode: 0o600 })
}

/** A kubeconfig that holds all it needs, for this leaf and this port of loopback. */
export async function renderKubeconfig(
  folder: SandboxFolder,
  leaf: CertificateName,
  context: string,
  port: number,
): Promise<string> {
  const [ca, certificate, key] = await Promise.all(
    ['ca.crt', `${leaf}.crt`, `${leaf}.key`].map((name) => readFile(path.join(folder.pki, name), 'base64')),
  )
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context,
    clusters: [{ name: context, cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': ca } }],
    users: [{ name: context, user: { 'client-certificate-data': certificate, 'client-key-data': key } }],
    contexts: [{ name: context, context: { cluster: context, user: context } }],
  }
  // JSON is YAML, and says the same to every reader.
  return `${JSON.stringify(config, null, 2)}\n`
}

export async function writeKubeconfig(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
}

/** Where MetalLB's webhook process looks for its certificate: below its TMPDIR, in a folder of fixed name. */
export async function writeWebhookCertificate(folder: SandboxFolder): Promise<string> {
  const temporary = path.join(folder.root, 'metallb')
  const certificates = path.join(temporary, 'k8s-webhook-server', 'serving-certs')
  await mkdir(certificates, { recursive: true, mode: 0o700 })
  for (const [from, to] of [
    ['metallb-webhook.crt', 'tls.crt'],
    ['metallb-webhook.key', 'tls.key'],
  ] as const) {
    await writeFile(path.join(certificates, to), await readFile(path.join(folder.pki, from)), { mode: 0o600 })
  }
  return temporary
}

/** Creates the certificate authority of a sandbox, one certificate per program, and kubeconfigs. Renews them at a later start. */
import { generateKeyPairSync } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Authority, createAuthority, type LeafRequest, loadAuthority } from '../pki/authority.ts'
import { isDueForRenewal } from '../pki/certificate.ts'
import type { SandboxFolder } from './folder.ts'

const LOOPBACK = ['127.0.0.1', '::1', 'localhost']
const VALIDITY_DAYS = 3650

/** Names and addresses by which programs and pods reach the API server. */
export const API_SERVER_HOSTS = [...LOOPBACK, 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', '10.96.0.1']

/** By file name. */
const certificateRequests = {
  etcd: { commonName: 'etcd', hosts: LOOPBACK, uses: ['server', 'client'] },
  'etcd-client': { commonName: 'kube-apiserver-etcd-client', uses: ['client'] },
  apiserver: {
    commonName: 'kube-apiserver',
    hosts: API_SERVER_HOSTS,
    uses: ['server'],
  },
  'controller-manager': {
    commonName: 'system:kube-controller-manager',
    // The built-in role assumes that every controller has its own service account.
    organizations: ['system:masters'],
    hosts: LOOPBACK,
    uses: ['server', 'client'],
  },
  'metallb-webhook': { commonName: 'metallb-webhook', hosts: LOOPBACK, uses: ['server'] },
  metallb: { commonName: 'metallb', organizations: ['system:masters'], uses: ['client'] },
  admin: { commonName: 'admin', organizations: ['system:masters'], uses: ['client'] },
} as const satisfies Readonly<Record<string, LeafRequest>>

/** `additional` are certificates by file name that only some sandboxes need. */
export async function ensureCertificates(
  folder: SandboxFolder,
  now: number,
  additional: Readonly<Record<string, LeafRequest>> = {},
): Promise<void> {
  await mkdir(folder.pki, { recursive: true, mode: 0o700 })
  const authority = await ensureAuthority(folder.pki, now)
  await Promise.all(
    Object.entries<LeafRequest>({ ...certificateRequests, ...additional }).map(async ([name, request]) => {
      if (authority.reused && (await isCurrent(path.join(folder.pki, `${name}.crt`), now))) return
      const { certificate, privateKey } = await authority.issue({ ...request, days: VALIDITY_DAYS })
      await writePair(folder.pki, name, certificate, privateKey)
    }),
  )
  await ensureServiceAccountKey(folder.pki)
}

async function ensureAuthority(pki: string, now: number): Promise<Authority & { readonly reused: boolean }> {
  const file = path.join(pki, 'ca.crt')
  if (await isCurrent(file, now)) {
    const [certificate, privateKey] = await Promise.all([
      readFile(file, 'utf8'),
      readFile(path.join(pki, 'ca.key'), 'utf8'),
    ])
    return { ...(await loadAuthority({ certificate, privateKey })), reused: true }
  }
  const created = await createAuthority({ commonName: 'stackloom sandbox', days: VALIDITY_DAYS })
  await writePair(pki, 'ca', created.certificate, created.privateKey)
  return { ...created, reused: false }
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

/** The key that signs service account tokens must not change, or a restart invalidates every token. */
async function ensureServiceAccountKey(pki: string): Promise<void> {
  const file = path.join(pki, 'service-account.key')
  const present = await readFile(file, 'utf8').catch(() => '')
  if (present.includes('PRIVATE KEY')) return
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeFile(file, privateKey.export({ format: 'pem', type: 'sec1' }), { mode: 0o600 })
}

/** A self-contained kubeconfig for one certificate. */
export async function renderKubeconfig(
  folder: SandboxFolder,
  certificateName: string,
  context: string,
  port: number,
  host = '127.0.0.1',
): Promise<string> {
  const [ca, certificate, key] = await Promise.all(
    ['ca.crt', `${certificateName}.crt`, `${certificateName}.key`].map((name) =>
      readFile(path.join(folder.pki, name), 'base64'),
    ),
  )
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': context,
    clusters: [{ name: context, cluster: { server: `https://${host}:${port}`, 'certificate-authority-data': ca } }],
    users: [{ name: context, user: { 'client-certificate-data': certificate, 'client-key-data': key } }],
    contexts: [{ name: context, context: { cluster: context, user: context } }],
  }
  // JSON is valid YAML.
  return `${JSON.stringify(config, null, 2)}\n`
}

export async function writeKubeconfig(file: string, text: string): Promise<void> {
  await writeFile(file, text, { mode: 0o600 })
}

/** MetalLB's webhook process reads its certificate from a fixed folder below its TMPDIR. Returns that TMPDIR. */
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

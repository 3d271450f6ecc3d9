/**
 * Ensures the certificate of the webhook server, kept in a Secret and the same for every replica.
 *
 * Creating or updating the Secret is a compare-and-swap: of several replicas one wins, and the others read the result.
 */
import type { KubeObject } from '../api/object.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Credentials, createAuthority, loadAuthority } from '../pki/authority.ts'
import { isDueForRenewal, parseCertificate } from '../pki/certificate.ts'

export const SECRET_NAME = 'stackloom-webhook'

export interface ServingCertificate extends Credentials {
  /** PEM of the authority that signed it and of its predecessor: what the API server must trust. */
  readonly authority: string
}

export interface CertificateRequest {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update'>
  readonly namespace: string
  /** Names and addresses under which the API server reaches the webhooks. */
  readonly hosts: readonly string[]
  readonly now: () => number
  readonly signal: AbortSignal
}

export async function ensureServingCertificate(request: CertificateRequest): Promise<ServingCertificate> {
  const { client, namespace, signal } = request
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: SECRET_NAME }
  for (;;) {
    const stored = await client.get(ref, { signal })
    const current = stored && decodeSecret(stored)
    if (current && isUsable(current, request)) return current
    const issued = await issueCertificate(current, request)
    const secret: KubeObject = {
      ...(stored ?? { apiVersion: 'v1', kind: 'Secret', metadata: { name: SECRET_NAME, namespace } }),
      type: 'Opaque',
      data: encodeSecret(issued),
    }
    try {
      if (stored) await client.update(secret, { signal })
      else await client.create(secret, { signal })
      return issued
    } catch (error) {
      // Another replica was faster: its certificate is read in the next round.
      if (!isApiError(error, 'already-exists', 'conflict')) throw error
    }
  }
}

interface StoredCertificate extends ServingCertificate {
  readonly authorityKey: string
}

/**
 * The authority is kept while it is valid, so that a renewed leaf needs no new trust. A new authority is trusted in
 * addition to the old one, which signed what other replicas still serve.
 */
async function issueCertificate(
  current: StoredCertificate | undefined,
  { hosts, now }: CertificateRequest,
): Promise<StoredCertificate> {
  const clock = { now }
  const kept = current && !isDueForRenewal(current.authority, now()) ? current : undefined
  const authority = kept
    ? await loadAuthority({ certificate: firstCertificate(kept.authority), privateKey: kept.authorityKey }, clock)
    : await createAuthority({ commonName: 'stackloom webhooks' }, clock)
  const leaf = await authority.issue({
    commonName: hosts[0] ?? SECRET_NAME,
    hosts,
    uses: ['server'],
    days: 365,
  })
  const trusted =
    kept?.authority ?? authority.certificate.trimEnd() + (current ? `\n${firstCertificate(current.authority)}` : '\n')
  return { ...leaf, authority: trusted, authorityKey: authority.privateKey }
}

const PEM_END = '-----END CERTIFICATE-----'

function firstCertificate(bundle: string): string {
  return `${bundle.slice(0, bundle.indexOf(PEM_END))}${PEM_END}\n`
}

function isUsable({ certificate, authority }: StoredCertificate, { hosts, now }: CertificateRequest): boolean {
  const covered = new Set(parseCertificate(certificate).hosts)
  return (
    hosts.every((host) => covered.has(host)) &&
    !isDueForRenewal(certificate, now()) &&
    !isDueForRenewal(authority, now())
  )
}

const secretKeys = {
  certificate: 'tls.crt',
  privateKey: 'tls.key',
  authority: 'ca.crt',
  authorityKey: 'ca.key',
} as const satisfies Record<keyof StoredCertificate, string>

function encodeSecret(stored: StoredCertificate): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(secretKeys).map(([field, key]) => [
      key,
      Buffer.from(stored[field as keyof StoredCertificate]).toString('base64'),
    ]),
  )
}

function decodeSecret(secret: KubeObject): StoredCertificate | undefined {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>
  const decoded = Object.entries(secretKeys).map(([field, key]) => [
    field,
    Buffer.from(data[key] ?? '', 'base64').toString('utf8'),
  ])
  return decoded.some(([, text]) => text === '')
    ? undefined
    : (Object.fromEntries(decoded) as unknown as StoredCertificate)
}

/**
 * The certificate of the webhook server: made once, kept in a Secret, the same for every replica.
 *
 * To create the Secret is the compare-and-swap: of several that start at once one wins, and the others read. Renewal
 * is an update by version, with the same rule.
 */
import type { KubeObject } from '../api/object.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Credentials, createAuthority, loadAuthority } from '../pki/authority.ts'
import { isDueForRenewal, parseCertificate } from '../pki/certificate.ts'

export const SECRET_NAME = 'stackloom-webhook'

export interface ServingCertificate extends Credentials {
  /** PEM of who signed it, and of who signed the one before: what the API server must trust. */
  readonly authority: string
}

export interface CertificateRequest {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update'>
  readonly namespace: string
  /** Names and addresses under which the API server finds us. */
  readonly hosts: readonly string[]
  readonly now: () => number
  readonly signal: AbortSignal
}

export async function ensureServingCertificate(request: CertificateRequest): Promise<ServingCertificate> {
  const { client, namespace, signal } = request
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: SECRET_NAME }
  for (;;) {
    const stored = await client.get(ref, { signal })
    const held = stored && decodeSecret(stored)
    if (held && isUsable(held, request)) return held
    const made = await issueCertificate(held, request)
    const secret: KubeObject = {
      ...(stored ?? { apiVersion: 'v1', kind: 'Secret', metadata: { name: SECRET_NAME, namespace } }),
      type: 'Opaque',
      data: encodeSecret(made),
    }
    try {
      if (stored) await client.update(secret, { signal })
      else await client.create(secret, { signal })
      return made
    } catch (error) {
      // Somebody else was first: theirs is as good.
      if (!isApiError(error, 'already-exists', 'conflict')) throw error
    }
  }
}

interface StoredCertificate extends ServingCertificate {
  readonly authorityKey: string
}

/**
 * The authority is kept while it is valid, so that a renewed leaf needs no new trust. A new authority is trusted beside
 * the old one: other replicas serve a leaf of that one until they have looked.
 */
async function issueCertificate(
  held: StoredCertificate | undefined,
  { hosts, now }: CertificateRequest,
): Promise<StoredCertificate> {
  const clock = { now }
  const kept = held && !isDueForRenewal(held.authority, now()) ? held : undefined
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
    kept?.authority ?? authority.certificate.trimEnd() + (held ? `\n${firstCertificate(held.authority)}` : '\n')
  return { ...leaf, authority: trusted, authorityKey: authority.privateKey }
}

const PEM_END = '-----END CERTIFICATE-----'

function firstCertificate(bundle: string): string {
  return `${bundle.slice(0, bundle.indexOf(PEM_END))}${PEM_END}\n`
}

function isUsable({ certificate, authority }: StoredCertificate, { hosts, now }: CertificateRequest): boolean {
  const named = new Set(parseCertificate(certificate).hosts)
  return (
    hosts.every((host) => named.has(host)) && !isDueForRenewal(certificate, now()) && !isDueForRenewal(authority, now())
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

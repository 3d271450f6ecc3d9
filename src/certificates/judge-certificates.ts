/** Judges when certificates end, whether cert-manager renews them in time, and which hosts and pods have an older copy. Pure. */
import type { FoundCertificate, ManagedCertificate } from './read-certificates.ts'

/** The worst first. */
export const certificateVerdicts = ['expired', 'critical', 'unreadable', 'soon', 'due', 'valid'] as const
export type CertificateVerdict = (typeof certificateVerdicts)[number]

export interface CertificateState {
  readonly namespace: string
  readonly kind: FoundCertificate['kind']
  readonly name: string
  readonly verdict: CertificateVerdict
  readonly subject?: string
  readonly issuer?: string
  readonly hosts?: readonly string[]
  readonly notBefore?: string
  readonly notAfter?: string
  /** Whole days until it ends; negative after that. */
  readonly daysLeft?: number
  /** When cert-manager renews it. */
  readonly renewal?: string
  /** Data plane hosts that still have the certificate that was there before. */
  readonly outdatedHosts: readonly string[]
  /** Pods that read the Secret when they started, which was before its last change. */
  readonly outdatedPods: readonly string[]
}

export interface CertificatesInput {
  readonly found: readonly FoundCertificate[]
  readonly managed: readonly ManagedCertificate[]
  /** Hosts whose last deployment had another content of a Secret. */
  readonly outdatedHosts: (namespace: string, secret: string) => readonly string[]
  readonly outdatedPods: (namespace: string, secret: string) => readonly string[]
  readonly now: number
}

const DAY = 86_400_000

/** A certificate counts as `due` for a third of its lifetime at most: some live for a week. */
const thresholds: readonly (readonly [CertificateVerdict, number])[] = [
  ['critical', 3 * DAY],
  ['soon', 14 * DAY],
  ['due', 30 * DAY],
]

export interface Lifetime {
  readonly notBefore?: number | undefined
  readonly notAfter: number
  readonly renewal?: number | undefined
}

/** Before its renewal a certificate is valid, however short its life is. */
export function judgeLifetime({ notBefore, notAfter, renewal }: Lifetime, now: number): CertificateVerdict {
  const left = notAfter - now
  if (left <= 0) return 'expired'
  if (renewal !== undefined && renewal > now) return 'valid'
  const third = notBefore === undefined ? Number.POSITIVE_INFINITY : (notAfter - notBefore) / 3
  return thresholds.find(([, limit]) => left <= Math.min(limit, third))?.[0] ?? 'valid'
}

/** Sorted: the worst first, then by their end. */
export function judgeCertificates({
  found,
  managed,
  outdatedHosts,
  outdatedPods,
  now,
}: CertificatesInput): readonly CertificateState[] {
  const renewals = new Map(managed.map(({ namespace, secret, renewal }) => [`${namespace}/${secret}`, renewal]))
  const states = found.map(({ namespace, kind, name, content }): CertificateState => {
    const isSecret = kind === 'Secret'
    const common = {
      namespace,
      kind,
      name,
      outdatedHosts: isSecret ? outdatedHosts(namespace, name) : [],
      outdatedPods: isSecret ? outdatedPods(namespace, name) : [],
    }
    if (!content) return { ...common, verdict: 'unreadable' }
    const { subject, issuer, hosts, notBefore, notAfter } = content
    const renewal = isSecret ? renewals.get(`${namespace}/${name}`) : undefined
    return {
      ...common,
      verdict: judgeLifetime({ notBefore, notAfter, renewal }, now),
      subject,
      issuer,
      hosts,
      notBefore: new Date(notBefore).toISOString(),
      notAfter: new Date(notAfter).toISOString(),
      daysLeft: Math.floor((notAfter - now) / DAY),
      ...(renewal !== undefined && { renewal: new Date(renewal).toISOString() }),
    }
  })
  return states.sort(compareStates)
}

function compareStates(a: CertificateState, b: CertificateState): number {
  const rank = ({ verdict }: CertificateState): number => certificateVerdicts.indexOf(verdict)
  const end = ({ notAfter = '' }: CertificateState): string => notAfter
  return rank(a) - rank(b) || compare(end(a), end(b)) || compare(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/**
 * Creates a certificate authority and the certificates that it signs, for a cloud, a sandbox or a lab.
 *
 * Returns PEM text; the caller stores it. The extensions are those that `openssl verify -x509_strict` and Go's verifier
 * require.
 */
import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { generateKeys, importKeys, type KeyKind, keyAlgorithm, privateKeyPem } from './keys.ts'

/** A certificate and its private key, as PEM. */
export interface Credentials {
  readonly certificate: string
  readonly privateKey: string
}

export interface LeafRequest {
  readonly commonName: string
  /** Kubernetes reads groups here. */
  readonly organizations?: readonly string[]
  /** DNS names and addresses, in any order. */
  readonly hosts?: readonly string[]
  readonly uses: readonly ('server' | 'client')[]
  readonly days?: number
  readonly keys?: KeyKind
}

export interface Authority extends Credentials {
  readonly issue: (request: LeafRequest) => Promise<Credentials>
}

export interface AuthorityRequest {
  readonly commonName: string
  readonly days?: number
  readonly keys?: KeyKind
}

export interface Clock {
  readonly now: () => number
}

const DAY_MS = 86_400_000
/** Clocks of machines differ: without this a new certificate would not be valid yet on another machine. */
const CLOCK_SKEW_MS = 3_600_000

export async function createAuthority(request: AuthorityRequest, clock: Clock = Date): Promise<Authority> {
  const { commonName, days = 3650, keys: kind = 'ecdsa-p256' } = request
  const keys = await generateKeys(kind)
  const subject = buildName(commonName, [])
  const certificate = await X509CertificateGenerator.create(
    {
      serialNumber: serial(),
      subject,
      issuer: subject,
      ...validity(days, clock),
      signingAlgorithm: keyAlgorithm(kind).sign,
      publicKey: keys.publicKey,
      signingKey: keys.privateKey,
      extensions: [
        new BasicConstraintsExtension(true, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
        await SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto),
      ],
    },
    webcrypto,
  )
  return loadAuthority({ certificate: toPem(certificate), privateKey: await privateKeyPem(keys.privateKey) }, clock)
}

/** Loads an authority from its stored PEM. */
export async function loadAuthority(stored: Credentials, clock: Clock = Date): Promise<Authority> {
  const issuer = new X509Certificate(stored.certificate)
  const { kind, keys } = await importKeys(stored.privateKey)
  const authorityKey = await AuthorityKeyIdentifierExtension.create(issuer, false, webcrypto)
  const issue = async (request: LeafRequest): Promise<Credentials> => {
    const leafKind = request.keys ?? kind
    const leaf = await generateKeys(leafKind)
    const certificate = await X509CertificateGenerator.create(
      {
        serialNumber: serial(),
        subject: buildName(request.commonName, request.organizations ?? []),
        issuer: issuer.subjectName,
        ...validity(request.days ?? 825, clock, issuer.notAfter),
        signingAlgorithm: keyAlgorithm(kind).sign,
        publicKey: leaf.publicKey,
        signingKey: keys.privateKey,
        extensions: [
          ...leafExtensions(request, leafKind),
          await SubjectKeyIdentifierExtension.create(leaf.publicKey, false, webcrypto),
          authorityKey,
        ],
      },
      webcrypto,
    )
    return { certificate: toPem(certificate), privateKey: await privateKeyPem(leaf.privateKey) }
  }
  return { ...stored, issue }
}

function leafExtensions(request: LeafRequest, kind: KeyKind): readonly Extension[] {
  // RSA keys also allow the old key exchange, which some clients of the lab still offer.
  const encipherment = kind === 'ecdsa-p256' ? 0 : KeyUsageFlags.keyEncipherment
  const purposes = request.uses.map((use) =>
    use === 'server' ? ExtendedKeyUsage.serverAuth : ExtendedKeyUsage.clientAuth,
  )
  const hosts = [...new Set(request.hosts ?? [])]
  const names = hosts.map((value) => ({ type: isIP(value) ? ('ip' as const) : ('dns' as const), value }))
  return [
    new BasicConstraintsExtension(false, undefined, true),
    new KeyUsagesExtension(KeyUsageFlags.digitalSignature | encipherment, true),
    new ExtendedKeyUsageExtension(purposes),
    ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names)] : []),
  ]
}

/** No certificate outlives the authority that signed it. */
function validity(days: number, clock: Clock, latest?: Date): { notBefore: Date; notAfter: Date } {
  const now = clock.now()
  const requestedEnd = now + days * DAY_MS
  return {
    notBefore: new Date(now - CLOCK_SKEW_MS),
    notAfter: new Date(Math.min(requestedEnd, latest?.getTime() ?? requestedEnd)),
  }
}

function buildName(commonName: string, organizations: readonly string[]): Name {
  return new Name([...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }])
}

function toPem(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`
}

/** 127 random bits: positive, never zero, unique without a counter. */
function serial(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

cryptoProvider.set(webcrypto)

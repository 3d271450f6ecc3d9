/**
 * A certificate authority and what it signs: servers and clients of one cloud, one sandbox, one lab.
 *
 * Makes PEM text and keeps no file; where it is stored, and with which mode, is the caller's business.
 * The extensions are those that `openssl verify -x509_strict` and Go's verifier insist on.
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
/** Clocks of two machines differ; a certificate that is valid "from now" is not valid yet on the other one. */
const CLOCK_SKEW_MS = 3_600_000

export async function createAuthority(request: AuthorityRequest, clock: Clock = Date): Promise<Authority> {
  const { commonName, days = 3650, keys: kind = 'ecdsa-p256' } = request
  const keys = await generateKeys(kind)
  const subject = nameOf(commonName, [])
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
  return loadAuthority({ certificate: pemOf(certificate), privateKey: await privateKeyPem(keys.privateKey) }, clock)
}

/** An authority that was made before, from its stored PEM. */
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
        subject: nameOf(request.commonName, request.organizations ?? []),
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
    return { certificate: pemOf(certificate), privateKey: await privateKeyPem(leaf.privateKey) }
  }
  return { ...stored, issue }
}

function leafExtensions(request: LeafRequest, kind: KeyKind): readonly Extension[] {
  // RSA keys also carry the old key exchange, which some clients of the lab still offer.
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

/** Nothing outlives the authority that vouches for it. */
function validity(days: number, clock: Clock, latest?: Date): { notBefore: Date; notAfter: Date } {
  const now = clock.now()
  const wanted = now + days * DAY_MS
  return {
    notBefore: new Date(now - CLOCK_SKEW_MS),
    notAfter: new Date(Math.min(wanted, latest?.getTime() ?? wanted)),
  }
}

function nameOf(commonName: string, organizations: readonly string[]): Name {
  return new Name([...organizations.map((organization) => ({ O: [organization] })), { CN: [commonName] }])
}

function pemOf(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`
}

/** 127 random bits: positive, never zero, unique without a counter. */
function serial(): string {
  const bytes = randomBytes(16)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes.toString('hex')
}

cryptoProvider.set(webcrypto)

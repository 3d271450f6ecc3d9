/** Reads the fields of a certificate and decides when to renew it. Pure, on PEM text or a parsed certificate. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Credentials } from './authority.ts'

export interface CertificateInfo {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly hosts: readonly string[]
  readonly authority: boolean
  readonly notBefore: number
  readonly notAfter: number
  /** SHA-256, colon-separated. */
  readonly fingerprint: string
}

/** A parsed certificate saves parsing it again for each question. */
type Certificate = string | X509Certificate

function toX509(certificate: Certificate): X509Certificate {
  return typeof certificate === 'string' ? new X509Certificate(certificate) : certificate
}

export function parseCertificate(from: Certificate): CertificateInfo {
  const certificate = toX509(from)
  const subject = certificate.subject.split('\n').map((line) => line.split('=') as [string, string])
  const values = (key: string): readonly string[] => subject.filter(([name]) => name === key).map(([, value]) => value)
  const names = certificate.subjectAltName?.split(', ') ?? []
  return {
    commonName: values('CN')[0] ?? '',
    organizations: values('O'),
    hosts: names.map((name) => name.replace(/^(DNS|IP Address):/, '')),
    authority: certificate.ca,
    notBefore: Date.parse(certificate.validFrom),
    notAfter: Date.parse(certificate.validTo),
    fingerprint: certificate.fingerprint256,
  }
}

/** True when a third of its lifetime or less is left. */
export function isDueForRenewal(certificate: Certificate, now: number): boolean {
  const { notBefore, notAfter } = parseCertificate(certificate)
  return now >= notBefore + ((notAfter - notBefore) * 2) / 3
}

/** A key that does not match its certificate would fail only at the first handshake. */
export function isMatchingPair({ certificate, privateKey }: Credentials): boolean {
  return matchesPrivateKey(new X509Certificate(certificate), privateKey)
}

export function matchesPrivateKey(certificate: X509Certificate, privateKey: string): boolean {
  return certificate.checkPrivateKey(createPrivateKey(privateKey))
}

/** What a certificate says about itself, and whether it is time for the next one. Pure, on PEM text or on what was parsed. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { Credentials } from './authority.ts'

export interface CertificateInfo {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly hosts: readonly string[]
  readonly authority: boolean
  readonly notBefore: number
  readonly notAfter: number
  /** SHA-256, colon-separated: the same certificate or another one. */
  readonly fingerprint: string
}

/** Who asks several questions about one certificate parses it once. */
type Certificate = string | X509Certificate

function parsed(certificate: Certificate): X509Certificate {
  return typeof certificate === 'string' ? new X509Certificate(certificate) : certificate
}

export function parseCertificate(from: Certificate): CertificateInfo {
  const certificate = parsed(from)
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

/** True when a third of its life or less is left: time to ask for the next one while this one still works. */
export function isDueForRenewal(certificate: Certificate, now: number): boolean {
  const { notBefore, notAfter } = parseCertificate(certificate)
  return now >= notBefore + ((notAfter - notBefore) * 2) / 3
}

/** A key that does not belong to its certificate breaks a server at the first handshake, so ask before. */
export function isMatchingPair({ certificate, privateKey }: Credentials): boolean {
  return matchesPrivateKey(new X509Certificate(certificate), privateKey)
}

export function matchesPrivateKey(certificate: X509Certificate, privateKey: string): boolean {
  return certificate.checkPrivateKey(createPrivateKey(privateKey))
}

/** Reads the certificates of clouds from Secrets and Routes, and when cert-manager renews them. Pure. */
import { X509Certificate } from 'node:crypto'
import { asRecord } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getString } from '../api/raw-object.ts'
import { parseCertificate } from '../pki/certificate.ts'

export const certificateKind = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' }
export const routeKind = { apiVersion: 'route.openshift.io/v1', kind: 'Route' }

export interface FoundCertificate {
  readonly namespace: string
  readonly kind: 'Secret' | 'Route'
  readonly name: string
  /** Undefined where the text is not a certificate. */
  readonly content: CertificateContent | undefined
}

export interface CertificateContent {
  readonly subject: string
  readonly issuer: string
  /** Names and addresses that it is valid for. */
  readonly hosts: readonly string[]
  readonly notBefore: number
  /** Of the certificate in the chain that ends first. */
  readonly notAfter: number
}

/** The certificate in `tls.crt` of a Secret; nothing for a Secret without one. */
export function readSecretCertificate(secret: KubeObject): readonly FoundCertificate[] {
  const encoded = asRecord(secret['data'])['tls.crt']
  if (typeof encoded !== 'string' || encoded === '') return []
  const { namespace = '', name } = secret.metadata
  return [{ namespace, kind: 'Secret', name, content: readChain(Buffer.from(encoded, 'base64').toString()) }]
}

/** A Route without a certificate has that of the cluster's router. */
export function readRouteCertificate(route: KubeObject): readonly FoundCertificate[] {
  const text = getString(route, 'spec', 'tls', 'certificate')
  if (text === undefined) return []
  const { namespace = '', name } = route.metadata
  return [{ namespace, kind: 'Route', name, content: readChain(text) }]
}

const BLOCK = '-----END CERTIFICATE-----'
/** More than any chain has: a Secret may hold a megabyte. */
const MAX_CHAIN = 16

function readChain(text: string): CertificateContent | undefined {
  try {
    const blocks = text.split(BLOCK, MAX_CHAIN).filter((block) => block.includes('-----BEGIN'))
    const chain = blocks.map((block) => new X509Certificate(`${block}${BLOCK}\n`))
    const [leaf] = chain
    if (!leaf) return undefined
    const { commonName, hosts, notBefore } = parseCertificate(leaf)
    const notAfter = Math.min(...chain.map((certificate) => parseCertificate(certificate).notAfter))
    return { subject: commonName || (hosts[0] ?? ''), issuer: readName(leaf.issuer), hosts, notBefore, notAfter }
  } catch {
    return undefined
  }
}

function readName(distinguishedName: string): string {
  const lines = distinguishedName.split('\n')
  return (lines.find((line) => line.startsWith('CN=')) ?? lines[0] ?? '').replace(/^[A-Z]+=/, '')
}

/** A certificate that cert-manager renews. */
export interface ManagedCertificate {
  readonly namespace: string
  readonly name: string
  readonly secret: string
  readonly issuer: string
  readonly notAfter: number | undefined
  readonly renewal: number | undefined
}

export function readManagedCertificate(object: KubeObject): ManagedCertificate {
  const { namespace = '', name } = object.metadata
  return {
    namespace,
    name,
    secret: getString(object, 'spec', 'secretName') ?? name,
    issuer: getString(object, 'spec', 'issuerRef', 'name') ?? '',
    notAfter: parseTime(getString(object, 'status', 'notAfter')),
    renewal: parseTime(getString(object, 'status', 'renewalTime')),
  }
}

function parseTime(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? undefined : time
}

/**
 * The certificates of a lab: its own CA and what Kolla-Ansible looks for, under the names that it looks for.
 *
 * Kolla's own playbook needs running nodes, never renews, and makes a CA that strict verifiers refuse. What exists
 * and still fits is kept. The library that signs is loaded only when something must be signed.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import type { Authority, Credentials } from '../pki/authority.ts'
import { isDueForRenewal, matchesPrivateKey, parseCertificate } from '../pki/certificate.ts'
import { externalFqdn, internalFqdn, type Lab, nodesWithRole, usesTls } from './lab.ts'
import type { TreeFile } from './tree.ts'

const FOLDER = 'kolla/certificates'
const LIBVIRT = 'kolla/config/nova/nova-libvirt'
const CA_KEY = `${FOLDER}/private/root/root.key`
const CA_CERTIFICATE = `${FOLDER}/ca/root.crt`

interface LeafCertificate {
  /** The file that holds the certificate, first. */
  readonly name: string
  readonly hosts: readonly string[]
  readonly uses: readonly ('server' | 'client')[]
  readonly files: (certificate: string, key: string) => readonly TreeFile[]
}

/** Existing files by path; undefined when there is none. */
export type ReadExisting = (path: string) => string | undefined

export interface CertificateResult {
  readonly files: readonly TreeFile[]
  /** What was signed now, by name: `ca`, `external`. */
  readonly made: readonly string[]
}

function leafCertificates(lab: Lab): readonly LeafCertificate[] {
  const tls = nodesWithAny(lab, ['control', 'network'])
  const computes = nodesWithRole(lab, 'compute')
  const backendHosts = tls.flatMap((node) => [node.name, `${node.name}.${lab.dns.domain}`, node.address])
  return [
    {
      name: 'external',
      // Whatever a person types into a browser needs to be in the certificate.
      hosts: [externalFqdn(lab), `horizon.${lab.dns.domain}`, lab.vips.external],
      uses: ['server'],
      files: (certificate, key) => [secret(`${FOLDER}/haproxy.pem`, certificate + key)],
    },
    {
      name: 'internal',
      hosts: [internalFqdn(lab), `grafana.${lab.dns.domain}`, lab.vips.internal],
      uses: ['server'],
      files: (certificate, key) => [
        secret(`${FOLDER}/haproxy-internal.pem`, certificate + key),
        ...pair('proxysql', certificate, key),
      ],
    },
    {
      name: 'backend',
      hosts: backendHosts,
      uses: ['server', 'client'],
      files: (certificate, key) => [
        ...pair('backend', certificate, key),
        ...pair('rabbitmq', certificate, key),
        ...pair('mariadb', certificate, key),
      ],
    },
    {
      name: 'libvirt',
      hosts: computes.flatMap((node) => [node.name, `${node.name}.${lab.dns.domain}`, node.address]),
      uses: ['server', 'client'],
      files: (certificate, key) => [
        secret(`${LIBVIRT}/servercert.pem`, certificate),
        secret(`${LIBVIRT}/serverkey.pem`, key),
        secret(`${LIBVIRT}/clientcert.pem`, certificate),
        secret(`${LIBVIRT}/clientkey.pem`, key),
      ],
    },
  ]
}

function nodesWithAny(lab: Lab, roles: readonly ('control' | 'network')[]) {
  return lab.nodes.filter((node) => roles.some((role) => node.roles.includes(role)))
}

const secret = (path: string, text: string): TreeFile => ({ path, text, secret: true })

function pair(name: string, certificate: string, key: string): readonly TreeFile[] {
  return [secret(`${FOLDER}/${name}-cert.pem`, certificate), secret(`${FOLDER}/${name}-key.pem`, key)]
}

export async function ensureCertificates(lab: Lab, existing: ReadExisting, now: number): Promise<CertificateResult> {
  if (!usesTls(lab)) return { files: [], made: [] }
  const clock = { now: () => now }
  const old = existingAuthority(existing)
  const authorityKey = old && parsePublicKey(old.certificate)
  const kept = leafCertificates(lab).map((leaf) => ({
    leaf,
    files: authorityKey && reusableFiles(leaf, authorityKey, existing, now),
  }))
  const missing = kept.filter(({ files }) => files === undefined).map(({ leaf }) => leaf)
  if (old && missing.length === 0) {
    return { files: [...authorityFiles(old), ...kept.flatMap(({ files }) => files ?? [])], made: [] }
  }
  // The signing library costs more than everything else together: only for those who need it.
  const { createAuthority, loadAuthority } = await import('../pki/authority.ts')
  const authority = old
    ? await loadAuthority(old, clock)
    : await createAuthority({ commonName: `${lab.name} lab CA` }, clock)
  const signed = await Promise.all(missing.map((leaf) => issueLeaf(leaf, authority)))
  const files = [...authorityFiles(authority), ...kept.flatMap((one) => one.files ?? []), ...signed.flat()]
  return { files, made: [...(old ? [] : ['ca']), ...missing.map((leaf) => leaf.name)] }
}

/** Where they stand in the tree, without making any. */
export function certificatePaths(lab: Lab): readonly string[] {
  if (!usesTls(lab)) return []
  const leaves = leafCertificates(lab).flatMap((leaf) => leaf.files('', ''))
  return [...authorityFiles({ certificate: '', privateKey: '' }), ...leaves].map((file) => file.path)
}

function authorityFiles({ certificate, privateKey }: Credentials): readonly TreeFile[] {
  return [
    { path: CA_CERTIFICATE, text: certificate },
    secret(`${FOLDER}/private/root/root.crt`, certificate),
    secret(CA_KEY, privateKey),
    { path: `${LIBVIRT}/cacert.pem`, text: certificate },
  ]
}

async function issueLeaf(leaf: LeafCertificate, authority: Authority): Promise<readonly TreeFile[]> {
  const commonName = leaf.hosts[0] ?? leaf.name
  const { certificate, privateKey } = await authority.issue({
    commonName,
    hosts: leaf.hosts,
    uses: leaf.uses,
  })
  return leaf.files(certificate, privateKey)
}

function existingAuthority(existing: ReadExisting): Credentials | undefined {
  const certificate = existing(CA_CERTIFICATE)
  const privateKey = existing(CA_KEY)
  if (certificate === undefined || privateKey === undefined) return undefined
  return { certificate, privateKey }
}

/** Of a file that is no certificate, nothing: then no leaf is ours. */
function parsePublicKey(certificate: string): KeyObject | undefined {
  try {
    return new X509Certificate(certificate).publicKey
  } catch {
    return undefined
  }
}

/** The files of a leaf as they are, when it is ours, whole, for the right hosts and not due. */
function reusableFiles(
  leaf: LeafCertificate,
  authority: KeyObject,
  existing: ReadExisting,
  now: number,
): readonly TreeFile[] | undefined {
  const files = leaf.files('', '').map((file) => ({ ...file, text: existing(file.path) ?? '' }))
  const all = files.map((file) => file.text).join('')
  const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/.exec(all)?.[0]
  const privateKey = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n/.exec(all)?.[0]
  if (!certificate || !privateKey) return undefined
  try {
    const parsed = new X509Certificate(certificate)
    const sound = parsed.verify(authority) && matchesPrivateKey(parsed, privateKey) && !isDueForRenewal(parsed, now)
    if (!sound) return undefined
    const { hosts } = parseCertificate(parsed)
    const same = new Set([...hosts, ...leaf.hosts]).size === hosts.length && hosts.length === new Set(leaf.hosts).size
    return same && leaf.files(certificate, privateKey).every((file, at) => file.text === files[at]?.text)
      ? files
      : undefined
  } catch {
    return undefined
  }
}

/**
 * Issues the lab's CA and the certificates that Kolla-Ansible expects, and keeps those that are still valid.
 *
 * Kolla's own playbook needs running nodes, never renews, and creates a CA that strict verifiers refuse.
 */
import { type KeyObject, X509Certificate } from 'node:crypto'
import type { Authority, Credentials } from '../pki/authority.ts'
import { isDueForRenewal, matchesPrivateKey, parseCertificate } from '../pki/certificate.ts'
import { externalFqdn, hasRole, internalFqdn, type Lab, type LabNode, nodesWithRole, usesTls } from './lab.ts'
import type { ReadExisting, TreeFile } from './tree.ts'

const FOLDER = 'kolla/certificates'
const LIBVIRT = 'kolla/config/nova/nova-libvirt'
const CA_KEY = `${FOLDER}/private/root/root.key`
const CA_CERTIFICATE = `${FOLDER}/ca/root.crt`

interface LeafCertificate {
  readonly name: string
  readonly hosts: readonly string[]
  readonly uses: readonly ('server' | 'client')[]
  readonly files: (certificate: string, key: string) => readonly TreeFile[]
}

export interface CertificateResult {
  readonly files: readonly TreeFile[]
  /** Names of the certificates that were issued now: `ca`, `external`. */
  readonly issued: readonly string[]
}

function leafCertificates(lab: Lab): readonly LeafCertificate[] {
  const hostsOf = (nodes: readonly LabNode[]): readonly string[] =>
    nodes.flatMap((node) => [node.name, `${node.name}.${lab.dns.domain}`, node.address])
  const backends = lab.nodes.filter((node) => hasRole(node, 'control') || hasRole(node, 'network'))
  return [
    {
      name: 'external',
      // Includes the names that a user types into a browser.
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
      hosts: hostsOf(backends),
      uses: ['server', 'client'],
      files: (certificate, key) => [
        ...pair('backend', certificate, key),
        ...pair('rabbitmq', certificate, key),
        ...pair('mariadb', certificate, key),
      ],
    },
    {
      name: 'libvirt',
      hosts: hostsOf(nodesWithRole(lab, 'compute')),
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

const secret = (path: string, text: string): TreeFile => ({ path, text, secret: true })

function pair(name: string, certificate: string, key: string): readonly TreeFile[] {
  return [secret(`${FOLDER}/${name}-cert.pem`, certificate), secret(`${FOLDER}/${name}-key.pem`, key)]
}

export async function ensureCertificates(lab: Lab, existing: ReadExisting, now: number): Promise<CertificateResult> {
  if (!usesTls(lab)) return { files: [], issued: [] }
  const clock = { now: () => now }
  const old = existingAuthority(existing)
  const authorityKey = old && parsePublicKey(old.certificate)
  const leaves = leafCertificates(lab).map((leaf) => ({
    leaf,
    files: authorityKey && reusableFiles(leaf, authorityKey, existing, now),
  }))
  const reused = leaves.flatMap(({ files }) => files ?? [])
  const missing = leaves.filter(({ files }) => files === undefined).map(({ leaf }) => leaf)
  if (old && missing.length === 0) return { files: [...authorityFiles(old), ...reused], issued: [] }
  // Loaded on demand: the signing library takes longer to load than a rendering without it.
  const { createAuthority, loadAuthority } = await import('../pki/authority.ts')
  const authority = old
    ? await loadAuthority(old, clock)
    : await createAuthority({ commonName: `${lab.name} lab CA` }, clock)
  const issued = await Promise.all(missing.map((leaf) => issueLeaf(leaf, authority)))
  const files = [...authorityFiles(authority), ...reused, ...issued.flat()]
  return { files, issued: [...(old ? [] : ['ca']), ...missing.map((leaf) => leaf.name)] }
}

/** Lists the files without issuing any certificate. */
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
  const { certificate, privateKey } = await authority.issue({ commonName, hosts: leaf.hosts, uses: leaf.uses })
  return leaf.files(certificate, privateKey)
}

function existingAuthority(existing: ReadExisting): Credentials | undefined {
  const certificate = existing(CA_CERTIFICATE)
  const privateKey = existing(CA_KEY)
  if (certificate === undefined || privateKey === undefined) return undefined
  return { certificate, privateKey }
}

function parsePublicKey(certificate: string): KeyObject | undefined {
  try {
    return new X509Certificate(certificate).publicKey
  } catch {
    return undefined
  }
}

/** The existing files of a leaf, if our CA signed it for the same hosts and it is complete and not due for renewal. */
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
    const valid = parsed.verify(authority) && matchesPrivateKey(parsed, privateKey) && !isDueForRenewal(parsed, now)
    if (!valid) return undefined
    const { hosts } = parseCertificate(parsed)
    const sameHosts =
      new Set([...hosts, ...leaf.hosts]).size === hosts.length && hosts.length === new Set(leaf.hosts).size
    const complete = leaf.files(certificate, privateKey).every((file, index) => file.text === files[index]?.text)
    return sameHosts && complete ? files : undefined
  } catch {
    return undefined
  }
}

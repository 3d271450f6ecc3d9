/**
 * Certificates and keys of a kubeconfig: in the file itself or beside it, and checked where the file can still be named.
 *
 * Node drops a damaged CA without a word, and OpenSSL speaks of a wrong key only at the first handshake.
 */
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { formatError } from '../errors/failure.ts'
import type { Identity } from './credential.ts'
import {
  type ClusterEntry,
  describeSystemError,
  type FromFile,
  kubeconfigError,
  resolveBeside,
  type UserEntry,
} from './kubeconfig.ts'

export async function readCa(source: FromFile<ClusterEntry>): Promise<string | undefined> {
  const { entry, file } = source
  const ca = await textOrFile(
    file,
    'certificate-authority',
    entry['certificate-authority-data'],
    entry['certificate-authority'],
  )
  if (ca !== undefined) check(file, 'certificate-authority', () => new X509Certificate(ca))
  return ca
}

export async function readClientCertificate(source: FromFile<UserEntry>): Promise<Partial<Identity>> {
  const { entry, file } = source
  const cert = await textOrFile(
    file,
    'client-certificate',
    entry['client-certificate-data'],
    entry['client-certificate'],
  )
  const key = await textOrFile(file, 'client-key', entry['client-key-data'], entry['client-key'])
  if ((cert === undefined) !== (key === undefined)) {
    throw kubeconfigError(file, 'a client certificate and its key belong together, and one of them is missing')
  }
  if (cert === undefined || key === undefined) return {}
  check(file, 'client certificate and key', () => createSecureContext({ cert, key }))
  return { certificate: cert, key }
}

async function textOrFile(
  kubeconfig: string,
  field: string,
  data: string | undefined,
  name: string | undefined,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString('utf8')
  if (!name) return undefined
  const file = resolveBeside(kubeconfig, name)
  try {
    return await readFile(file, 'utf8')
  } catch (thrown) {
    throw kubeconfigError(kubeconfig, `${field}: cannot read ${file}: ${describeSystemError(thrown)}`)
  }
}

function check(kubeconfig: string, field: string, load: () => unknown): void {
  try {
    load()
  } catch (thrown) {
    // `error:05800074:x509 certificate routines::key values mismatch`
    throw kubeconfigError(kubeconfig, `${field}: not usable (${formatError(thrown).split('::').at(-1)})`)
  }
}

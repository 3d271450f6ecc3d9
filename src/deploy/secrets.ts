/**
 * Creates the Secrets of one cloud: random values by the rule of each key, written straight into the cluster.
 *
 * Existing values are never overwritten; keys that a new service needs are added. Values appear in no event, finding or
 * file, and no two clouds share one.
 */
import { randomBytes, randomInt } from 'node:crypto'
import type { KubeObject } from '../api/object.ts'
import { failure } from '../errors/failure.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { ownershipLabels } from '../render/labels.ts'
import type { NeededSecret, SecretKey, SecretRule } from '../render/needed-secrets.ts'
import type { StageContext } from '../run/stage.ts'
import { incompleteKeyPair, secretNotProvided } from './findings/up.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { type RetryPolicy, retry } from './retry.ts'
import { derivePublicKey, generateSshKeyPair, type SshKeyPair } from './ssh-keys.ts'
import type { StageWork } from './stages/apply-and-wait.ts'

type Change = 'created' | 'changed' | 'unchanged'

export interface SecretsDeps {
  readonly client: KubeClient
  readonly site: string
  readonly retryPolicy?: RetryPolicy
}

export function secretsStage(deps: SecretsDeps, needed: readonly NeededSecret[]): StageWork {
  return {
    check: async () => {
      const missing = await missingSecrets(deps.client, needed)
      return missing.length === 0
        ? { kind: 'satisfied', reason: 'every password and key exists' }
        : { kind: 'needed', reason: `${missing.length} are missing` }
    },
    work: (context) => ensureSecrets(deps, needed, context),
  }
}

/** Lists missing keys as `osp-secret/NovaPassword`. */
export async function missingSecrets(
  client: Pick<KubeClient, 'get'>,
  needed: readonly NeededSecret[],
): Promise<readonly string[]> {
  const missing: string[] = []
  for (const secret of needed) {
    const live = await client.get(secretRef(secret))
    missing.push(...missingKeys(secret, live).map(({ key }) => `${secret.name}/${key}`))
  }
  return missing
}

export async function ensureSecrets(
  { client, site, retryPolicy }: SecretsDeps,
  needed: readonly NeededSecret[],
  context: StageContext,
): Promise<void> {
  for (const secret of needed) {
    context.stop.throwIfAborted()
    const change = await retry(() => ensureSecret(client, secret, site), context, retryPolicy)
    context.emit({ kind: 'applied', change, object: secretRef(secret) })
  }
}

async function ensureSecret(client: KubeClient, secret: NeededSecret, site: string): Promise<Change> {
  const live = await client.get(secretRef(secret))
  const missing = missingKeys(secret, live)
  if (missing.length === 0) return 'unchanged'
  const provided = missing.find(({ rule }) => rule === 'given')
  if (provided) {
    const { name, namespace } = secret
    throw failure(secretNotProvided, { name, namespace, key: provided.key }, { exitCode: 1 })
  }
  const data = encodeValues(generateValues(missing, secret.cloud, existingKeyPair(secret, missing, live)))
  if (!live) return createSecret(client, renderSecret(secret, site, data))
  // The update carries the version that was read, so a key that is added meanwhile is never replaced.
  const updated = { ...live, apiVersion: 'v1', kind: 'Secret', data: { ...data, ...(live['data'] as object) } }
  await client.update(updated, { fieldManager: FIELD_MANAGER })
  return 'changed'
}

/** Creates instead of applying: values of a Secret that appeared meanwhile may be in use already. */
async function createSecret(client: KubeClient, secret: KubeObject): Promise<Change> {
  try {
    await client.create(secret, { fieldManager: FIELD_MANAGER })
    return 'created'
  } catch (thrown) {
    if (isApiError(thrown, 'already-exists')) return 'unchanged'
    throw thrown
  }
}

function renderSecret(
  { cloud, namespace, name }: NeededSecret,
  site: string,
  data: Readonly<Record<string, string>>,
): KubeObject {
  const metadata = { name, namespace, labels: ownershipLabels({ site, cloud }) }
  return { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata, data }
}

/** Both halves of a key pair must match, so all keys of a Secret come from one pair. */
function generateValues(
  keys: readonly SecretKey[],
  cloud: string,
  existing: SshKeyPair | undefined,
): Readonly<Record<string, string>> {
  let pair = existing
  const keyPair = (): SshKeyPair => {
    pair ??= generateSshKeyPair(`${cloud}@stackloom`)
    return pair
  }
  return Object.fromEntries(keys.map(({ key, rule }) => [key, generateValue(rule, keyPair)]))
}

/**
 * The key pair that the Secret has a part of: a public half is derived from its private half. A private half cannot be
 * restored, and a new one would not match what the nodes know already.
 */
function existingKeyPair(
  { keys, name, namespace, cloud }: NeededSecret,
  missing: readonly SecretKey[],
  live: KubeObject | undefined,
): SshKeyPair | undefined {
  const data = (live?.['data'] ?? {}) as Readonly<Record<string, string>>
  const halves = keys.filter(({ rule }) => rule === 'ssh-private-key' || rule === 'ssh-public-key')
  const present = halves.filter(({ key }) => data[key] !== undefined)
  const [absent] = halves.filter((half) => missing.includes(half))
  if (present.length === 0 || !absent) return undefined
  const found = present.find(({ rule }) => rule === 'ssh-private-key')
  const privateKey = Buffer.from(data[found?.key ?? ''] ?? '', 'base64').toString()
  const publicKey = derivePublicKey(privateKey, `${cloud}@stackloom`)
  if (publicKey !== undefined) return { privateKey, publicKey }
  const facts = { namespace, name, key: absent.key, other: found?.key ?? present[0]?.key ?? '' }
  throw failure(incompleteKeyPair, facts, { exitCode: 1 })
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function generateValue(rule: SecretRule, keyPair: () => SshKeyPair): string {
  switch (rule) {
    case 'password':
    case 'password-32':
      return Array.from({ length: 32 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
    case 'key-32':
      return randomBytes(32).toString('base64')
    case 'ssh-private-key':
      return keyPair().privateKey
    case 'ssh-public-key':
      return keyPair().publicKey
    case 'given':
      throw new Error('a value that the user provides cannot be generated')
  }
}

function encodeValues(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const encoded = Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  return Object.fromEntries(encoded) as Readonly<Record<string, string>>
}

function missingKeys({ keys }: NeededSecret, live: KubeObject | undefined): readonly SecretKey[] {
  const data = (live?.['data'] ?? {}) as Readonly<Record<string, string>>
  return keys.filter(({ key }) => data[key] === undefined)
}

function secretRef({ name, namespace }: NeededSecret) {
  return { apiVersion: 'v1', kind: 'Secret', namespace, name } as const
}

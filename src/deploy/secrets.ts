/**
 * The Secrets of one cloud: made once, at random, by the rule of each key, and written straight into the cluster.
 *
 * What exists is never overwritten, only completed with keys that a newly chosen service needs. Values are in no
 * event, no finding and no file, and no two clouds share one.
 */
import { randomBytes, randomInt } from 'node:crypto'
import type { KubeObject } from '../api/object.ts'
import { failure } from '../errors/failure.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { ownershipLabels } from '../render/labels.ts'
import type { NeededSecret, SecretKey, SecretRule } from '../render/needed-secrets.ts'
import { secretNotProvided } from '../run/findings.ts'
import type { StageContext } from '../run/stage.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { type RetryPolicy, retry } from './retry.ts'
import { type SshKeyPair, sshKeyPair } from './ssh-key.ts'

type Change = 'created' | 'changed' | 'unchanged'

/** What is missing in the cluster: `osp-secret/NovaPassword`. */
export async function missingSecrets(
  client: Pick<KubeClient, 'get'>,
  needed: readonly NeededSecret[],
): Promise<readonly string[]> {
  const missing: string[] = []
  for (const secret of needed) {
    const live = await client.get(secretRef(secret))
    missing.push(...lackingKeys(secret, live).map(({ key }) => `${secret.name}/${key}`))
  }
  return missing
}

export async function ensureSecrets(
  client: KubeClient,
  needed: readonly NeededSecret[],
  site: string,
  context: StageContext,
  patience?: RetryPolicy,
): Promise<void> {
  for (const secret of needed) {
    context.stop.throwIfAborted()
    const change = await retry(() => ensureOne(client, secret, site), context, patience)
    context.emit({ kind: 'applied', change, object: secretRef(secret) })
  }
}

async function ensureOne(client: KubeClient, secret: NeededSecret, site: string): Promise<Change> {
  const live = await client.get(secretRef(secret))
  const lacking = lackingKeys(secret, live)
  if (lacking.length === 0) return 'unchanged'
  const given = lacking.find(({ rule }) => rule === 'given')
  if (given) {
    const { name, namespace } = secret
    throw failure(secretNotProvided, { name, namespace, key: given.key }, { exitCode: 1 })
  }
  const data = encoded(valuesFor(lacking, secret.cloud))
  if (!live) return createOnce(client, secretObject(secret, site, data))
  // With the version that was read: a key that somebody adds at the same moment is never replaced.
  const whole = { ...live, apiVersion: 'v1', kind: 'Secret', data: { ...data, ...(live['data'] as object) } }
  await client.update(whole, { fieldManager: FIELD_MANAGER })
  return 'changed'
}

/** Create, not apply: whoever was first has made the values that others already read. */
async function createOnce(client: KubeClient, secret: KubeObject): Promise<Change> {
  try {
    await client.create(secret, { fieldManager: FIELD_MANAGER })
    return 'created'
  } catch (thrown) {
    if (isApiError(thrown, 'already-exists')) return 'unchanged'
    throw thrown
  }
}

function secretObject(
  { cloud, namespace, name }: NeededSecret,
  site: string,
  data: Readonly<Record<string, string>>,
): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, namespace, labels: ownershipLabels({ site, cloud }) },
    data,
  }
}

/** The halves of a key pair belong together, so one pair serves every key of a Secret. */
function valuesFor(keys: readonly SecretKey[], cloud: string): Readonly<Record<string, string>> {
  let pair: SshKeyPair | undefined
  const keyPair = (): SshKeyPair => {
    pair ??= sshKeyPair(`${cloud}@stackloom`)
    return pair
  }
  return Object.fromEntries(keys.map(({ key, rule }) => [key, makeValue(rule, keyPair)]))
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export function makeValue(rule: SecretRule, keyPair: () => SshKeyPair): string {
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
      throw new Error('nobody can make up what is given')
  }
}

function encoded(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))
}

function lackingKeys({ keys }: NeededSecret, live: KubeObject | undefined): readonly SecretKey[] {
  const data = (live?.['data'] ?? {}) as Readonly<Record<string, string>>
  return keys.filter(({ key }) => data[key] === undefined)
}

function secretRef({ name, namespace }: NeededSecret) {
  return { apiVersion: 'v1', kind: 'Secret', namespace, name } as const
}

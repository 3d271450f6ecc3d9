/** Writes that the data plane controllers share: status with conditions, and Secrets that belong to an object. */
import { type Condition, formatTimestamp, type KubeObject, objectKey } from '../api/object.ts'
import { sortConditions, stampConditions } from '../controllers/kit/conditions.ts'
import type { Contents } from '../controllers/kit/contents.ts'
import { tryOwnedWrite } from '../controllers/kit/ownership.ts'
import type { Writer } from '../controllers/kit/writes.ts'
import type { Finding } from '../errors/finding.ts'
import type { ReconcileContext } from '../kube/controller.ts'
import type { SharedCache } from '../kube/runtime.ts'
import { type Secret, secretKind } from './caches.ts'

export const FIELD_MANAGER = 'stackloom-dataplane'
/** Keeps a node until its services and its machine are released, and a service until its host is out of its cloud. */
export const FINALIZER = 'stackloom.dev/data-plane'

interface WithConditions {
  readonly conditions?: readonly Condition[]
}

/** Replaces the status by these conditions and fields: a field that is not given is removed. */
export function writeStatus<T extends KubeObject & { readonly status?: WithConditions }>(
  writer: Pick<Writer, 'updateStatus'>,
  cache: Pick<SharedCache<T>, 'note'>,
  object: T,
  { conditions, fields }: { readonly conditions: readonly Condition[]; readonly fields: object },
  { signal, clock }: ReconcileContext,
): Promise<T> {
  const previous = object.status?.conditions
  const stamped = stampConditions(sortConditions(conditions), previous, formatTimestamp(clock.now()))
  return writer.updateStatus(cache, object, { ...fields, conditions: stamped }, signal)
}

/** Secrets that the controllers write, each owned by the object that it is for. */
export interface OwnedSecrets {
  /** Writes exactly these values. Returns what is in the way, if a Secret of another owner is. */
  readonly write: (
    owner: KubeObject,
    name: string,
    values: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) => Promise<Finding | undefined>
}

export function createOwnedSecrets(writer: Writer, secrets: Contents<Secret>): OwnedSecrets {
  return {
    write: async (owner, name, values, signal) => {
      const { namespace = '', uid = '', labels } = owner.metadata
      const data = Object.fromEntries(
        Object.entries(values).map(([key, text]) => [key, Buffer.from(text, 'utf8').toString('base64')]),
      )
      const live = await secrets.read(objectKey({ namespace, name }), signal)
      const { apiVersion, kind } = owner
      const secret: Secret = {
        ...secretKind,
        metadata: {
          name,
          namespace,
          // Labels are copied once: later ones on the Secret belong to people.
          ...(!live && labels && Object.keys(labels).length > 0 && { labels }),
          ownerReferences: [{ apiVersion, kind, name: owner.metadata.name, uid, controller: true }],
        },
        data,
      }
      const write = await tryOwnedWrite(writer.replaceField(secrets, live, secret, 'data', signal))
      if (write.kind === 'refused') return write.finding
      if (!live) secrets.addCreated(write.result)
      return undefined
    },
  }
}

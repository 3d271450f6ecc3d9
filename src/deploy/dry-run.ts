/**
 * What the server itself would make of each change: defaults, admission and conflicts included, nothing written.
 *
 * An object whose kind or namespace does not exist yet cannot be asked about: it is a plain create.
 */
import type { KubeObject } from '../api/object.ts'
import type { Finding } from '../errors/finding.ts'
import { isApiError } from '../kube/api-error.ts'
import type { KubeClient } from '../kube/client.ts'
import { fieldDifferences } from '../verify/field-differences.ts'
import { runParallel } from './apply.ts'
import { FIELD_MANAGER } from './object-changes.ts'
import { changedDocuments, type DocumentChange, type SiteChanges } from './site-changes.ts'

export interface DryRun extends SiteChanges {
  /** Conflicts and refusals that an apply would meet. */
  readonly refusals: readonly Finding[]
}

export async function dryRun(
  changes: SiteChanges,
  client: Pick<KubeClient, 'apply'>,
  { force, signal }: { readonly force: boolean; readonly signal: AbortSignal },
): Promise<DryRun> {
  const refusals: Finding[] = []
  const judged = new Map<DocumentChange, DocumentChange>()
  await runParallel(changedDocuments(changes), 8, async (change) => {
    signal.throwIfAborted()
    try {
      const after = await client.apply(change.desired, { fieldManager: FIELD_MANAGER, force, dryRun: true })
      judged.set(change, withServerView(change, after))
    } catch (thrown) {
      if (isApiError(thrown, 'not-found', 'not-served')) return
      if (!isApiError(thrown, 'field-conflict', 'invalid', 'denied', 'webhook')) throw thrown
      refusals.push(...thrown.findings)
    }
  })
  return { ...changes, documents: changes.documents.map((document) => judged.get(document) ?? document), refusals }
}

/** Fields by the server's word: what it would hold that it does not hold now. */
function withServerView(change: DocumentChange, after: KubeObject): DocumentChange {
  if (!change.live) return change
  const fields = fieldDifferences(content(after), content(change.live))
  return fields.length > 0 ? { ...change, fields } : { ...change, change: 'take over', risk: 'safe', fields: [] }
}

/** Without what changes by itself. */
function content(object: KubeObject): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata
  const { status: _, ...rest } = object as KubeObject & { readonly status?: unknown }
  return {
    ...rest,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
  }
}

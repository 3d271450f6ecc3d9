/** Lists why a document is incomplete: the cluster is lost or not read yet, kinds may not be read, a source fails. Pure. */
import type { UnreadKind } from '../../api/snapshot.ts'
import type { Note } from '../documents/common.ts'
import type { Connection } from '../documents/meta.ts'

interface NotesInput {
  readonly connection: Connection
  readonly isLoaded: boolean
  readonly unread: readonly UnreadKind[]
}

const MAX_NOTES = 30

/** `problem`: of another source of the document. */
export function listNotes({ connection, isLoaded, unread }: NotesInput, problem?: string): readonly Note[] {
  return [
    ...(problem === undefined ? [] : [{ kind: 'unread', text: problem } as const]),
    ...(connection.kind === 'lost'
      ? [{ kind: 'lost', text: `the API server does not answer: ${connection.reason ?? 'unknown'}` } as const]
      : []),
    ...(isLoaded ? [] : [{ kind: 'loading', text: 'the cluster is being read' } as const]),
    ...unread
      .filter(({ cause }) => cause === 'forbidden' || cause === 'failed')
      .slice(0, MAX_NOTES)
      .map(({ kind, reason, cause }) => ({
        kind: cause === 'forbidden' ? ('denied' as const) : ('unread' as const),
        text: `${kind}: ${reason}`,
      })),
  ]
}

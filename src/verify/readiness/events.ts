/** What a cluster has said about an object: its newest event of some reason, in either of the two event APIs. */
import type { KubeObject } from '../../api/object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'
import { textAt } from './read.ts'

export interface Said {
  readonly message: string
  readonly first: string | undefined
  readonly last: string | undefined
}

export function lastSaid(
  object: KubeObject,
  reasons: readonly string[],
  around: SnapshotIndex,
): Said | undefined {
  const events = [...around.all('Event'), ...around.all('events.k8s.io/Event')]
  const about = events.filter((event) => {
    const target = event['involvedObject'] ?? event['regarding']
    return (
      reasons.includes(textAt(event, 'reason') ?? '') &&
      textAt(target, 'kind') === object.kind &&
      textAt(target, 'name') === object.metadata.name &&
      textAt(target, 'namespace') === object.metadata.namespace &&
      sameLife(textAt(target, 'uid'), object.metadata.uid)
    )
  })
  const said = about.map((event) => ({
    message: textAt(event, 'message') ?? textAt(event, 'note') ?? '',
    first: textAt(event, 'firstTimestamp') ?? textAt(event, 'eventTime') ?? event.metadata.creationTimestamp,
    last: textAt(event, 'lastTimestamp') ?? textAt(event, 'eventTime') ?? event.metadata.creationTimestamp,
  }))
  return said.toSorted((a, b) => (a.last ?? '').localeCompare(b.last ?? '')).at(-1)
}

/** An event about an object of the same name that is long gone says nothing about this one. */
function sameLife(said: string | undefined, uid: string | undefined): boolean {
  return said === undefined || uid === undefined || said === uid
}

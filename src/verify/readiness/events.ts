/** What a cluster has said about an object: its events, in either of the two event APIs. */
import type { KubeObject } from '../../api/object.ts'
import { at, textAt } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'

export interface Said {
  readonly reason: string
  readonly message: string
  readonly first: string | undefined
  readonly last: string | undefined
}

export function eventsIn(around: Pick<SnapshotIndex, 'all'>): readonly KubeObject[] {
  return [...around.all('Event'), ...around.all('events.k8s.io/Event')]
}

/** What an event is about. */
export function subjectOf(event: KubeObject): unknown {
  return at(event, 'involvedObject') ?? at(event, 'regarding')
}

/** The newest event about an object that has one of these reasons. */
export function lastSaid(
  object: KubeObject,
  reasons: readonly string[],
  around: SnapshotIndex,
): Said | undefined {
  const fitting = eventsIn(around).filter((event) => reasons.includes(textAt(event, 'reason') ?? ''))
  return saidOf(object, fitting)[0]
}

/** What these events say about an object, the newest first. */
export function saidOf(object: KubeObject, events: readonly KubeObject[]): readonly Said[] {
  return events
    .filter((event) => isAbout(object, subjectOf(event)))
    .map(readEvent)
    .toSorted((a, b) => (b.last ?? '').localeCompare(a.last ?? ''))
}

function isAbout({ kind, metadata }: KubeObject, subject: unknown): boolean {
  const uid = textAt(subject, 'uid')
  return (
    textAt(subject, 'kind') === kind &&
    textAt(subject, 'name') === metadata.name &&
    textAt(subject, 'namespace') === metadata.namespace &&
    // An event about an object of the same name that is long gone says nothing about this one.
    (uid === undefined || metadata.uid === undefined || uid === metadata.uid)
  )
}

function readEvent(event: KubeObject): Said {
  const { creationTimestamp } = event.metadata
  const once = textAt(event, 'eventTime') ?? creationTimestamp
  return {
    reason: textAt(event, 'reason') ?? '',
    message: textAt(event, 'message') ?? textAt(event, 'note') ?? '',
    first: textAt(event, 'firstTimestamp') ?? once,
    last: textAt(event, 'lastTimestamp') ?? textAt(event, 'series', 'lastObservedTime') ?? once,
  }
}

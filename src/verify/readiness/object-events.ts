/** Finds the events of an object in both event APIs. */
import type { KubeObject } from '../../api/object.ts'
import { getField, getString } from '../../api/raw-object.ts'
import type { SnapshotIndex } from '../../api/snapshot.ts'

export interface ObjectEvent {
  readonly reason: string
  readonly message: string
  readonly first: string | undefined
  readonly last: string | undefined
}

export function listEvents(around: Pick<SnapshotIndex, 'all'>): readonly KubeObject[] {
  return [...around.all('Event'), ...around.all('events.k8s.io/Event')]
}

export function eventSubject(event: KubeObject): unknown {
  return getField(event, 'involvedObject') ?? getField(event, 'regarding')
}

/** The newest event of an object with one of these reasons. */
export function latestEvent(
  object: KubeObject,
  reasons: readonly string[],
  around: SnapshotIndex,
): ObjectEvent | undefined {
  const matching = listEvents(around).filter((event) => reasons.includes(getString(event, 'reason') ?? ''))
  return eventsAbout(object, matching)[0]
}

/** Events about an object, newest first. */
export function eventsAbout(object: KubeObject, events: readonly KubeObject[]): readonly ObjectEvent[] {
  return events
    .filter((event) => isSubject(object, eventSubject(event)))
    .map(parseEvent)
    .toSorted((a, b) => (b.last ?? '').localeCompare(a.last ?? ''))
}

function isSubject({ kind, metadata }: KubeObject, subject: unknown): boolean {
  const uid = getString(subject, 'uid')
  return (
    getString(subject, 'kind') === kind &&
    getString(subject, 'name') === metadata.name &&
    getString(subject, 'namespace') === metadata.namespace &&
    // The event may refer to a deleted object of the same name.
    (uid === undefined || metadata.uid === undefined || uid === metadata.uid)
  )
}

function parseEvent(event: KubeObject): ObjectEvent {
  const { creationTimestamp } = event.metadata
  const once = getString(event, 'eventTime') ?? creationTimestamp
  return {
    reason: getString(event, 'reason') ?? '',
    message: getString(event, 'message') ?? getString(event, 'note') ?? '',
    first: getString(event, 'firstTimestamp') ?? once,
    last: getString(event, 'lastTimestamp') ?? getString(event, 'series', 'lastObservedTime') ?? once,
  }
}

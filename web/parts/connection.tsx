/** Shows where the values come from and whether they are current. */
import type { JSX } from 'preact'
import type { MetaDocument } from '../../src/console/documents/meta.ts'
import { link } from '../state/store.ts'
import { formatTime } from './format.ts'
import { Mark } from './mark.tsx'

type Meta = { readonly meta: MetaDocument | undefined }

export function ConnectionState({ meta }: Meta): JSX.Element {
  const [state, label, title] = describeConnection(meta)
  return (
    <span role="status" title={title}>
      <Mark state={state} label={label} />
    </span>
  )
}

function describeConnection(meta: MetaDocument | undefined): readonly [state: string, label: string, title: string] {
  if (link.value === 'ended') return ['lost', 'session ended', '']
  if (link.value === 'connecting') return ['connecting', 'connecting', '']
  if (!meta) return ['connecting', 'loading', '']
  const { source, connection } = meta
  if (source.kind === 'dump') return ['info', 'dump', source.folder]
  if (source.kind === 'none') return ['info', 'plan only', meta.siteFile ?? '']
  if (connection.kind === 'lost') return ['lost', 'cluster lost', connection.reason ?? '']
  if (connection.kind === 'connected') return ['live', 'live', source.server]
  return ['connecting', 'connecting', source.server]
}

/** What a reader must know before believing the values below. */
export function Disconnected({ meta }: Meta): JSX.Element | null {
  if (link.value === 'ended') {
    return (
      <p class="notice bad-notice" role="alert">
        <b>This session has ended.</b> Open the link that stackloom console prints again.
      </p>
    )
  }
  if (meta?.connection.kind !== 'lost') return null
  const { since, reason } = meta.connection
  return (
    <p class="notice bad-notice" role="alert">
      <b>The cluster does not answer since {formatTime(since)}.</b> Values are those of that time. {reason}
    </p>
  )
}

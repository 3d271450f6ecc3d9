/** Keeps why hosts failed in an annotation of their deployment, because logs end with their pods. Pure. */
import { asList, asString } from '../api/json.ts'
import type { KubeObject } from '../api/object.ts'
import { getField } from '../api/raw-object.ts'
import { parseAnsibleFailures } from './ansible-output.ts'
import type { RunLog } from './run-logs.ts'

export const FAILURES_ANNOTATION = 'stackloom.dev/failures'

/** Annotations of one object have 256 KiB together. */
const MAX_BYTES = 32 * 1024
/** Of one cause: enough for a message, too little for a file that was printed. */
const MAX_CAUSE = 400

export interface KeptFailure {
  readonly service: string
  readonly host: string
  readonly task: string
  /** One line, credentials masked. */
  readonly cause: string
}

export function findFailures({ service, output }: RunLog): readonly KeptFailure[] {
  return parseAnsibleFailures(output).map(({ host, task, cause }) => ({ service, host, task, cause }))
}

/** As many failures as fit, in their order. */
export function formatFailures(failures: readonly KeptFailure[]): string {
  const entries: string[] = []
  let size = 2
  for (const { cause, ...failure } of failures) {
    const text = JSON.stringify({ ...failure, cause: cause.slice(0, MAX_CAUSE) })
    size += Buffer.byteLength(text) + 1
    if (size > MAX_BYTES) break
    entries.push(text)
  }
  return `[${entries.join(',')}]`
}

/** Nothing for an annotation of another form: anyone may have written it. */
export function readFailures({ metadata }: KubeObject): readonly KeptFailure[] {
  try {
    return asList(JSON.parse(metadata.annotations?.[FAILURES_ANNOTATION] ?? '[]')).flatMap((entry) => {
      const [service, host, task, cause] = ['service', 'host', 'task', 'cause'].map((key) => asText(entry, key))
      if (host === undefined || task === undefined || cause === undefined) return []
      return [{ service: service ?? '', host, task, cause: cause.slice(0, MAX_CAUSE) }]
    })
  } catch {
    return []
  }
}

function asText(entry: unknown, key: string): string | undefined {
  return asString(getField(entry, key))
}

/** Reads what is behind a stage of a run: the pods of the object that it waits for, and the end of their logs. */

import { getString } from '../api/raw-object.ts'
import { mapConcurrently } from '../async/map-concurrently.ts'
import { formatShellCommand } from '../errors/shell-words.ts'
import type { StageDocument, StageLine } from './documents/runs.ts'
import type { LiveSource } from './live-source.ts'
import { containerToRead, podsBehind } from './views/pods-behind.ts'

const CONCURRENT_READS = 5

export async function readStage(
  { id, object, command }: StageLine,
  source: LiveSource | undefined,
  signal: AbortSignal,
): Promise<Omit<StageDocument, 'version' | 'notes'>> {
  const pods = object && source ? podsBehind(object, source.objects()) : []
  const logs = await mapConcurrently(pods, CONCURRENT_READS, async (pod) => {
    const log = containerToRead(pod)
    const { namespace = '', name } = pod.metadata
    const words = ['-n', namespace, 'logs', name, ...(log.container === undefined ? [] : ['-c', log.container])]
    return {
      id: name,
      ...(log.container !== undefined && { container: log.container }),
      phase: getString(pod, 'status', 'phase') ?? 'Unknown',
      output: source ? await source.gather.podLog(pod, log, signal) : '',
      command: formatShellCommand(['kubectl', ...words, ...(log.previous ? ['--previous'] : [])]),
    }
  })
  return { command: command ?? '', stage: id, pods: logs }
}

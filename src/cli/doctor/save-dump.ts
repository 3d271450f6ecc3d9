/**
 * Writes a snapshot as a folder of dumps that `--from` reads: one typed list per kind.
 *
 * An empty list says that the kind was read and has no objects; a kind that could not be read gets no file.
 */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import type { GroupVersionKind } from '../../api/object.ts'
import { formatGroupKind, type Snapshot } from '../../api/snapshot.ts'
import { writeOutput } from '../files.ts'
import type { Io } from '../io.ts'

export async function saveDump(
  { objects, unread }: Snapshot,
  kinds: readonly GroupVersionKind[],
  folder: string,
  io: Io,
): Promise<void> {
  await mkdir(path.resolve(io.cwd, folder), { recursive: true })
  const unreadKinds = new Set(unread.filter(({ cause }) => cause !== 'not-served').map(formatGroupKind))
  const requested = new Map(kinds.map((kind) => [formatGroupKind(kind), kind]))
  for (const [groupKind, { apiVersion, kind }] of requested) {
    const items = objects.filter((object) => formatGroupKind(object) === groupKind)
    if (items.length === 0 && unreadKinds.has(groupKind)) continue
    const list = { apiVersion, kind: `${kind}List`, metadata: {}, items }
    const file = path.join(folder, `${groupKind.replace('/', '_')}.json`)
    await writeOutput(file, `${JSON.stringify(list, null, 2)}\n`, io, { replace: true })
  }
}

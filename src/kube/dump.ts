/**
 * A snapshot from a folder of dumps: what `kubectl get -o yaml|json`, must-gather and GitOps trees leave behind.
 *
 * Takes whatever it finds: one broken file is named and left out, foreign files are passed by, nothing crashes.
 */

import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { isRecord } from '../api/json.ts'
import type { GroupVersionKind, KubeObject } from '../api/object.ts'
import type { UnreadKind } from '../api/snapshot.ts'
import { unreadableFile } from '../errors/common.ts'
import { failure, formatError } from '../errors/failure.ts'
import { type Finding, finding } from '../errors/finding.ts'
import { type BrokenDocument, parseDocuments } from './dump-text.ts'
import { unreadableDump, unreadKind } from './findings/api-server.ts'
import { describeSystemError } from './kubeconfig.ts'
import { apiGroup, formatSubject } from './paths.ts'
import type { SnapshotResult } from './snapshot.ts'

/** Reads a file or a folder with all folders below it. Without kinds: everything that looks like an object. */
export async function loadDump(
  where: string,
  kinds?: readonly GroupVersionKind[],
  signal?: AbortSignal,
): Promise<SnapshotResult> {
  const wanted = kinds && new Set(kinds.map(groupKind))
  const objects = new Map<string, KubeObject>()
  const seen = new Set<string>()
  const findings: Finding[] = []
  for (const file of await dumpFiles(where)) {
    signal?.throwIfAborted()
    const { documents, broken } = await readDump(file)
    findings.push(...broken.map((brokenDocument) => brokenFinding(file, brokenDocument)))
    for (const document of documents) {
      for (const { object, of } of objectsIn(document)) {
        seen.add(of)
        // The same object in two files: the later path wins, so that the result does not depend on the disk.
        if (object && (!wanted || wanted.has(of))) objects.set(identity(object), object)
      }
    }
  }
  const unread = (kinds ?? []).filter((kind) => !seen.has(groupKind(kind))).map((kind) => notDumped(kind, where))
  return {
    snapshot: { objects: [...objects.values()], unread },
    findings: [
      ...findings,
      ...unread.map((one) => finding(unreadKind, { kind: formatSubject(one), reason: one.reason })),
    ],
  }
}

async function dumpFiles(where: string): Promise<readonly string[]> {
  try {
    if (!(await stat(where)).isDirectory()) return [where]
    const entries = await readdir(where, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile() && /\.(ya?ml|json)$/i.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .sort()
  } catch (thrown) {
    throw failure(unreadableFile, { file: where, reason: describeSystemError(thrown) }, { cause: thrown })
  }
}

async function readDump(file: string): Promise<ReturnType<typeof parseDocuments>> {
  try {
    return parseDocuments(await readFile(file))
  } catch (thrown) {
    return {
      documents: [],
      broken: [{ reason: describeSystemError(thrown) || formatError(thrown), line: 1, column: 1 }],
    }
  }
}

function brokenFinding(file: string, { reason, line, column }: BrokenDocument): Finding {
  return finding(unreadableDump, { file, reason }, { where: { file, line, column } })
}

/** An object with the group and kind that its file speaks of; a list that is empty speaks of a kind, too. */
interface Mention {
  readonly of: string
  readonly object?: KubeObject
}

function objectsIn(value: unknown): readonly Mention[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => objectsIn(one))
  if (!isRecord(value)) return []
  const { apiVersion, kind, items, metadata } = value
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return []
  if (kind.endsWith('List') && (Array.isArray(items) || items === null)) {
    const ofItems = { apiVersion, kind: kind.slice(0, -'List'.length) }
    // `v1 List` is kubectl's own bag of anything; every other list is of its kind, which its items may leave out.
    const known = ofItems.kind === '' ? {} : ofItems
    const inside = ((items ?? []) as readonly unknown[]).flatMap((item) =>
      objectsIn(isRecord(item) ? { ...known, ...item } : item),
    )
    return ofItems.kind === '' ? inside : [{ of: groupKind(ofItems) }, ...inside]
  }
  if (!isRecord(metadata) || typeof metadata['name'] !== 'string') return []
  return [{ of: groupKind({ apiVersion, kind }), object: value as unknown as KubeObject }]
}

function identity({ apiVersion, kind, metadata }: KubeObject): string {
  return [groupKind({ apiVersion, kind }), metadata.namespace ?? '', metadata.name].join(' ')
}

function groupKind({ apiVersion, kind }: GroupVersionKind): string {
  return `${apiGroup(apiVersion)}/${kind}`
}

function notDumped({ apiVersion, kind }: GroupVersionKind, where: string): UnreadKind {
  const reason = `nothing in ${where} speaks of it: it was not dumped, or there was none`
  return { apiVersion, kind, reason, cause: 'not-dumped' }
}

/** What every importer gives back: a site file as text, with comments that say where values come from. */
import { isCollection, isMap, isNode, isPair, parseDocument } from 'yaml'
import type { SiteFile } from '../../api/site.ts'
import type { Finding } from '../../errors/finding.ts'
import { writeYaml } from '../../yaml/write.ts'
import type { Path } from '../site.ts'

export interface Imported {
  /** Absent when nothing could be read. */
  readonly text?: string
  readonly findings: readonly Finding[]
}

/** One text to import, by the name under which its user knows it. */
export interface ImportSource {
  readonly file: string
  readonly text: string
}

export interface Comment {
  readonly path: Path
  readonly text: string
}

/** A site file with a comment above each of the given fields. Comments for fields that are not there are left out. */
export function formatSite(site: SiteFile, head: string, comments: readonly Comment[]): string {
  const document = parseDocument(writeYaml(site))
  document.commentBefore = lines(head)
  for (const { path, text } of comments) {
    const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
    if (!isCollection(parent)) continue
    const step = path.at(-1)
    const target = isMap(parent)
      ? parent.items.find((pair) => isPair(pair) && String(pair.key) === step)?.key
      : parent.items[Number(step)]
    if (isNode(target)) target.commentBefore = lines(text)
  }
  return document.toString({ lineWidth: 0, indentSeq: false, flowCollectionPadding: false })
}

function lines(text: string): string {
  return text
    .split('\n')
    .map((line) => ` ${line}`)
    .join('\n')
}

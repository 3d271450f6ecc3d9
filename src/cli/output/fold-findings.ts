/**
 * Folds findings for a reader: one problem of many clouds or networks is printed once, with the names of the others.
 *
 * Pure. For text only: `-o json` has every finding.
 */
import type { Finding } from '../../errors/finding.ts'

export interface FoldedFinding {
  readonly finding: Finding
  /** What else has the same problem: names of clouds and networks. */
  readonly also: readonly string[]
}

export interface FoldedFindings {
  readonly shown: readonly FoldedFinding[]
  /** What is not shown, by code: more of one code would hide the others. */
  readonly hidden: readonly HiddenFindings[]
}

export interface HiddenFindings extends Pick<Finding, 'code' | 'severity'> {
  readonly count: number
}

const MAX_PER_CODE = 10

export function foldFindings(findings: readonly Finding[]): FoldedFindings {
  const folded = new Map<string, { readonly finding: Finding; readonly also: Set<string> }>()
  const counts = new Map<string, number>()
  const hidden = new Map<string, HiddenFindings>()
  for (const finding of findings) {
    const subject = readSubject(finding.message)
    const key = foldingKey(finding, subject)
    const known = folded.get(key)
    if (known) {
      if (subject !== readSubject(known.finding.message)) known.also.add(subject)
      continue
    }
    const group = `${finding.severity} ${finding.code}`
    const count = (counts.get(group) ?? 0) + 1
    counts.set(group, count)
    if (count <= MAX_PER_CODE) folded.set(key, { finding, also: new Set() })
    else {
      const { code, severity } = finding
      hidden.set(group, { code, severity, count: (hidden.get(group)?.count ?? 0) + 1 })
    }
  }
  return {
    shown: [...folded.values()].map(({ finding, also }) => ({ finding, also: [...also] })),
    hidden: [...hidden.values()],
  }
}

/** The cloud or network that a message begins with: `rhoso1`, `rhoso1/internalapi`. */
function readSubject(message: string): string {
  return /^[a-z0-9][\w.-]*(?:\/[\w.-]+)?(?=[: ])/.exec(message)?.[0] ?? ''
}

/** Equal for findings that differ only in their subject. Two owners make each finding a case of its own. */
function foldingKey({ code, severity, message, remedy, owners, where }: Finding, subject: string): string {
  if (owners || subject === '') return JSON.stringify([code, severity, message, remedy, owners, where])
  return JSON.stringify([code, severity, message.slice(subject.length), remedy.replaceAll(subject, '')])
}

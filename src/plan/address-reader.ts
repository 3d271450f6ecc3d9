/**
 * Parses the addresses of a site file and collects a finding for each text that is not one.
 *
 * Knows no network and no cloud.
 */
import { type FileLocation, type Finding, type FindingContext, finding, type Problem } from '../errors/finding.ts'
import { type Address, parseAddress } from '../net/address.ts'
import { explainInvalidAddress } from '../net/address-text.ts'
import { type Cidr, cidrContaining, explainInvalidCidr, formatCidr, parseCidr, parsePrefixed } from '../net/cidr.ts'
import { explainInvalidRange, parseRange, type Range } from '../net/range.ts'
import type { Path } from '../site/site.ts'
import { hostBits, notAnAddress } from './findings/addresses.ts'

/** Where a value is in the site file; undefined for a value that is not in it. */
export type Locate = (path: Path | undefined) => FileLocation | undefined

/** An owner with its location: `rhoso1/internalapi vips (site.yaml:12:9)`. */
export function formatOwner(owner: string, path: Path | undefined, locate: Locate): string {
  const where = locate(path)
  return where ? `${owner} (${where.file}:${where.line}:${where.column})` : owner
}

/** The owner of a text, what it is for, and where it is: the facts of every finding about it. */
export interface Subject {
  readonly owner: string
  readonly what: string
  readonly path: Path | undefined
}

export interface AddressReader {
  readonly findings: readonly Finding[]
  readonly report: <P>(kind: Problem<P>, facts: P, path?: Path, context?: FindingContext) => void
  readonly address: (text: string, subject: Subject) => Address | undefined
  readonly addresses: (text: string | readonly string[], subject: Subject) => readonly Address[]
  readonly cidr: (text: string, subject: Subject) => Cidr | undefined
  readonly ranges: (text: string | readonly string[], subject: Subject) => readonly Range[]
}

export function createAddressReader(locate: Locate): AddressReader {
  const findings: Finding[] = []

  const report: AddressReader['report'] = (kind, facts, path, context = {}) => {
    findings.push(finding(kind, facts, { where: locate(path), ...context }))
  }
  const refuse = (text: string, kind: string, reason: string, { owner, what, path }: Subject): void =>
    report(notAnAddress, { owner, what, text, kind, reason }, path)

  const address: AddressReader['address'] = (text, subject) => {
    const read = parseAddress(text)
    if (!read) refuse(text, 'an address', explainInvalidAddress(text), subject)
    return read
  }
  const range = (text: string, subject: Subject): Range | undefined => {
    const read = parseRange(text)
    if (!read) refuse(text, 'a range', explainInvalidRange(text), subject)
    return read
  }
  return {
    findings,
    report,
    address,
    addresses: (text, subject) =>
      list(text, subject).flatMap(([item, itemSubject]) => address(item, itemSubject) ?? []),
    cidr: (text, subject) => {
      const read = parseCidr(text)
      if (read) return read
      const meant = parsePrefixed(text)
      if (!meant) refuse(text, 'a network', explainInvalidCidr(text), subject)
      else {
        const network = formatCidr(cidrContaining(meant.address, meant.prefix))
        report(hostBits, { owner: subject.owner, text, network }, subject.path)
      }
      return undefined
    },
    ranges: (text, subject) => list(text, subject).flatMap(([item, itemSubject]) => range(item, itemSubject) ?? []),
  }
}

/** One text, or several, each with its path. */
function list(text: string | readonly string[], subject: Subject): readonly (readonly [string, Subject])[] {
  if (typeof text === 'string') return [[text, subject]]
  return text.map((item, index) => [item, { ...subject, path: subject.path && [...subject.path, index] }])
}

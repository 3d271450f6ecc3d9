/**
 * Checks that the code and the docs use none of the words in docs/words.md.
 *
 *     node --import tsx tools/lint-words.ts [--report] [PATH…]     --report prints counts by folder and exits 0
 *
 * Identifiers are split at capitals, so `pendingWishes` contains `wishes` and `refreshed` does not contain `fresh`.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { filesBelow } from './files.ts'
import { exceptions, type WordRule, wordRules } from './word-rules.ts'

export interface WrongWord {
  readonly file: string
  readonly line: number
  readonly found: string
  readonly use: string
}

type SegmentKind = 'code' | 'comment' | 'string'

interface Segment {
  readonly kind: SegmentKind
  readonly text: string
  readonly start: number
}

/** Splits TypeScript into code, comments and strings. Text of a template counts as a string, its `${…}` as code. */
export function splitSource(source: string): readonly Segment[] {
  const segments: Segment[] = []
  // One entry per open template literal: the depth of braces inside its current `${…}`.
  const templates: number[] = []
  let position = 0
  let codeStart = 0
  const push = (kind: SegmentKind, start: number, end: number): void => {
    if (end > start) segments.push({ kind, text: source.slice(start, end), start })
  }
  const literal = (kind: SegmentKind, end: number): void => {
    push('code', codeStart, position)
    push(kind, position, end)
    position = end
    codeStart = end
  }
  while (position < source.length) {
    const rest = source.slice(position, position + 2)
    const char = rest[0]
    if (rest === '//') literal('comment', indexOrEnd(source, '\n', position))
    else if (rest === '/*') literal('comment', indexOrEnd(source, '*/', position) + 2)
    else if (char === "'" || char === '"') literal('string', endOfString(source, position))
    else if (char === '`') {
      templates.push(0)
      literal('string', endOfTemplateText(source, position + 1, templates))
    } else if (char === '/' && startsRegExp(source, position)) literal('code', endOfRegExp(source, position))
    else if (char === '}' && templates.at(-1) === 0) {
      literal('string', endOfTemplateText(source, position + 1, templates))
    } else {
      const depth = templates.at(-1)
      if (depth !== undefined && char === '{') templates[templates.length - 1] = depth + 1
      if (depth !== undefined && char === '}') templates[templates.length - 1] = depth - 1
      position += 1
    }
  }
  push('code', codeStart, source.length)
  return segments
}

function indexOrEnd(source: string, text: string, from: number): number {
  const found = source.indexOf(text, from + 1)
  return found < 0 ? source.length : found
}

function endOfString(source: string, start: number): number {
  let end = start + 1
  while (end < source.length && source[end] !== source[start]) end += source[end] === '\\' ? 2 : 1
  return end + 1
}

/** Ends behind the closing backtick, or behind the `${` of the next expression. */
function endOfTemplateText(source: string, from: number, templates: number[]): number {
  let end = from
  while (end < source.length) {
    if (source[end] === '\\') end += 2
    else if (source[end] === '`') {
      templates.pop()
      return end + 1
    } else if (source.startsWith('${', end)) return end + 2
    else end += 1
  }
  return end
}

/** A slash starts a regular expression unless a value stands before it. */
function startsRegExp(source: string, position: number): boolean {
  const before = source.slice(Math.max(0, position - 20), position).trimEnd()
  return before === '' || /[(,=:[!&|?{};+\-*%<>~^]$|\b(?:return|typeof|case)$/.test(before)
}

function endOfRegExp(source: string, start: number): number {
  let inClass = false
  for (let end = start + 1; end < source.length; end += 1) {
    const char = source[end]
    if (char === '\n') return start + 1
    if (char === '\\') end += 1
    else if (char === '[') inClass = true
    else if (char === ']') inClass = false
    else if (char === '/' && !inClass) return end + 1
  }
  return start + 1
}

/** `pendingIPSets` -> pending, ip, sets */
export function splitIdentifier(name: string): readonly string[] {
  const parts = name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return parts.map((part) => part.toLowerCase())
}

const IDENTIFIER = /[A-Za-z_$][\w$]*/g

export function lintText(file: string, text: string, rules: readonly WordRule[] = wordRules): readonly WrongWord[] {
  const relevant = rules.filter(({ files }) => files === undefined || files.test(file))
  const found = [...lintFileName(file, relevant), ...lintContent(file, text, relevant)]
  const lines = text.split('\n')
  return found
    .toSorted((a, b) => a.offset - b.offset)
    .flatMap(({ offset, ...word }) => {
      const line = text.slice(0, offset).split('\n').length
      const wrong: WrongWord = { file, line, ...word }
      return isException(wrong, lines[line - 1] ?? '') ? [] : [wrong]
    })
}

interface Hit {
  readonly offset: number
  readonly found: string
  readonly use: string
}

function lintContent(file: string, text: string, rules: readonly WordRule[]): readonly Hit[] {
  if (!/\.tsx?$/.test(file)) return lintProse({ kind: 'comment', text, start: 0 }, rules)
  const segments = splitSource(text)
  const prose = segments.filter(({ kind }) => kind !== 'code')
  const code = blankOut(text, prose)
  // Of tests only the names are checked: their data imitates what users and other programs write.
  if (/\.test\.ts$|^(test|bench)\//.test(file)) {
    return prose.filter(({ start }) => isTestName(code.slice(0, start))).flatMap((name) => lintProse(name, rules))
  }
  return [...lintCode(code, rules), ...prose.flatMap((segment) => lintProse(segment, rules))]
}

/** The code alone, at its place: the other segments are spaces. */
function blankOut(text: string, segments: readonly Segment[]): string {
  return segments.reduce((code, { start, text: { length } }) => {
    return code.slice(0, start) + ' '.repeat(length) + code.slice(start + length)
  }, text)
}

/** Whether a string after this code is the name of a test: `it(`, `describe.each([…])(`. */
function isTestName(codeBefore: string): boolean {
  return /(?:\b(?:it|describe|test)(?:\.\w+)*|\))\(\s*$/.test(codeBefore.slice(-200))
}

function lintFileName(file: string, rules: readonly WordRule[]): readonly Hit[] {
  const words = file.split(/[^A-Za-z]+/).flatMap(splitIdentifier)
  return rules.flatMap(({ identifiers, use }) =>
    words
      .filter((word) => identifiers?.words?.includes(word))
      .map((found) => ({ offset: 0, found: `file name: ${found}`, use })),
  )
}

function lintCode(code: string, rules: readonly WordRule[]): readonly Hit[] {
  return [...code.matchAll(IDENTIFIER)].flatMap(({ 0: name, index: offset }) => {
    const words = splitIdentifier(name)
    const matches = ({ identifiers }: WordRule): boolean =>
      Boolean(
        identifiers?.words?.some((word) => words.includes(word)) ||
          identifiers?.names?.test(name) ||
          (identifiers?.variables?.includes(name) && isVariable(code, offset, name)),
      )
    return rules.filter(matches).map(({ use }) => ({ offset, found: name, use }))
  })
}

/** Not a member after a dot, not the key of an object or a type, and not the `it` of the test runner. */
function isVariable(code: string, offset: number, name: string): boolean {
  const before = code.slice(0, offset).trimEnd()
  const after = code.slice(offset + name.length, offset + name.length + 100).trimStart()
  if (before.endsWith('.') && !before.endsWith('...')) return false
  if (name === 'it' && /^[.(]/.test(after)) return false
  return !/^\??:/.test(after) || before.endsWith('?') || openBracket(before) === '('
}

/** The innermost bracket that is open at the end of the code. */
function openBracket(code: string): string | undefined {
  let closed = 0
  for (let index = code.length - 1; index >= 0; index -= 1) {
    const char = code[index] ?? ''
    if (')]}'.includes(char)) closed += 1
    else if ('([{'.includes(char)) {
      if (closed === 0) return char
      closed -= 1
    }
  }
  return undefined
}

function lintProse({ text, start }: Segment, rules: readonly WordRule[]): readonly Hit[] {
  return rules.flatMap(({ prose, use }) =>
    prose ? [...text.matchAll(prose)].map(({ 0: found, index }) => ({ offset: start + index, found, use })) : [],
  )
}

function isException({ file, found }: WrongWord, line: string): boolean {
  return exceptions.some(
    (exception) =>
      exception.found.test(found) &&
      (exception.file?.test(file) ?? true) &&
      (exception.line === undefined || exception.line.test(line)),
  )
}

/** Source, docs and test names. Generated pages are included: they show help and findings as users read them. */
function lintedFiles(root: string): readonly string[] {
  const all = ['src', 'web', 'tools', 'test', 'bench', 'docs'].flatMap((folder) => filesBelow(root, folder))
  const pages = ['README.md', 'CONTRIBUTING.md']
  return [...pages, ...all.filter((file) => /\.(tsx?|md)$/.test(file) && !/__golden__|\/data\//.test(file))]
}

function report(wrong: readonly WrongWord[]): void {
  const count = (keys: readonly string[]): readonly (readonly [string, number])[] => {
    const counts = new Map<string, number>()
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1)
    return [...counts].toSorted((a, b) => b[1] - a[1])
  }
  const folderOf = (file: string): string => path.dirname(file).split('/').slice(0, 3).join('/')
  for (const [folder, total] of count(wrong.map(({ file }) => folderOf(file)))) console.log(`${total}\t${folder}`)
  console.log('')
  for (const [found, total] of count(wrong.map((word) => `${word.found} -> ${word.use}`)).slice(0, 60)) {
    console.log(`${total}\t${found}`)
  }
  console.log(`\n${wrong.length} words`)
}

function main(args: readonly string[]): void {
  const paths = args.filter((word) => !word.startsWith('--'))
  const files = lintedFiles('.').filter(
    (file) => paths.length === 0 || paths.some((prefix) => file.startsWith(prefix.replace(/^\.\//, ''))),
  )
  const wrong = files.flatMap((file) => lintText(file, readFileSync(file, 'utf8')))
  if (args.includes('--report')) {
    report(wrong)
    return
  }
  for (const { file, line, found, use } of wrong) console.error(`${file}:${line}: ${found}: use ${use}`)
  if (wrong.length > 0) process.exitCode = 1
  else console.log(`words: ${files.length} files use the right words`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main(process.argv.slice(2))

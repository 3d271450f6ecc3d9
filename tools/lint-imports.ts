/** Checks every import in `src/` against the import rules: `node --import tsx tools/lint-imports.ts [ROOT]`. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { filesBelow } from './files.ts'
import { importRules, reachable } from './import-rules.ts'

export interface WrongImport {
  readonly file: string
  readonly line: number
  readonly reason: string
}

const IMPORT = /^\s*(?:import|export)\s+(type\s)?[^'"]*?from\s+['"](\.[^'"]+)['"]|\bimport\(\s*['"](\.[^'"]+)['"]\s*\)/

/** `file` is relative to the root, such as `src/plan/ledger.ts`. */
export function findWrongImports(file: string, text: string): readonly WrongImport[] {
  const folder = ruledFolder(file)
  if (!folder) return []
  if (!importRules[folder]) return [{ file, line: 1, reason: `src/${folder} has no rule in tools/import-rules.ts` }]
  const wrong: WrongImport[] = []
  for (const { line, specifier, typeOnly } of parseImports(text)) {
    const target = ruledFolder(path.posix.join(path.posix.dirname(file), specifier))
    const reason = target && target !== folder && refusal(file, folder, target, typeOnly)
    if (reason) wrong.push({ file, line, reason })
  }
  return wrong
}

function refusal(file: string, folder: string, target: string, typeOnly: boolean): string | undefined {
  if (importRules[target]?.top) return file.endsWith('.test.ts') ? undefined : `no folder may import src/${target}`
  if (reachable(folder).has(target)) return undefined
  const typesAllowed = importRules[folder]?.typesOf?.includes(target)
  if (typesAllowed && typeOnly) return undefined
  return `src/${folder} may not import src/${target}${typesAllowed ? ' except for its types (`import type`)' : ''}`
}

/** The folder whose rule counts for this file; a folder without a rule is returned too, to be reported. */
function ruledFolder(file: string): string | undefined {
  const [top, folder, ...rest] = file.split('/')
  if (top !== 'src' || folder === undefined || rest.length === 0) return undefined
  const inner = `${folder}/${rest[0]}`
  return rest.length > 1 && importRules[inner] ? inner : folder
}

interface ParsedImport {
  readonly line: number
  readonly specifier: string
  readonly typeOnly: boolean
}

function parseImports(text: string): readonly ParsedImport[] {
  // A clause in braces may span lines: it is joined into one line, and the import keeps the number of its first line.
  const joined = text.replace(
    /^(\s*(?:import|export)\s+(?:type\s+)?\{)([^}]*)\}/gm,
    (_, head: string, body: string) => `${head}${body.replace(/\n/g, '\u2028')}}`,
  )
  const imports: ParsedImport[] = []
  let line = 1
  for (const current of joined.split('\n')) {
    const match = IMPORT.exec(current)
    const specifier = match?.[2] ?? match?.[3]
    if (specifier) imports.push({ line, specifier, typeOnly: Boolean(match?.[1]) })
    line += 1 + (current.match(/\u2028/g)?.length ?? 0)
  }
  return imports
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const root = process.argv[2] ?? '.'
  const files = filesBelow(root, 'src').filter((file) => file.endsWith('.ts'))
  const wrong = files.flatMap((file) => findWrongImports(file, readFileSync(path.join(root, file), 'utf8')))
  for (const { file, line, reason } of wrong) console.error(`${file}:${line}: ${reason}`)
  if (wrong.length > 0) process.exitCode = 1
  else console.log(`imports: ${files.length} files follow the rules`)
}

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

/** What one file imports wrongly. `file` is relative to the root, such as `src/plan/ledger.ts`. */
export function findWrongImports(file: string, text: string): readonly WrongImport[] {
  const folder = folderOf(file)
  if (!folder) return []
  if (!importRules[folder]) return [{ file, line: 1, reason: `src/${folder} has no rule in tools/import-rules.ts` }]
  const found: WrongImport[] = []
  for (const { line, specifier, typeOnly } of importsIn(text)) {
    const target = folderOf(path.posix.join(path.posix.dirname(file), specifier))
    const reason = target && target !== folder && refusal(folder, target, typeOnly)
    if (reason) found.push({ file, line, reason })
  }
  return found
}

function refusal(folder: string, target: string, typeOnly: boolean): string | undefined {
  if (importRules[target]?.top) return `nobody imports src/${target}`
  if (reachable(folder).has(target)) return undefined
  const typesAllowed = importRules[folder]?.typesOf?.includes(target)
  if (typesAllowed && typeOnly) return undefined
  return `src/${folder} may not import src/${target}${typesAllowed ? ' but for its types (`import type`)' : ''}`
}

/** The folder whose rule applies: the nearest one above the file that has a rule, else the folder of `src/`. */
function folderOf(file: string): string | undefined {
  const [top, ...folders] = file.split('/').slice(0, -1)
  if (top !== 'src' || folders.length === 0) return undefined
  const candidates = folders.map((_, index) => folders.slice(0, index + 1).join('/'))
  return candidates.findLast((folder) => importRules[folder]) ?? folders[0]
}

interface FoundImport {
  readonly line: number
  readonly specifier: string
  readonly typeOnly: boolean
}

function importsIn(text: string): readonly FoundImport[] {
  // A clause in braces may span lines: it is joined to one line, the position stays that of its first.
  const joined = text.replace(
    /^(\s*(?:import|export)\s+(?:type\s+)?\{)([^}]*)\}/gm,
    (_, head: string, body: string) => {
      return `${head}${body.replace(/\n/g, '\u2028')}}`
    },
  )
  const found: FoundImport[] = []
  let line = 1
  for (const current of joined.split('\n')) {
    const match = IMPORT.exec(current)
    const specifier = match?.[2] ?? match?.[3]
    if (specifier) found.push({ line, specifier, typeOnly: Boolean(match?.[1]) })
    line += 1 + (current.match(/\u2028/g)?.length ?? 0)
  }
  return found
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const root = process.argv[2] ?? '.'
  const files = filesBelow(root, 'src').filter((file) => file.endsWith('.ts'))
  const wrong = files.flatMap((file) => findWrongImports(file, readFileSync(path.join(root, file), 'utf8')))
  for (const wrongImport of wrong) console.error(`${wrongImport.file}:${wrongImport.line}: ${wrongImport.reason}`)
  if (wrong.length) process.exitCode = 1
  else console.log(`imports: ${files.length} files follow the house`)
}

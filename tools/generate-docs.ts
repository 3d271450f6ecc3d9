/**
 * Writes the pages that are made from code: `docs/findings/`. With `--check` it writes nothing and fails on a
 * difference in either direction.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { catalogue } from '../src/errors/catalogue.ts'
import type { ListedProblem } from '../src/errors/finding.ts'
import { storyOf } from '../src/errors/story.ts'

const FOLDER = 'docs/findings'

export function findingPages(problems: Iterable<ListedProblem>): ReadonlyMap<string, string> {
  const all = [...problems]
  const rows = all.map((one) => `| [${one.code}](${one.code}.md) | ${one.severity} | ${one.title} |`)
  const index = `# Findings\n\nGenerated from \`src/errors\` by \`make docs\`.\n\n| code | severity | what |\n|---|---|---|\n${rows.join('\n')}\n`
  return new Map([
    ['README.md', index],
    ...all.map((one): [string, string] => [`${one.code}.md`, storyOf(one).text]),
  ])
}

/** What differs between the folder and the catalogue, in words; empty when they agree. */
export function drift(pages: ReadonlyMap<string, string>, folder: string): readonly string[] {
  const present = existsSync(folder) ? readdirSync(folder) : []
  const stale = present
    .filter((name) => !pages.has(name))
    .map((name) => `${folder}/${name} has no problem in the catalogue`)
  const different = [...pages].filter(
    ([name, text]) => !present.includes(name) || readFileSync(path.join(folder, name), 'utf8') !== text,
  )
  return [...stale, ...different.map(([name]) => `${folder}/${name} is not what the catalogue says`)]
}

function write(pages: ReadonlyMap<string, string>): void {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, text] of pages) writeFileSync(path.join(FOLDER, name), text)
}

if (import.meta.url === `file://${process.argv[1]}`) {
  const pages = findingPages(catalogue.values())
  if (process.argv.includes('--check')) {
    const differences = drift(pages, FOLDER)
    for (const one of differences) console.error(one)
    if (differences.length) process.exitCode = 1
  } else {
    write(pages)
  }
}

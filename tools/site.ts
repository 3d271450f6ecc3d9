/**
 * `make site`: builds the documentation site into dist/site with VitePress, which also refuses dead links.
 * BASE is the path below which it is served, for the site of an earlier version.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageVersion } from './build.ts'
import { rewriteLinks, type SiteSources, sitePath } from './docs-site.ts'
import { filesBelow } from './files.ts'

const topFiles = ['README.md', 'CHANGELOG.md', 'CODE_OF_CONDUCT.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE']

export function buildSite(output: string, base = '/'): void {
  const work = mkdtempSync(path.join(tmpdir(), 'stackloom-site-'))
  try {
    writeSources(work, base)
    symlinkSync(path.resolve('node_modules'), path.join(work, 'node_modules'))
    const program = path.resolve('node_modules/vitepress/bin/vitepress.js')
    execFileSync(process.execPath, [program, 'build', work, '--outDir', path.resolve(output)], { stdio: 'inherit' })
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function writeSources(work: string, base: string): void {
  const broken: string[] = []
  for (const file of [...topFiles, 'bench/README.md', ...filesBelow('.', 'docs'), ...filesBelow('.', 'examples')]) {
    const target = sitePath(file)
    if (target === undefined) continue
    const destination = path.join(work, target)
    mkdirSync(path.dirname(destination), { recursive: true })
    if (file.endsWith('.md')) {
      const page = rewriteLinks(file, readFileSync(file, 'utf8'))
      broken.push(...page.broken.map((link) => `${file}: ${link} is not on the site`))
      writeFileSync(destination, page.text)
    } else cpSync(file, destination)
  }
  if (broken.length > 0) throw new Error(broken.join('\n'))
  const config = JSON.stringify(path.resolve('tools/docs-site.ts'))
  const sources: SiteSources = {
    index: readFileSync('docs/README.md', 'utf8'),
    changelog: readFileSync('CHANGELOG.md', 'utf8'),
    version: packageVersion(),
    base,
  }
  mkdirSync(path.join(work, '.vitepress'))
  writeFileSync(
    path.join(work, '.vitepress/config.mts'),
    `import { siteConfig } from ${config}\nexport default siteConfig(${JSON.stringify(sources)})\n`,
  )
  writeFileSync(path.join(work, 'package.json'), '{"type":"module"}\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) buildSite('dist/site', process.env['BASE'] || '/')

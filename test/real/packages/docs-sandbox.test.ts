/**
 * Runs the commands of pages that need a cluster in sandboxes that the pages themselves start. Pages with the same sandbox
 * share a folder, in the order of `order`.
 */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { runProcess } from '../../../src/exec/process.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { findNamespaceProblem } from '../../../src/sandbox/launch.ts'
import { findDocCommands, pageSandbox } from '../../../tools/doc-commands.ts'
import { takeClusterSlot } from '../../cluster.ts'
import { buildForDocs, makeReaderFolder, type PageCommand, readDocPages, runDocCommands } from '../../doc-runner.ts'
import { sandboxContext } from '../../sandbox-context.ts'

vi.setConfig({ testTimeout: 900_000, hookTimeout: 900_000 })

/** The page that starts a sandbox comes first. */
const order: Readonly<Record<string, readonly string[]>> = {
  guide: [
    'docs/guide/deploy.md',
    'docs/guide/verify.md',
    'docs/guide/doctor.md',
    'docs/guide/metallb-pools.md',
    'docs/guide/add-node.md',
    'docs/guide/hosts.md',
    'docs/guide/certificates.md',
    'docs/guide/leaked-addresses.md',
    'docs/guide/backup.md',
    'docs/guide/alerts.md',
    'docs/guide/releases.md',
    'docs/guide/import.md',
  ],
  dns: ['docs/guide/dns.md'],
  operator: ['docs/guide/operator.md'],
}

const pages = readDocPages().filter(({ text }) => pageSandbox(text) !== undefined)
const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-docs-'))
const { cache } = sandboxContext().paths
let bin = ''

beforeAll(async () => {
  bin = await buildForDocs(path.join(folder, 'program'))
  const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
  symlinkSync(kubectl, path.join(bin, 'kubectl'))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('the order lists every page with a sandbox', () => {
  expect(pages.map(({ name }) => name).toSorted()).toEqual(Object.values(order).flat().toSorted())
})

it.for(Object.entries(order))(
  'the commands of pages with the sandbox %s print what they show',
  async ([name, names], ctx) => {
    const refusal = await findNamespaceProblem(runProcess)
    if (refusal !== undefined) ctx.skip(`no network namespace can be made here: ${refusal}`)
    const place = await takeClusterSlot()
    const cwd = path.join(folder, name)
    makeReaderFolder(cwd)
    await writeBackupKey(cwd)
    const env = { XDG_CACHE_HOME: path.dirname(cache) }
    const all = names.flatMap(pageCommands)
    const stop: PageCommand = { page: 'the end', line: 0, command: `stackloom sandbox reset --name ${name}` }
    try {
      expect(all).not.toEqual([])
      expect(runDocCommands(all, { bin, cwd, env })).toEqual([])
    } finally {
      runDocCommands([stop], { bin, cwd, env })
      await place.release()
    }
  },
)

/** As `age-keygen` of the guide to backups writes it. */
async function writeBackupKey(cwd: string): Promise<void> {
  const identity = await generateIdentity()
  writeFileSync(path.join(cwd, 'key.txt'), `${identity}\n`)
  writeFileSync(path.join(cwd, 'recipient.txt'), `${await identityToRecipient(identity)}\n`)
}

function pageCommands(name: string): readonly PageCommand[] {
  return findDocCommands(pages.find((page) => page.name === name)?.text ?? '')
    .filter(({ notRun }) => notRun === undefined)
    .map((command) => ({ ...command, page: name }))
}

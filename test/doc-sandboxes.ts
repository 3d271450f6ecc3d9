/** Runs the commands of pages that share a sandbox, in one shell and one folder, and removes the sandbox. */
import { symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { findDocCommands } from '../tools/doc-commands.ts'
import { buildForDocs, makeReaderFolder, type PageCommand, readDocPages, runDocCommands } from './doc-runner.ts'
import { sandboxContext } from './sandbox-context.ts'

/** The pages with commands for each sandbox, in the order in which they run; the page that starts it comes first. */
export const docSandboxes = {
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
  operator: ['docs/guide/operator.md', 'docs/guide/find-address.md'],
  default: ['docs/sandbox.md'],
  /** No sandbox: the package that test/real/packages/npm-package.test.ts serves. */
  npm: ['README.md', 'docs/guide/install.md', 'docs/guide/disconnected.md'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type DocSandbox = keyof typeof docSandboxes

/** Builds the program into a folder, and returns the folder for PATH, with kubectl. */
export async function buildForSandboxes(folder: string): Promise<string> {
  const bin = await buildForDocs(folder)
  const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
  symlinkSync(kubectl, path.join(bin, 'kubectl'))
  return bin
}

/** The commands of all pages for a sandbox. */
export function sandboxCommands(name: DocSandbox): readonly PageCommand[] {
  const pages = readDocPages()
  return docSandboxes[name].flatMap((page) =>
    findDocCommands(pages.find((candidate) => candidate.name === page)?.text ?? '')
      .filter(({ notRun, sandbox }) => notRun === undefined && sandbox === name)
      .map((command) => ({ ...command, page })),
  )
}

/** Returns the problems; the sandbox is removed in any case. */
export async function runInSandbox(
  name: DocSandbox,
  options: { readonly bin: string; readonly cwd: string; readonly prepare?: (cwd: string) => void },
): Promise<readonly string[]> {
  const { cache } = sandboxContext().paths
  const environment = { ...options, env: { XDG_CACHE_HOME: path.dirname(cache) } }
  makeReaderFolder(options.cwd)
  await writeBackupKey(options.cwd)
  options.prepare?.(options.cwd)
  const commands = sandboxCommands(name)
  try {
    return commands.length === 0 ? ['no commands'] : await runDocCommands(commands, environment)
  } finally {
    const command = [...new Set(['default', name])]
      .map((sandbox) => `stackloom sandbox reset --name ${sandbox}`)
      .join('; ')
    await runDocCommands([{ page: 'the end', line: 0, command }], environment)
  }
}

/** As `age-keygen` of the guide to backups writes it. */
async function writeBackupKey(cwd: string): Promise<void> {
  const identity = await generateIdentity()
  writeFileSync(path.join(cwd, 'key.txt'), `${identity}\n`)
  writeFileSync(path.join(cwd, 'recipient.txt'), `${await identityToRecipient(identity)}\n`)
}

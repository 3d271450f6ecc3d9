/** Runs the commands of pages that share a sandbox, in one shell and one folder, and removes the sandbox. */
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { findDocCommands } from '../tools/doc-commands.ts'
import { buildForDocs, makeReaderFolder, type PageCommand, readDocPages, runDocCommands } from './doc-runner.ts'
import { sandboxContext } from './sandbox-context.ts'

interface DocSandboxDefinition {
  /** In the order in which their commands run; the page that starts the sandbox comes first. */
  readonly pages: readonly string[]
  /** Runs them. */
  readonly test: string
}

const SANDBOX_TEST = 'test/real/packages/docs-sandbox.test.ts'

/** What commands need, by the name in the marks of pages: a sandbox, or what a test has otherwise. */
export const docSandboxes = {
  guide: {
    test: SANDBOX_TEST,
    pages: [
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
      'docs/guide/find-address.md',
      'docs/guide/dns.md',
      'docs/guide/gitops.md',
      'docs/guide/releases.md',
      'docs/guide/import.md',
    ],
  },
  dns: { test: SANDBOX_TEST, pages: ['docs/guide/dns.md'] },
  operator: { test: SANDBOX_TEST, pages: ['docs/guide/operator.md', 'docs/guide/find-address.md'] },
  default: { test: SANDBOX_TEST, pages: ['docs/sandbox.md'] },
  /** A cloud that install_yamls deployed. */
  adopt: { test: 'test/real/deploy/adopt-command.test.ts', pages: ['docs/guide/adopt.md'] },
  /** The package, on a registry. */
  npm: {
    test: 'test/real/packages/npm-package.test.ts',
    pages: ['README.md', 'docs/guide/install.md', 'docs/guide/disconnected.md'],
  },
  /** A clone of this checkout, in which commands start. */
  checkout: {
    test: 'test/real/packages/docs-commands.test.ts',
    pages: ['CONTRIBUTING.md', 'docs/guide/releases.md', 'docs/guide/install.md'],
  },
} as const satisfies Readonly<Record<string, DocSandboxDefinition>>

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
  const commands = docSandboxes[name].pages.flatMap((page) =>
    findDocCommands(pages.find((candidate) => candidate.name === page)?.text ?? '')
      .filter(({ notRun, sandbox }) => notRun === undefined && sandbox === name)
      .map((command) => ({ ...command, page })),
  )
  return [...commands.filter(({ isLast }) => !isLast), ...commands.filter(({ isLast }) => isLast)]
}

/** Returns the problems; the sandbox is removed in any case. */
export async function runInSandbox(
  name: DocSandbox,
  options: { readonly bin: string; readonly cwd: string; readonly prepare?: (cwd: string) => void },
): Promise<readonly string[]> {
  const { cache } = sandboxContext().paths
  const env = { XDG_CACHE_HOME: path.dirname(cache), CHECKOUT: process.cwd() }
  const environment = { ...options, env }
  await makeReaderFolder(options.cwd)
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

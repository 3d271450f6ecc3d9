/** Runs the commands of pages that share a sandbox, in one shell and one folder, and removes the sandbox. */
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { findDocCommands } from '../tools/doc-commands.ts'
import {
  buildForDocs,
  findCommandProblem,
  makeReaderFolder,
  type PageCommand,
  readDocPages,
  runDocCommands,
} from './doc-runner.ts'
import { sandboxContext } from './sandbox-context.ts'

export interface DocSandboxDefinition {
  /** In the order in which their commands run; the page that starts the sandbox comes first. */
  readonly pages: readonly string[]
  /** Runs them. */
  readonly test: string
  /** Whether the test runs them one by one, between its own steps, by `typeDocCommand`. */
  readonly isTyped?: true
}

const SANDBOX_TEST = 'test/real/packages/docs-sandbox.test.ts'
const PODS_TEST = 'test/real/pods/docs.test.ts'

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
      'docs/guide/plan.md',
      'docs/guide/node-sets.md',
      'docs/reference/environment.md',
    ],
  },
  dns: { test: SANDBOX_TEST, pages: ['docs/guide/dns.md'] },
  operator: { test: SANDBOX_TEST, pages: ['docs/guide/operator.md', 'docs/guide/find-address.md'] },
  default: { test: SANDBOX_TEST, pages: ['docs/sandbox.md'] },
  /** Objects of the Role/Node API and a host with SSH. */
  dataplane: { test: SANDBOX_TEST, pages: ['docs/guide/data-plane.md', 'docs/guide/data-plane-runs.md'] },
  /** Simulated pods. */
  installed: { test: SANDBOX_TEST, pages: ['docs/guide/operator.md'] },
  /** Only in `make soak`. */
  deployed: { test: SANDBOX_TEST, pages: ['docs/sandbox.md'] },
  /** Nodes that run pods, OLM and cert-manager; only in `make soak`. */
  pods: {
    test: PODS_TEST,
    pages: ['docs/sandbox.md', 'docs/guide/operator.md', 'docs/guide/alerts.md', 'docs/guide/verify.md'],
  },
  olm: { test: PODS_TEST, pages: ['docs/sandbox.md'] },
  'cert-manager': { test: PODS_TEST, pages: ['docs/sandbox.md'] },
  /** The services of two clouds; only in `make soak`. */
  openstack: {
    test: 'test/real/hosts/docs.test.ts',
    pages: ['docs/guide/openstack.md', 'docs/guide/add-node.md', 'docs/sandbox.md'],
  },
  /** Virtual machines; only in `make soak`. */
  rehearse: { test: 'test/real/rehearse/docs.test.ts', pages: ['docs/guide/rehearse.md'] },
  /** The CRDs of Argo CD and its operator. */
  gitops: { test: 'test/real/render/gitops-crds.test.ts', pages: ['docs/guide/gitops.md'] },
  /** A cloud that install_yamls deployed. */
  adopt: { test: 'test/real/deploy/adopt-command.test.ts', pages: ['docs/guide/adopt.md'] },
  removal: { test: 'test/real/deploy/host-removal.test.ts', pages: ['docs/guide/hosts.md'], isTyped: true },
  /** A cloud that is gone. */
  restore: { test: 'test/real/deploy/backup.test.ts', pages: ['docs/guide/backup.md'], isTyped: true },
  update: { test: 'test/real/deploy/update.test.ts', pages: ['docs/guide/update.md'], isTyped: true },
  /** Several clusters. */
  fleet: { test: 'test/real/deploy/fleet.test.ts', pages: ['docs/guide/fleet.md'], isTyped: true },
  /** The files of a release. */
  release: { test: 'test/real/packages/release.test.ts', pages: ['docs/guide/install.md'] },
  helm: { test: 'test/real/packages/operator-packages.test.ts', pages: ['docs/guide/operator.md'] },
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
  /** Another one, in `make soak`. */
  demo: { test: 'test/real/packages/docs-commands.test.ts', pages: ['README.md'] },
} as const satisfies Readonly<Record<string, DocSandboxDefinition>>

export type DocSandbox = keyof typeof docSandboxes

export const docSandboxNames = Object.keys(docSandboxes) as readonly DocSandbox[]

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

/** Without what a page says about the command behind it. */
export function withoutComment({ command }: Pick<PageCommand, 'command'>): string {
  return command.replace(/\s+# .*$/, '')
}

interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/**
 * Runs a `stackloom` command of a page with a function of the test, which may answer what the command would ask a reader.
 * Throws where the page has no such command, or where it ends or prints otherwise than the page says.
 */
export async function typeDocCommand(
  name: DocSandbox,
  text: string,
  run: (...words: readonly string[]) => Promise<CommandResult>,
): Promise<CommandResult> {
  const command = sandboxCommands(name).find((candidate) => withoutComment(candidate) === text)
  if (!command) throw new Error(`no page has \`${text}\` with the sandbox ${name}`)
  const result = await run(...text.split(' ').slice(1))
  const problem = findCommandProblem(command, result.code, `${result.err}${result.out}`)
  if (problem !== undefined) throw new Error(`${command.page}:${command.line}: ${text}: ${problem}`)
  return result
}

/** Returns the problems; the sandbox is removed in any case. */
export async function runInSandbox(
  name: DocSandbox,
  options: {
    readonly bin: string
    readonly cwd: string
    readonly env?: Readonly<Record<string, string>>
    readonly isIsolated?: boolean
    readonly prepare?: (cwd: string) => void
  },
): Promise<readonly string[]> {
  const { cache } = sandboxContext().paths
  const env = { XDG_CACHE_HOME: path.dirname(cache), CHECKOUT: process.cwd(), ...options.env }
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

/** Provides the root file system of hosts to tests: from the cache, or built where this run may build. */
import { beforeAll, beforeEach } from 'vitest'
import { judgeMachine, readMachineFacts } from '../src/sandbox/hosts/requirements.ts'
import { ensureRootFileSystem, findRootFileSystem, openstackRoot } from '../src/sandbox/hosts/root-file-system.ts'
import { isSoak, SOAK_ONLY } from './counts.ts'
import { sandboxContext } from './sandbox-context.ts'

/** The build takes about ten minutes, on a busy machine more. */
const PREPARE_MS = 3_600_000

/** Skips the tests of a file with the reason where no hosts can run. Returns a function that gives the folder. */
export function useRootFileSystem(): () => string {
  let found: { readonly root: string } | { readonly refusal: string }
  beforeAll(async () => {
    found = await prepareRootFileSystem()
  }, PREPARE_MS)
  beforeEach((context) => {
    if ('refusal' in found) context.skip(found.refusal)
  })
  return () => {
    if ('refusal' in found) throw new Error(found.refusal)
    return found.root
  }
}

export async function prepareRootFileSystem(): Promise<{ readonly root: string } | { readonly refusal: string }> {
  const [problem] = judgeMachine(await readMachineFacts(process.env))
  if (problem) return { refusal: `${problem.message}; ${problem.remedy}` }
  const context = sandboxContext()
  if (process.env['STACKLOOM_BUILD_ALL'] === '1') return { root: await ensureRootFileSystem(openstackRoot, context) }
  const root = await findRootFileSystem(openstackRoot, context.paths)
  if (root !== undefined) return { root }
  return { refusal: 'the root file system is not built, which takes ten minutes; `make test SUITE=hosts` builds it' }
}

/** The root of the nodes of a test, in the form of `useNodes`. */
export async function findHostRoot(): Promise<{ readonly folder: string } | { readonly refusal: string }> {
  const found = await prepareRootFileSystem()
  return 'root' in found ? { folder: found.root } : found
}

/** The same for files that only `make soak` runs, so that `make test` starts none of their hosts. */
export async function findSoakHostRoot(): ReturnType<typeof findHostRoot> {
  return isSoak() ? findHostRoot() : { refusal: SOAK_ONLY }
}

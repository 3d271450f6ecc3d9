/** Builds the programs and prepared data of the sandbox before the tests, so that no test waits for a compiler. */

import { processIo } from '../src/cli/io.ts'
import { formatFindings } from '../src/cli/output/findings.ts'
import { progressPrinter } from '../src/cli/sandbox/progress-printer.ts'
import { Failure } from '../src/errors/failure.ts'
import { loadReleases } from '../src/plan/release/releases.ts'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { ensureCrds } from '../src/sandbox/crds/crd-sets.ts'
import { ensurePreparedStore } from '../src/sandbox/prepare.ts'
import { type ProgramName, programs } from '../src/sandbox/programs.ts'
import { crdSets } from '../src/sandbox/settings.ts'
import { hasRelease, sandboxContext } from '../test/sandbox-context.ts'

/** Returns false when something failed; the reason is printed, and the tests that need it are skipped. */
export async function setUpSandbox(): Promise<boolean> {
  const io = processIo()
  const { notify, end } = progressPrinter(io)
  const context = { ...sandboxContext(notify), signal: io.stop }
  try {
    await ensurePrograms(Object.keys(programs) as ProgramName[], context)
    const releases = loadReleases()
      .map(({ name }) => name)
      .filter(hasRelease)
    for (const source of [...crdSets, ...releases]) {
      await ensurePreparedStore(await ensureCrds(source, context.ownCrds, context), context)
    }
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    end()
    io.stderr(formatFindings(error.findings, io.colour.stderr))
    if (error.exitCode === 130) process.exit(130)
    return false
  } finally {
    end()
  }
}

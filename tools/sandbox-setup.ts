/** Builds the programs and prepared data of the sandbox before the tests, so that no test waits for a compiler. */

import { processIo } from '../src/cli/io.ts'
import { formatFindings } from '../src/cli/output/findings.ts'
import { progressPrinter } from '../src/cli/sandbox/progress-printer.ts'
import { Failure } from '../src/errors/failure.ts'
import { loadReleases } from '../src/plan/release/releases.ts'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { ensureCrds } from '../src/sandbox/crds/crd-sets.ts'
import { ensurePreparedStore } from '../src/sandbox/prepare.ts'
import { requiredPrograms } from '../src/sandbox/program-table.ts'
import { type ProgramName, programs } from '../src/sandbox/programs.ts'
import { crdSets } from '../src/sandbox/settings.ts'
import { hasRelease, sandboxContext } from '../test/sandbox-context.ts'

/** All but those that only pods need: the suite `pods` builds them when it is named, and `sandbox start --pods`. */
function alwaysBuilt(): readonly ProgramName[] {
  const elsewhere: readonly ProgramName[] = [...requiredPrograms.core, ...usedByOtherTests]
  const all = Object.keys(programs) as readonly ProgramName[]
  const later: readonly ProgramName[] = [
    ...requiredPrograms.pods,
    ...requiredPrograms['cert-manager'],
    ...requiredPrograms.olm,
  ]
  return all.filter((name) => !later.includes(name) || elsewhere.includes(name))
}

/** Plugins that run without nodes, in namespaces of a test. */
const usedByOtherTests: readonly ProgramName[] = [
  'cni-bridge',
  'cni-macvlan',
  'cni-static',
  'metallb-speaker',
  'pause',
  'whereabouts',
]

/** Returns false when something failed; the reason is printed, and the tests that need it are skipped. */
export async function setUpSandbox(): Promise<boolean> {
  const io = processIo()
  const { notify, end } = progressPrinter(io)
  const context = { ...sandboxContext(notify), signal: io.stop }
  try {
    await ensurePrograms(alwaysBuilt(), context)
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

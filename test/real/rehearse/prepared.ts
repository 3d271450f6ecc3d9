/** Says whether a rehearsal can run in this test run: the machine fits, and its image need not be built first. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'vitest'
import { judgeHost, readHostFacts } from '../../../src/rehearse/requirements.ts'
import { sandboxContext } from '../../sandbox-context.ts'

export async function requireRehearsal(context: Pick<TestContext, 'skip'>): Promise<void> {
  const [unfit] = judgeHost(await readHostFacts(process.env))
  if (unfit) context.skip(`${unfit.message}; ${unfit.remedy}`)
  if (!hasSavedMachine() && !process.env['STACKLOOM_BUILD_ALL']) {
    context.skip('the node image is not built; `make test SUITE=rehearse` builds it')
  }
}

function hasSavedMachine(): boolean {
  const folder = path.join(sandboxContext().paths.cache, 'rehearse')
  return existsSync(folder) && readdirSync(folder).some((name) => /^machine-(kvm|tcg)-[0-9a-f]+$/.test(name))
}

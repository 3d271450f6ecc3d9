/** Sites imported from upstream's architecture, where STACKLOOM_ARCHITECTURE is a checkout of it. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'vitest'
import { hasErrors } from '../src/errors/finding.ts'
import type { Plan } from '../src/plan/plan.ts'
import { importArchitecture } from '../src/site/import/architecture.ts'
import { planTextForRelease } from './examples.ts'
import { TODAY } from './sandbox-context.ts'

export function requireArchitecture(context: Pick<TestContext, 'skip'>): string {
  const folder = process.env['STACKLOOM_ARCHITECTURE']
  return folder ?? context.skip("STACKLOOM_ARCHITECTURE names no checkout of upstream's architecture")
}

/** Those that the planner accepts, by the folder of their values file. */
export function planArchitecture(folder: string): ReadonlyMap<string, Plan> {
  const files = readdirSync(path.join(folder, 'examples'), { recursive: true, encoding: 'utf8' })
  const plans = new Map<string, Plan>()
  for (const name of files.filter((file) => file.endsWith('nncp/values.yaml')).sort()) {
    const file = path.join(folder, 'examples', name)
    const site = path.dirname(path.dirname(name))
    const { text } = importArchitecture([{ file, text: readFileSync(file, 'utf8') }], { name: 'imported' })
    const plan = text === undefined ? undefined : planTextForRelease(text, file, TODAY)
    if (plan && !hasErrors(plan.findings)) plans.set(site, plan)
  }
  return plans
}

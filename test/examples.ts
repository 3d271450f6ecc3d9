/** The example sites of `examples/`, planned as the program plans them. */
import { readdirSync, readFileSync } from 'node:fs'
import { hasErrors } from '../src/errors/finding.ts'
import { emptyLock } from '../src/plan/lock.ts'
import type { Plan } from '../src/plan/plan.ts'
import { planSite } from '../src/plan/planner.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import type { Era } from '../src/plan/slots/slots.ts'
import { readSite } from '../src/site/read.ts'
import { TODAY } from './sandbox-context.ts'

export const exampleSites: readonly string[] = readdirSync('examples')
  .filter((name) => name.endsWith('.yaml') && !name.startsWith('lab-'))
  .map((name) => name.replace('.yaml', ''))
  .sort()

/** Which form of the API an example is for. */
export function eraOfExample(name: string): Era {
  return name.endsWith('2023') ? '2023' : 'today'
}

/** The release whose CRDs each set of the sandbox has on this machine. */
const sandboxReleases = { today: TODAY, '2023': '2023' }

/** For the CRDs of the sandbox's sets; throws where the plan has errors. */
export function planExample(name: string, era: Era = eraOfExample(name)): Plan {
  const plan = planForRelease(name, sandboxReleases[era])
  if (hasErrors(plan.findings)) throw new Error(JSON.stringify(plan.findings))
  return plan
}

export function planForRelease(name: string, release: string): Plan {
  const file = `examples/${name}.yaml`
  return planTextForRelease(readFileSync(file), file, release)
}

/** A plan with errors is returned; a text that is no site is an error of the test. */
export function planTextForRelease(text: string | Uint8Array, file: string, release: string): Plan {
  const { site, findings, locate } = readSite(text, file)
  if (!site || hasErrors(findings)) throw new Error(JSON.stringify(findings))
  return planSite({ site, lock: emptyLock(site.name), slots: builtInTable(release), locate, findings }).plan
}

/** Plans the large site once and prints it as JSON: what `plan.memory` watches. */

import { emptyLock } from '../src/plan/lock.ts'
import { planJson } from '../src/plan/plan.ts'
import { planSite } from '../src/plan/planner.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import { largeSite } from './large-site.ts'

const site = largeSite(50)
const locate = () => ({ file: 'site.yaml', line: 1, column: 1 })
const { plan } = planSite({ site, lock: emptyLock(site.name), slots: builtInTable(), locate })
process.stdout.write(`${JSON.stringify(planJson(plan)).length}\n`)

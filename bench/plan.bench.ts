/** The planner at its largest: 50 clouds x 8 networks x 250 hosts, dual stack. */
import { findOverlaps } from '../src/net/overlaps.ts'
import type { Range } from '../src/net/range.ts'
import { emptyLock, type Lock } from '../src/plan/lock.ts'
import { planJson } from '../src/plan/plan.ts'
import { type PlanResult, planSite } from '../src/plan/planner.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import type { Site } from '../src/site/site.ts'
import type { Figure } from '../tools/figure.ts'
import { compare, once, ratio, runNode } from '../tools/measure.ts'
import { largeSite } from './large-site.ts'

const table = builtInTable()
const nowhere = { file: 'site.yaml', line: 1, column: 1 }

function plan(site: Site, lock: Lock = emptyLock(site.name)): PlanResult {
  return planSite({ site, lock, slots: table, locate: () => nowhere })
}

/** Spans of a hundred thousand subnets, in no order, none on another. */
function spans(count: number): readonly Range[] {
  const all = Array.from({ length: count }, (_, index): Range => {
    const at = BigInt((index * 7919) % count) << 8n
    return { family: index % 2 === 0 ? 4 : 6, first: at + 80n, last: at + 90n }
  })
  return all
}

/** Milliseconds of this process alone, collector included: other people's work on the machine does not count. */
function own(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const byStart = (a: Range, b: Range): number => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0)

const fifty = once(async () => largeSite(50))

export const figures: readonly Figure[] = [
  {
    name: 'plan.fifty-clouds',
    unit: 'x',
    target: { op: '<=', value: 5 },
    measure: async () => {
      const site = await fifty()
      const printed = planJson(plan(site).plan)
      return ratio({
        ours: () => own(() => plan(site)),
        theirs: () => own(() => JSON.stringify(printed)),
        rounds: 7,
        warmUp: 2,
      })
    },
  },
  {
    // The usual plan: nothing changed since the lock was written.
    name: 'plan.locked-against-first',
    unit: 'x',
    target: { op: '<=', value: 1 },
    measure: async () => {
      const site = await fifty()
      const { lock } = plan(site)
      // As a new process has it: nothing is known about it from an earlier plan.
      const copies = Array.from({ length: 23 }, () => structuredClone(lock))
      return ratio({
        ours: () => own(() => plan(site, copies.pop() ?? lock)),
        theirs: () => own(() => plan(site)),
        rounds: 21,
        warmUp: 2,
      })
    },
  },
  {
    name: 'plan.hundred-against-fifty',
    unit: 'x',
    target: { op: '<=', value: 2.3 },
    measure: async () => {
      const [small, large] = [await fifty(), largeSite(100)]
      const { ratio: figure } = await compare({
        ours: () => own(() => plan(large)),
        theirs: () => own(() => plan(small)),
        // A whole sweep of the heap falls into some rounds and not into others: enough of them for a steady median.
        rounds: 21,
        warmUp: 2,
      })
      return figure
    },
  },
  {
    name: 'plan.overlap-sweep',
    unit: 'x',
    target: { op: '<=', value: 5 },
    measure: () => {
      const all = spans(100_000)
      return ratio({
        ours: () => own(() => findOverlaps(all)),
        theirs: () => own(() => [...all].sort(byStart)),
        rounds: 11,
        warmUp: 2,
      })
    },
  },
  {
    name: 'plan.memory',
    unit: 'MiB',
    target: { op: '<=', value: 250 },
    measure: async () => {
      const run = await runNode(['--import', 'tsx', 'bench/plan-once.ts'])
      return run.peakMiB
    },
  },
]

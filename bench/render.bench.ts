/** Measures rendering: against writing the same YAML, its growth, and the whole command against bare Node. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { emptyLock } from '../src/plan/lock.ts'
import type { Plan } from '../src/plan/plan.ts'
import { planSite } from '../src/plan/planner.ts'
import { builtInTable } from '../src/plan/slots/built-in-crds.ts'
import { renderDocuments } from '../src/render/render.ts'
import { readSite } from '../src/site/read.ts'
import { writeYaml, writeYamlStream } from '../src/yaml/write.ts'
import type { Figure } from '../tools/figure.ts'
import { ratio, runProgram } from '../tools/measure.ts'

function siteText(clouds: number): string {
  return writeYaml({
    apiVersion: 'stackloom.dev/v1alpha1',
    kind: 'Site',
    metadata: { name: 'bench' },
    spec: {
      cluster: {
        dns: ['192.168.122.1'],
        nodes: [0, 1, 2].map((index) => ({ name: `worker-${index}`, nic: 'enp6s0' })),
      },
      addressing: { vlans: { first: 20, last: 4000 } },
      clouds: Array.from({ length: clouds }, (_, index) => ({
        name: `rhoso${index}`,
        namespace: `openstack${index}`,
      })),
    },
  })
}

function planOf(clouds: number): Plan {
  const { site, locate, findings } = readSite(siteText(clouds), 'site.yaml')
  if (!site) throw new Error(JSON.stringify(findings))
  return planSite({ site, lock: emptyLock(site.name), slots: builtInTable('today'), locate, findings }).plan
}

function rendered(plan: Plan): Buffer {
  return serialised(renderDocuments(plan).map(({ object }) => object))
}

/** Returns bytes, because V8 joins a concatenated string only when it is read. */
function serialised(objects: readonly unknown[]): Buffer {
  return Buffer.from(writeYamlStream(objects))
}

/** Cost per cloud: 1 means that a cloud costs the same among many as among few. */
async function growth(few: number, many: number): Promise<number> {
  const [small, large] = [planOf(few), planOf(many)]
  const cost = await ratio({
    ours: () => rendered(large),
    theirs: () => rendered(small),
    rounds: 9,
    warmUp: 2,
  })
  return cost / (many / few)
}

export const figures: readonly Figure[] = [
  {
    name: 'render.documents',
    unit: 'x of writing the same YAML, 50 clouds',
    target: { op: '<=', value: 1.5 },
    measure: () => {
      const plan = planOf(50)
      return ratio({
        ours: () => rendered(plan),
        theirs: () => {
          // Newly rendered objects, as ours are: their place in memory matters as much as the writing.
          const objects = renderDocuments(plan).map(({ object }) => object)
          const started = performance.now()
          serialised(objects)
          return performance.now() - started
        },
        rounds: 101,
        warmUp: 30,
      })
    },
  },
  {
    name: 'render.growth',
    unit: 'x per cloud, 200 clouds against 50',
    target: { op: '<=', value: 1.1 },
    measure: () => growth(50, 200),
  },
  {
    name: 'render.command',
    unit: 'x of a bare node, plan and render of 50 clouds',
    target: { op: '<=', value: 10 },
    measure: async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
      const site = path.join(folder, 'site.yaml')
      writeFileSync(site, siteText(50))
      try {
        return await ratio({
          ours: () => runProgram(process.execPath, ['bin/stackloom', 'render', '-f', site]),
          theirs: () => runProgram(process.execPath, ['-e', '0']),
          rounds: 11,
          warmUp: 1,
        })
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
  },
]

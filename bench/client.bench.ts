/** The Kubernetes client as a whole program, compared with kubectl on the same real API server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { build } from 'esbuild'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { startCluster } from '../test/cluster.ts'
import { sandboxContext } from '../test/sandbox-context.ts'
import type { Figure } from '../tools/figure.ts'
import { once, ratio, runProgram } from '../tools/measure.ts'

const OBJECTS = 200

const kinds = [
  { apiVersion: 'v1', kind: 'Namespace' },
  { apiVersion: 'v1', kind: 'ConfigMap' },
  { apiVersion: 'v1', kind: 'Service' },
  { apiVersion: 'v1', kind: 'Secret' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding' },
  { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' },
  { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' },
]
const resources =
  'namespaces,configmaps,services,secrets,clusterroles,clusterrolebindings,crds,ipaddresspools,l2advertisements'

interface Ratios {
  readonly apply: number
  readonly snapshot: number
}

/** One cluster for both figures; each side is a process from start to end. */
const measured = once(async (): Promise<Ratios> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
  const { cluster, stop } = await startCluster({ crds: 'today' })
  try {
    const program = path.join(folder, 'work.mjs')
    const banner = "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);"
    await build({
      entryPoints: ['bench/client-work.ts'],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      banner: { js: banner },
    })
    const file = (name: string, items: readonly object[]): string => {
      const at = path.join(folder, name)
      writeFileSync(at, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
      return at
    }
    const wanted = file('kinds.json', kinds)
    const ours = (...args: string[]) => runProgram(process.execPath, [program, cluster.kubeconfig, ...args])
    const theirs = (...args: string[]) => runProgram(kubectl, ['--kubeconfig', cluster.kubeconfig, ...args])
    // Each side has its own objects, because each field has one manager.
    const [own, other] = ['ours', 'theirs'].map((side) => file(`${side}.json`, configMaps(side)))
    return {
      apply: await ratio({
        ours: () => ours('apply', own ?? ''),
        theirs: () => theirs('apply', '--server-side', '-f', other ?? ''),
        rounds: 5,
      }),
      snapshot: await ratio({
        ours: () => ours('gather', wanted),
        theirs: () => theirs('get', resources, '-A', '-o', 'json'),
        rounds: 7,
      }),
    }
  } finally {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
})

function configMaps(side: string): readonly object[] {
  return Array.from({ length: OBJECTS }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `${side}-${index}`, namespace: 'default' },
    data: { key: 'x'.repeat(500) },
  }))
}

export const figures: readonly Figure[] = [
  {
    // No target: the API server does nearly all of this work for both.
    name: 'client.apply',
    unit: 'x',
    measure: async () => (await measured()).apply,
  },
  {
    name: 'client.snapshot',
    unit: 'x',
    target: { op: '<=', value: 1 },
    measure: async () => (await measured()).snapshot,
  },
]

/**
 * Measures how long each way of installing the operator takes on a real API server, until its Deployment is available. The pods
 * are simulated and ready at once, so this is the time of the tools; pulling the image and its start come on top of it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { getField, getString } from '../src/api/raw-object.ts'
import { main } from '../src/cli/main.ts'
import { ensurePrograms } from '../src/sandbox/build/ensure-programs.ts'
import { writeYaml } from '../src/yaml/write.ts'
import { type Cluster, startCluster } from '../test/cluster.ts'
import { testIo } from '../test/io.ts'
import { BUNDLE, bundleInstallation, bundleVersion, renderBundleCatalog, serveCatalog } from '../test/olm-bundle.ts'
import { prepareCluster, startActors } from '../test/real/deploy/deployment-fixture.ts'
import { sandboxContext } from '../test/sandbox-context.ts'
import type { Figure, Measured } from '../tools/figure.ts'
import { renderChart } from '../tools/release-chart.ts'
import { plainManifests } from '../tools/release-manifests.ts'
import { findTestProgram } from '../tools/test-programs.ts'

const release = { version: '1.2.3', image: 'localhost/stackloom:1.2.3', date: '2026-01-01' }
const DEPLOYMENT = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: BUNDLE, name: BUNDLE }

type Install = (cluster: Cluster, folder: string) => Promise<void>

/** Seconds from the first command to an available Deployment, in a cluster of its own. */
async function measure(install: Install, olm = false): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-bench-'))
  const { cluster, stop } = await startCluster({ crds: olm ? 'today' : 'none', controllerManager: true, olm })
  try {
    await prepareCluster(cluster.client, ['worker-0'])
    const actors = startActors(cluster.connection, ['kubelet'], 20, olm ? ['olm'] : [])
    try {
      const began = performance.now()
      await install(cluster, folder)
      await waitUntil(async () => {
        const deployment = await cluster.client.get(DEPLOYMENT)
        const wanted = Number(getField(deployment, 'spec', 'replicas') ?? 1)
        return Number(getField(deployment, 'status', 'availableReplicas') ?? 0) >= wanted
      })
      return (performance.now() - began) / 1000
    } finally {
      await actors.stop()
    }
  } finally {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function waitUntil(isReady: () => Promise<boolean>): Promise<void> {
  while (!(await isReady())) await new Promise((resolve) => setTimeout(resolve, 50))
}

function run(program: string, args: readonly string[], { kubeconfig }: Cluster, home: string): void {
  const env = { PATH: process.env['PATH'], HOME: home, KUBECONFIG: kubeconfig }
  const { status, stderr } = spawnSync(program, args, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

async function installByCommand({ kubeconfig }: Cluster): Promise<void> {
  const io = testIo()
  const code = await main(['operator', 'install', '--image', release.image, '--kubeconfig', kubeconfig], io)
  if (code !== 0) throw new Error(io.err())
}

async function installManifests(cluster: Cluster, folder: string): Promise<void> {
  const { kubectl } = await ensurePrograms(['kubectl'], sandboxContext())
  const file = path.join(folder, 'operator.yaml')
  writeFileSync(
    file,
    plainManifests(release)
      .map((object) => `---\n${writeYaml(object)}`)
      .join(''),
  )
  run(kubectl, ['apply', '--server-side', '-f', file], cluster, folder)
}

async function measureHelm(): Promise<Measured> {
  const helm = await findTestProgram('helm')
  if (helm === undefined) return { unavailable: 'helm is not built; `make test SUITE=packages` builds it' }
  return measure(async (cluster, folder) => {
    const chart = path.join(folder, BUNDLE)
    for (const [name, text] of renderChart(release)) {
      mkdirSync(path.dirname(path.join(chart, name)), { recursive: true })
      writeFileSync(path.join(chart, name), text)
    }
    run(helm, ['install', BUNDLE, chart, '-n', BUNDLE, '--create-namespace'], cluster, folder)
  })
}

/** From the Subscription on. */
async function installBundle(cluster: Cluster, folder: string): Promise<void> {
  mkdirSync(path.join(folder, 'catalog'))
  writeFileSync(path.join(folder, 'catalog/catalog.json'), renderBundleCatalog(release))
  const { opm } = await ensurePrograms(['opm'], sandboxContext())
  const [file = '', ...args] = [...cluster.inside, opm, ...serveCatalog(folder)]
  const catalog = spawn(file, args, { stdio: 'ignore' })
  try {
    for (const object of bundleInstallation()) await cluster.client.apply(object, { fieldManager: 'bench' })
    const csv = bundleVersion(release)
    await waitUntil(async () => getString(await cluster.client.get(csv), 'status', 'phase') === 'Succeeded')
  } finally {
    catalog.kill('SIGKILL')
  }
}

export const figures: readonly Figure[] = [
  { name: 'packages.operator-install', unit: 's', measure: () => measure(installByCommand) },
  { name: 'packages.manifests', unit: 's', measure: () => measure(installManifests) },
  { name: 'packages.helm', unit: 's', measure: measureHelm },
  { name: 'packages.olm', unit: 's', measure: () => measure(installBundle, true) },
]

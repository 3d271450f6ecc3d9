/** Installs the operator's bundle with OLM itself, from a catalog that opm serves. The pods are simulated. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { getString } from '../../../src/api/raw-object.ts'
import { ensurePrograms } from '../../../src/sandbox/build/ensure-programs.ts'
import { useCluster } from '../../cluster.ts'
import { BUNDLE, bundleInstallation, bundleVersion, renderBundleCatalog, serveCatalog } from '../../olm-bundle.ts'
import { sandboxContext } from '../../sandbox-context.ts'
import { prepareCluster, startActors } from '../deploy/deployment-fixture.ts'

const release = { version: '1.2.3', image: 'localhost/stackloom:1.2.3', date: '2026-01-01' }
const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-olm-'))

describe('OLM', { timeout: 300_000 }, () => {
  const cluster = useCluster({ crds: 'today', controllerManager: true, olm: true })
  let opm: ChildProcess | undefined
  afterAll(() => {
    opm?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  it('installs the bundle of the operator, and removes it with its version', async () => {
    mkdirSync(path.join(folder, 'catalog'))
    writeFileSync(path.join(folder, 'catalog/catalog.json'), renderBundleCatalog(release))
    const program = (await ensurePrograms(['opm'], sandboxContext())).opm
    const [file = '', ...args] = [...cluster.inside, program, ...serveCatalog(folder)]
    opm = spawn(file, args, { stdio: 'ignore' })
    await prepareCluster(cluster.client, ['worker-0'])
    const actors = startActors(cluster.connection, ['kubelet'], 20, ['olm'])
    try {
      for (const object of bundleInstallation()) await cluster.client.apply(object, { fieldManager: 'test' })
      const csv = bundleVersion(release)
      const phase = async (): Promise<string | undefined> =>
        getString(await cluster.client.get(csv), 'status', 'phase') ?? undefined
      await expect.poll(phase, { timeout: 240_000, interval: 250 }).toBe('Succeeded')
      const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: BUNDLE, name: BUNDLE }
      expect(await cluster.client.get(deployment)).toMatchObject({
        spec: { template: { spec: { containers: [{ image: release.image, args: ['operator', 'run'] }] } } },
      })
      await cluster.client.delete(csv)
      const left = async (): Promise<unknown> => cluster.client.get(deployment)
      await expect.poll(left, { timeout: 240_000, interval: 250 }).toBeUndefined()
    } finally {
      await actors.stop()
    }
  })
})

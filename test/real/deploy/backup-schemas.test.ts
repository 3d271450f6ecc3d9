/** Tests that a real API server with the CRDs of the tools that a backup uses accepts what is rendered for them. */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { loadAll } from 'js-yaml'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { renderVolumeBackup, renderVolumeRestore } from '../../../src/backup/velero.ts'
import { Failure } from '../../../src/errors/failure.ts'
import { runProcess } from '../../../src/exec/process.ts'
import { fetchCrdFiles } from '../../../src/sandbox/crds/crd-modules.ts'
import { useCluster } from '../../cluster.ts'
import { requireSoak } from '../../counts.ts'
import { useFolder } from '../../folder.ts'

const velero = {
  module: 'github.com/vmware-tanzu/velero',
  version: 'v1.18.3',
  sum: 'h1:9uwN5yxTWQl9PsF5ljX4xiG+7VIq3I9mxOQ0DyyZ31A=',
  files: 'config/crd/v1/bases/velero.io_*.yaml',
  sets: [],
}

// No cluster is started where the test is skipped.
if (process.env['STACKLOOM_SOAK']) describe('the CRDs of Velero', { timeout: 300_000 }, testVelero)
else it('the CRDs of Velero accept what is rendered', requireSoak)

function testVelero(): void {
  const cluster = useCluster()
  const folder = useFolder()
  let missing: string | undefined

  beforeAll(async () => {
    const scratch = path.join(folder, 'modules')
    await mkdir(scratch)
    const files = await fetchCrdFiles({ modules: [velero] }, scratch, runProcess).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error
      missing = error.message
      return []
    })
    const crds = files.flatMap(({ text }) => loadAll(text) as readonly KubeObject[])
    for (const crd of crds) await cluster.client.apply(crd, { fieldManager: 'test' })
    const isServed = async () => Boolean(await cluster.client.resource({ apiVersion: 'velero.io/v1', kind: 'Restore' }))
    if (crds.length > 0) await vi.waitUntil(isServed, { timeout: 120_000, interval: 500 })
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'openshift-adp' } }
    await cluster.client.apply(namespace, { fieldManager: 'test' })
  }, 600_000)

  it('accept a backup and a restore of volumes, with every field', async (context) => {
    if (missing !== undefined) context.skip(missing)
    const backup = renderVolumeBackup({
      name: 'rhoso1-1',
      namespace: 'openstack',
      veleroNamespace: 'openshift-adp',
      storageLocation: 'default',
    })
    const [modifiers, restore] = renderVolumeRestore({
      backup: { namespace: 'openshift-adp', name: 'rhoso1-1' },
      namespace: 'openstack',
    })
    for (const object of [backup, modifiers, restore]) {
      const written = await cluster.client.apply(object, { fieldManager: 'test' })
      // A field that the schema does not have would be dropped.
      expect(written).toMatchObject({ ...object, metadata: { name: object.metadata.name } })
    }
  })
}

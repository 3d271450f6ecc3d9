/** Records the lock of a large site in the ConfigMap of a real API server, which holds 1 MiB at most. */
import { expect, it } from 'vitest'
import { largeSite } from '../../../bench/large-site.ts'
import { ensureSystemNamespace, readInventory, writeInventory } from '../../../src/deploy/inventory.ts'
import { emptyLock } from '../../../src/plan/lock.ts'
import { planSite } from '../../../src/plan/planner.ts'
import { builtInTable } from '../../../src/plan/slots/built-in-crds.ts'
import { writeLock } from '../../../src/plan/written-lock.ts'
import { useCluster } from '../../cluster.ts'

const cluster = useCluster({ crds: 'none' })

it('the lock of 20 clouds with 250 hosts each is recorded and read again', { timeout: 120_000 }, async () => {
  const site = largeSite(20)
  const locate = () => ({ file: 'site.yaml', line: 1, column: 1 })
  const lock = writeLock(planSite({ site, lock: emptyLock(site.name), slots: builtInTable(), locate }).lock)
  expect(lock.length).toBeGreaterThan(2 * 1024 * 1024)
  await ensureSystemNamespace(cluster.client)
  await writeInventory(cluster.client, { site: site.name, objects: [], lock: 'before: true\n' })
  await writeInventory(cluster.client, { site: site.name, objects: [], lock })
  expect((await readInventory(cluster.client))?.lock === lock).toBe(true)
})

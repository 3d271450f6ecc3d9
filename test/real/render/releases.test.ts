import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { hasErrors } from '../../../src/errors/finding.ts'
import { readCrd } from '../../../src/plan/release/read-crd.ts'
import { loadReleases, releaseKinds } from '../../../src/plan/release/releases.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { type Cluster, useCluster } from '../../cluster.ts'
import { exampleSites, planForRelease } from '../../examples.ts'
import { applyObjects } from './accepted.ts'

const FOLDER = '../shared/crds'
const known: readonly string[] = releaseKinds
const releases = loadReleases()
  .map(({ name }) => name)
  .filter((name) => existsSync(path.join(FOLDER, name)))

/** Creates the CRDs of a release and waits until the server serves their kinds. */
async function installCrds({ client }: Cluster, release: string): Promise<void> {
  const folder = path.join(FOLDER, release)
  const crds = readdirSync(folder)
    .map((file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as KubeObject)
    .map((crd) => ({ crd, reading: readCrd(crd) }))
    .filter(({ reading }) => known.includes(reading.kind ?? ''))
  for (const { crd } of crds) await client.apply(crd, { fieldManager: 'administrator' })
  for (const { reading } of crds) {
    if (reading.result !== 'read') continue
    const isServed = (): Promise<boolean> =>
      client.list({ apiVersion: reading.apiVersion, kind: reading.kind }).then(
        () => true,
        () => false,
      )
    while (!(await isServed())) await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe.skipIf(releases.length === 0)('documents for each release (needs the CRDs in ../shared/crds)', () => {
  it('are tested with the CRDs of the default release', () => {
    expect(releases).toContain('18.0-fr6')
  })

  describe.each(releases)('%s', (release) => {
    const cluster = useCluster({ crds: 'none' })
    beforeAll(() => installCrds(cluster, release), 60_000)

    it.each(exampleSites)(
      'are accepted by an API server with its CRDs: %s',
      async (name) => {
        const plan = planForRelease(name, release)
        // Only a service that the release lacks is an error, and its documents are never applied.
        if (hasErrors(plan.findings)) {
          expect([release, name]).toEqual(['18.0-fr1', 'every-service'])
          return
        }
        const objects = renderDocuments(plan)
          .map(({ object }) => object)
          .filter(({ kind }) => kind === 'Namespace' || known.includes(kind))
        const { applied, problems } = await applyObjects(objects, cluster)
        expect(problems).toEqual([])
        expect(applied).toBeGreaterThan(3)
      },
      60_000,
    )
  })
})

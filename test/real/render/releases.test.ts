import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { readCrd } from '../../../src/plan/release/read-crd.ts'
import { loadReleases, releaseKinds } from '../../../src/plan/release/releases.ts'
import { type Cluster, useCluster } from '../../cluster.ts'
import { judgeObjects } from './accepted.ts'
import { matrixSites, renderForRelease } from './release-matrix.ts'

const FOLDER = '../shared/crds'
const known: readonly string[] = releaseKinds
const releases = loadReleases()
  .map(({ name }) => name)
  .filter((name) => existsSync(path.join(FOLDER, name)))

/** Sites that are rendered for every release, so that no group is skipped as a whole. */
const minimum = { examples: 7, samples: 3, generated: 6 }

const CRD = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' }

/** Replaces the CRDs, with all objects of their kinds, and waits until the server serves the new ones. */
async function installCrds({ client }: Cluster, release: string): Promise<void> {
  const isOurs = (crd: KubeObject): boolean => known.includes(readCrd(crd).kind ?? '')
  const old = (await client.list(CRD)).items.filter(isOurs)
  for (const { metadata } of old) await client.delete({ ...CRD, name: metadata.name })
  for (const { metadata } of old) {
    await until(async () => (await client.get({ ...CRD, name: metadata.name })) === undefined)
  }
  const folder = path.join(FOLDER, release)
  const crds = readdirSync(folder)
    .map((file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as KubeObject)
    .filter(isOurs)
  for (const crd of crds) await client.apply(crd, { fieldManager: 'administrator' })
  for (const reading of crds.map(readCrd)) {
    if (reading.result !== 'read') continue
    const { apiVersion, kind } = reading
    await until(() =>
      client.list({ apiVersion, kind }).then(
        () => true,
        () => false,
      ),
    )
  }
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await new Promise((resolve) => setTimeout(resolve, 100))
}

describe.skipIf(releases.length === 0)('documents for each release (needs the CRDs in ../shared/crds)', () => {
  it('are tested with the CRDs of the default release', () => {
    expect(releases).toContain('18.0-fr6')
  })

  const cluster = useCluster({ crds: 'none' })

  describe.each(releases)('%s', (release) => {
    beforeAll(() => installCrds(cluster, release), 90_000)

    it.each(['examples', 'samples', 'generated'] as const)(
      'are accepted by an API server with its CRDs: %s',
      async (group) => {
        const sites = matrixSites(group, release).map((site) => renderForRelease(site, release))
        // Only what the release lacks is an error, and such documents are never applied.
        expect(sites.flatMap(({ errors }) => errors)).toEqual(
          release === '18.0-fr1' && group === 'examples' ? ['every-service: SL3003'] : [],
        )
        const accepted = sites.filter(({ objects }) => objects.length > 0)
        expect(accepted.length).toBeGreaterThanOrEqual(minimum[group])
        const { applied, problems } = await judgeObjects(
          accepted.flatMap(({ objects }) => objects),
          cluster,
        )
        expect(problems).toEqual([])
        expect(applied).toBeGreaterThan(accepted.length)
      },
      600_000,
    )
  })
})

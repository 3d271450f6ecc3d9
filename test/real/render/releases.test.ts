import { describe, expect, it } from 'vitest'
import { loadReleases } from '../../../src/plan/release/releases.ts'
import { useCluster } from '../../cluster.ts'
import { describeWithRelease } from '../../releases.ts'
import { hasRelease } from '../../sandbox-context.ts'
import { judgeObjects } from './accepted.ts'
import { matrixSites, renderForRelease } from './release-matrix.ts'

const releases = loadReleases()
  .map(({ name }) => name)
  .filter(hasRelease)

/** Sites that are rendered for every release, so that no group is skipped as a whole. */
const minimum = { examples: 7, samples: 3, generated: 6 }

describeWithRelease('18.0-fr6', 'documents for each release', () => {
  it('are tested with the CRDs of the default release', () => {
    expect(releases).toContain('18.0-fr6')
  })

  describe.each(releases)('%s', (release) => {
    const cluster = useCluster({ crds: release })

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

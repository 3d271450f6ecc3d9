import { beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../src/api/object.ts'
import { renderDocuments } from '../../../src/render/render.ts'
import { PINNED_RELEASE } from '../../../src/sandbox/crds/release-folders.ts'
import { useCluster } from '../../cluster.ts'
import { eraOfExample, exampleSites, planForRelease } from '../../examples.ts'
import { applyAll, judgeObjects } from './accepted.ts'
import { isHarmless } from './harmless.ts'
import { useAdmission } from './openstack-admission.ts'

const examples = exampleSites.filter((name) => eraOfExample(name) === 'today')
const render = (name: string): readonly KubeObject[] =>
  renderDocuments(planForRelease(name, PINNED_RELEASE)).map(({ object }) => object)

/** The first object of a kind, changed. */
function changed(objects: readonly KubeObject[], kind: string, change: (object: Editable) => void): KubeObject {
  const found = objects.find((object) => object.kind === kind)
  if (!found) throw new Error(`no ${kind} was rendered`)
  const copy = structuredClone(found) as unknown as Editable
  change(copy)
  return copy as unknown as KubeObject
}

/** The fields that tests change. */
interface Editable {
  metadata: { name: string }
  spec: { placement: { enabled: boolean }; networks: { subnets: { allocationRanges: unknown }[] }[] }
}

describe(`the operators' own admission (modules ${PINNED_RELEASE})`, () => {
  const cluster = useCluster({ crds: PINNED_RELEASE })
  const admission = useAdmission(cluster)

  const dryRun = (object: KubeObject) => cluster.client.apply(object, { fieldManager: 'stackloom', dryRun: true })

  it.each(examples)(
    'accepts every object of an example and keeps its fields: %s',
    async (name) => {
      const { applied, problems } = await judgeObjects(render(name), cluster)
      expect(problems.filter((problem) => !isHarmless(problem))).toEqual([])
      expect(applied).toBeGreaterThan(20)
    },
    300_000,
  )

  describe('of deployed clouds', () => {
    const objects = render('two-clouds')
    const update = (kind: string, change: (object: Editable) => void) => dryRun(changed(objects, kind, change))

    beforeAll(async () => {
      if (!admission.running) return
      const { problems } = await applyAll(planForRelease('two-clouds', PINNED_RELEASE), cluster)
      expect(problems.filter((problem) => !isHarmless(problem))).toEqual([])
    }, 300_000)

    it('accepts the same objects again', async () => {
      const { problems } = await applyAll(planForRelease('two-clouds', PINNED_RELEASE), cluster)
      expect(problems.filter((problem) => !isHarmless(problem))).toEqual([])
    }, 300_000)

    it('refuses a second control plane in a namespace', async () => {
      const second = update('OpenStackControlPlane', ({ metadata }) => (metadata.name = 'second'))
      await expect(second).rejects.toThrow('Only one OpenStackControlPlane instance per namespace')
    })

    it('refuses nova without placement', async () => {
      const without = update('OpenStackControlPlane', ({ spec }) => (spec.placement.enabled = false))
      await expect(without).rejects.toThrow('Nova requires these services to be enabled')
    })

    it('refuses a version that the operator does not have', async () => {
      const version: KubeObject = {
        apiVersion: 'core.openstack.org/v1beta1',
        kind: 'OpenStackVersion',
        metadata: { name: 'another', namespace: 'default' },
        spec: { targetVersion: '9.9.9' },
      }
      await expect(dryRun(version)).rejects.toThrow('must equal available version')
    })

    it('refuses a subnet whose range is outside its CIDR', async () => {
      const outside = update('NetConfig', ({ spec }) => {
        for (const subnet of spec.networks.flatMap(({ subnets }) => subnets)) {
          subnet.allocationRanges = [{ start: '198.51.100.10', end: '198.51.100.20' }]
        }
      })
      await expect(outside).rejects.toThrow('allocationRanges')
    })

    it('refuses a second NetConfig in a namespace', async () => {
      const second = update('NetConfig', ({ metadata }) => (metadata.name = 'second'))
      await expect(second).rejects.toThrow('There can only be one')
    })
  })
})

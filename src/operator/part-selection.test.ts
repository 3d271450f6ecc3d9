import { describe, expect, it } from 'vitest'
import { weatherAgents, weatherService } from '../../test/weather-service.ts'
import type { GroupVersionKind } from '../api/object.ts'
import { createDataPlanePart } from '../dataplane/operator-part.ts'
import { nodeServices } from '../dataplane/service-definitions/all.ts'
import type { KubeReader } from '../kube/client.ts'
import { selectParts } from './part-selection.ts'

const part = createDataPlanePart([...nodeServices, weatherService])

/** Serves every kind but these, and no NodeSets. */
const clusterWithout = (...kinds: readonly string[]): Pick<KubeReader, 'resource'> => ({
  resource: async (kind: GroupVersionKind) =>
    [...kinds, 'OpenStackDataPlaneNodeSet'].includes(kind.kind)
      ? undefined
      : { ...kind, plural: `${kind.kind.toLowerCase()}s`, namespaced: true, verbs: [] },
})
const select = async (...missing: readonly string[]) => {
  const { parts, skipped } = await selectParts(clusterWithout(...missing), [part], undefined, true)
  return { parts: parts.map(({ name }) => name), skipped: skipped.map(({ message }) => message) }
}

describe('selectParts', () => {
  it('selects the whole data plane where every kind is served', async () => {
    expect(await select()).toEqual({ parts: ['dataplane'], skipped: [] })
  })

  it('selects the data plane without a service whose kinds are not served, and names it', async () => {
    expect(await select(weatherAgents.kind)).toEqual({
      parts: ['dataplane'],
      skipped: ['the cluster does not serve weather.example.org/v1 WeatherAgent, which weather needs'],
    })
    expect(await select('NovaCell')).toEqual({
      parts: ['dataplane'],
      skipped: ['the cluster does not serve nova.openstack.org/v1beta1 NovaCell, which nova needs'],
    })
  })

  it('skips the data plane where nodes are not served', async () => {
    const { parts, skipped } = await select('OpenStackDataPlaneNode')
    expect(parts).toEqual([])
    expect(skipped).toHaveLength(1)
  })
})

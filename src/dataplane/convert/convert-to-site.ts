/**
 * Converts roles and nodes to `hosts` and `nodeSets` of a cloud in a site file, by way of the NodeSets that they become.
 *
 * Pure. The site file renders nova services itself; other services stay objects of the user and are reported.
 */
import { asRecord, asString, asStrings } from '../../api/json.ts'
import type { KubeObject } from '../../api/object.ts'
import type { SiteFileCloud } from '../../api/site.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { addNodeSets, type NodeSetSource, nodeSetSources } from '../../site/import/node-sets.ts'
import { notConverted } from '../findings/runs.ts'
import type { ConvertedDataPlane } from './convert-data-plane.ts'

export interface SiteDataPlane {
  /** What to add to the cloud. */
  readonly cloud: Pick<SiteFileCloud, 'services' | 'hosts' | 'nodeSets'>
  readonly findings: readonly Finding[]
}

export function convertToSite({ objects, findings: converted }: ConvertedDataPlane): SiteDataPlane {
  const ofKind = (kind: string): readonly KubeObject[] => objects.filter((object) => object.kind === kind)
  const services = ofKind('OpenStackDataPlaneService')
  const findings: Finding[] = [...converted]
  const sources = nodeSetSources(ofKind('OpenStackDataPlaneNodeSet'), services).map((source) =>
    useRenderedNova(source, ofKind('ConfigMap')),
  )
  for (const { metadata, spec } of services as readonly (KubeObject & { readonly spec?: unknown })[]) {
    if (asRecord(spec)['edpmServiceType'] === 'nova') continue
    const why = 'a site file names services, but does not define them; apply the object of `dataplane convert`'
    findings.push(finding(notConverted, { what: `OpenStackDataPlaneService ${metadata.name}`, why }))
  }
  const {
    name: _,
    namespace: __,
    ...cloud
  } = addNodeSets({ name: '', namespace: '' }, sources, {
    networks: undefined,
    findings,
  })
  return { cloud, findings }
}

/** A configuration becomes `novaConfig`; without one, the set runs the nova service that the site file gives its cell. */
function useRenderedNova(source: NodeSetSource, configMaps: readonly KubeObject[]): NodeSetSource {
  const config = configMaps.find(({ metadata }) => metadata.name === `${source.name}-nova-config`)
  const novaConfig = asString(asRecord(config?.['data'])['25-nova-custom.conf'])
  if (novaConfig !== undefined) return { ...source, novaConfig }
  const services = asStrings(source.spec['services']).map((service) =>
    service.startsWith('nova-of-') ? `nova-${source.cell ?? 'cell1'}` : service,
  )
  return { ...source, spec: { ...source.spec, services } }
}

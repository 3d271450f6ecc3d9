/** Completes objects of OpenStack kinds that were stored without a spec, which their CRDs allow. Pure. */
import type { KubeObject } from './object.ts'

/** The lists that every object of these kinds has. */
const emptySpecs: ReadonlyMap<string, object> = new Map([
  ['NetConfig', { networks: [] }],
  ['IPSet', { networks: [] }],
  ['Reservation', { ipSetRef: {}, reservation: {} }],
])

/** Controllers read fields of the spec, also in indexes and metrics of all namespaces. */
export function withSpec(object: KubeObject): KubeObject {
  const isOpenStack = /\.openstack\.org\//.test(object.apiVersion)
  if (!isOpenStack || (typeof object['spec'] === 'object' && object['spec'] !== null)) return object
  return { ...object, spec: emptySpecs.get(object.kind) ?? {} }
}

/**
 * How the lookout follows a kind: what it asks the server for, and what it keeps of the answer.
 *
 * That is the kind's own, not the asker's: each kind is followed once, for everybody who asks in a run.
 */
import { type GroupVersionKind, type KubeObject, withoutManagedFields } from '../api/object.ts'
import { formatGroupKind } from '../api/snapshot.ts'
import type { Source } from '../kube/cache.ts'

/** Of events the warnings: all of them come by the thousand. */
export function watchSource({ apiVersion, kind }: GroupVersionKind): Source {
  const source = { kind: { apiVersion, kind } }
  return formatGroupKind(source.kind) === 'Event' ? { ...source, fieldSelector: 'type=Warning' } : source
}

/** Kinds that we neither write nor delete and that are many or long: who wrote what of them is half their size. */
const readOnlyKinds = new Set([
  'Event',
  'Node',
  'Pod',
  'apps/Deployment',
  'batch/Job',
  'cert-manager.io/Certificate',
  'discovery.k8s.io/EndpointSlice',
  'nmstate.io/NodeNetworkConfigurationEnactment',
])

/** What is kept of an object. Values of Secrets stay out of our memory: that one is there is all that a wait asks. */
export function trimObject(object: KubeObject): KubeObject {
  const groupKind = formatGroupKind(object)
  if (groupKind === 'Secret') {
    const { data: _data, stringData: _stringData, ...rest } = object
    return rest
  }
  if (!readOnlyKinds.has(groupKind)) return object
  const kept = withoutManagedFields(object)
  if (groupKind !== 'Pod') return kept
  const spec = object['spec'] as { readonly nodeName?: string } | undefined
  return { ...kept, spec: { nodeName: spec?.nodeName } }
}

/** The kinds that readiness looks at beside the applied objects, by what is being waited for. */
import type { GroupVersionKind } from '../../api/object.ts'

const kind = (apiVersion: string, name: string): GroupVersionKind => ({ apiVersion, kind: name })

const pods = kind('v1', 'Pod')
const services = kind('v1', 'Service')
const events = kind('v1', 'Event')
const endpoints = kind('discovery.k8s.io/v1', 'EndpointSlice')
const deployments = kind('apps/v1', 'Deployment')

export const aroundNodes: readonly GroupVersionKind[] = [
  kind('v1', 'Node'),
  kind('nmstate.io/v1beta1', 'NodeNetworkConfigurationEnactment'),
]

export const aroundControlPlane: readonly GroupVersionKind[] = [
  pods,
  services,
  events,
  kind('v1', 'PersistentVolumeClaim'),
  kind('batch/v1', 'Job'),
  kind('storage.k8s.io/v1', 'StorageClass'),
]

export const aroundDataPlane: readonly GroupVersionKind[] = [pods, kind('batch/v1', 'Job')]

export const aroundOperators: readonly GroupVersionKind[] = [
  pods,
  services,
  endpoints,
  deployments,
  kind('operators.coreos.com/v1alpha1', 'Subscription'),
  kind('operators.coreos.com/v1alpha1', 'ClusterServiceVersion'),
]

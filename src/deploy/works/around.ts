/** The kinds that readiness looks at beside the applied objects, by what is being waited for. */
import type { FollowedKind } from '../lookout.ts'

const slim = (apiVersion: string, kind: string): FollowedKind => ({ apiVersion, kind, slim: true })

const pods = slim('v1', 'Pod')
const services = slim('v1', 'Service')
const warnings: FollowedKind = { ...slim('v1', 'Event'), fieldSelector: 'type=Warning' }
const endpoints = slim('discovery.k8s.io/v1', 'EndpointSlice')
const deployments = slim('apps/v1', 'Deployment')

export const aroundNodes: readonly FollowedKind[] = [
  slim('v1', 'Node'),
  slim('nmstate.io/v1beta1', 'NodeNetworkConfigurationEnactment'),
]

export const aroundControlPlane: readonly FollowedKind[] = [
  pods,
  services,
  warnings,
  slim('v1', 'PersistentVolumeClaim'),
  slim('batch/v1', 'Job'),
  slim('storage.k8s.io/v1', 'StorageClass'),
]

export const aroundDataPlane: readonly FollowedKind[] = [pods, slim('batch/v1', 'Job')]

export const aroundOperators: readonly FollowedKind[] = [
  pods,
  services,
  endpoints,
  deployments,
  { apiVersion: 'operators.coreos.com/v1alpha1', kind: 'Subscription' },
  slim('operators.coreos.com/v1alpha1', 'ClusterServiceVersion'),
]

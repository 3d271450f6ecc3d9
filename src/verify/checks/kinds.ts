/** The kinds that checks look at. Matched by group: another version of a kind is the same kind. */

export const SERVICE = { apiVersion: 'v1', kind: 'Service' } as const
export const POD = { apiVersion: 'v1', kind: 'Pod' } as const
export const NODE = { apiVersion: 'v1', kind: 'Node' } as const
export const EVENT = { apiVersion: 'v1', kind: 'Event' } as const
export const POOL = { apiVersion: 'metallb.io/v1beta1', kind: 'IPAddressPool' } as const
export const L2_ADVERTISEMENT = { apiVersion: 'metallb.io/v1beta1', kind: 'L2Advertisement' } as const
export const BGP_ADVERTISEMENT = { apiVersion: 'metallb.io/v1beta1', kind: 'BGPAdvertisement' } as const
export const ATTACHMENT = { apiVersion: 'k8s.cni.cncf.io/v1', kind: 'NetworkAttachmentDefinition' } as const
export const NET_CONFIG = { apiVersion: 'network.openstack.org/v1beta1', kind: 'NetConfig' } as const
export const RESERVATION = { apiVersion: 'network.openstack.org/v1beta1', kind: 'Reservation' } as const
export const DNS_DATA = { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSData' } as const
export const WHEREABOUTS = { apiVersion: 'whereabouts.cni.cncf.io/v1alpha1', kind: 'IPPool' } as const
export const POLICY = { apiVersion: 'nmstate.io/v1', kind: 'NodeNetworkConfigurationPolicy' } as const
export const ENACTMENT = {
  apiVersion: 'nmstate.io/v1beta1',
  kind: 'NodeNetworkConfigurationEnactment',
} as const
export const ENDPOINT = { apiVersion: 'keystone.openstack.org/v1beta1', kind: 'KeystoneEndpoint' } as const
export const ROUTE = { apiVersion: 'route.openshift.io/v1', kind: 'Route' } as const
export const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const
export const VOLUME = { apiVersion: 'v1', kind: 'PersistentVolume' } as const
export const STORAGE_CLASS = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass' } as const

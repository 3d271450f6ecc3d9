/**
 * Values of fields that some releases require and no template sets. They are filled in only where the release requires
 * them: the controllers use the images of the OpenStackVersion anyway, and its webhook would set these.
 */
import type { FieldPath } from '../plan/release/fields.ts'

function image(name: string): string {
  return `quay.io/podified-antelope-centos9/openstack-${name}:current-podified`
}

/** By path below `spec` of the control plane; `*` is any name. */
const controlPlane: Readonly<Record<string, string>> = {
  'glance.template.containerImage': image('glance-api'),
  'glance.template.glanceAPIs.*.containerImage': image('glance-api'),
  'nova.template.apiContainerImageURL': image('nova-api'),
  'nova.template.computeContainerImageURL': image('nova-compute'),
  'nova.template.conductorContainerImageURL': image('nova-conductor'),
  'nova.template.metadataContainerImageURL': image('nova-api'),
  'nova.template.novncproxyContainerImageURL': image('nova-novncproxy'),
  'nova.template.schedulerContainerImageURL': image('nova-scheduler'),
  'octavia.template.apacheContainerImage': 'registry.redhat.io/ubi9/httpd-24:latest',
}

const patterns = Object.entries(controlPlane).map(([path, value]) => ({ path: path.split('.'), value }))

/** The paths that have a value. */
export const requiredPaths: readonly string[] = Object.keys(controlPlane)

export function findRequiredValue(kind: string, path: FieldPath): string | undefined {
  if (kind !== 'OpenStackControlPlane') return undefined
  const isMatch = (pattern: readonly string[]): boolean =>
    pattern.length === path.length && pattern.every((step, index) => step === '*' || step === String(path[index]))
  return patterns.find((pattern) => isMatch(pattern.path))?.value
}

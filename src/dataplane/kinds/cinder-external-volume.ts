/** Defines CinderExternalVolume (cinder.openstack.org/v1beta1): cinder-volume on one data plane node. */
import * as z from 'zod'
import type { KindDefinition } from '../../api/crd.ts'
import { readyColumns } from './data-plane.ts'
import { type ServiceSpec, serviceSpecFields, serviceStatusSchema } from './service-object.ts'

// CinderVolume is upstream's kind for pods.
const cinderGroup = { group: 'cinder.openstack.org', version: 'v1beta1' } as const

export interface CinderExternalVolumeSpec extends ServiceSpec {
  readonly cinderConfigSecretName?: string
  readonly cinderVolumeContainerImage?: string
}

export const cinderExternalVolumes = {
  apiVersion: `${cinderGroup.group}/${cinderGroup.version}`,
  kind: 'CinderExternalVolume',
} as const

export const cinderExternalVolumeKind: KindDefinition = {
  ...cinderGroup,
  kind: cinderExternalVolumes.kind,
  plural: 'cinderexternalvolumes',
  scope: 'Namespaced',
  spec: z.object({
    ...serviceSpecFields,
    cinderConfigSecretName: z
      .string()
      .default('cinder-volume-cinder-config')
      .describe('a Secret with key `10-cinder-volume.conf`: message bus and database of the cloud'),
    cinderVolumeContainerImage: z.string().optional(),
  }),
  status: serviceStatusSchema,
  columns: readyColumns,
}

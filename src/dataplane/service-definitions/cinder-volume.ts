/** Defines the service cinder-volume: the volume service of Cinder on a node whose disks it exports. */

import { type BindingRule, credentialsRule, journalRule } from '../../ini/binding.ts'
import {
  type CinderExternalVolumeSpec,
  cinderExternalVolumeKind,
  cinderExternalVolumes,
} from '../kinds/cinder-external-volume.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { parseOnOff } from '../rules/service-annotation.ts'
import { CINDER_VOLUME_GENERATED, type CinderVolumeFacts, renderCinderVolumeConfig } from './cinder-volume-config.ts'
import type { ServiceDefinition } from './definition.ts'
import { runnerImage, serviceImage } from './images.ts'
import { readPublishedOptions } from './published-options.ts'

const CINDER_PART = '10-cinder-volume.conf'

const cinderSecret = ({ spec }: ServiceObject): string =>
  (spec as CinderExternalVolumeSpec).cinderConfigSecretName ?? ''

const binding: readonly BindingRule[] = [
  {
    section: 'DEFAULT',
    keys: ['host', 'cluster'],
    verdict: 'refused',
    why: 'volumes belong to the service of this name; another name loses them',
  },
  {
    section: 'DEFAULT',
    keys: ['transport_url'],
    verdict: 'refused',
    why: 'the message bus binds the service to its cloud',
  },
  {
    section: 'database',
    keys: ['connection', 'slave_connection'],
    verdict: 'refused',
    why: 'the database binds the service to its cloud',
  },
  credentialsRule,
  journalRule,
]

export const cinderVolumeService: ServiceDefinition = {
  name: 'cinder-volume',
  crd: cinderExternalVolumeKind,
  annotation: {
    key: 'cinder.openstack.org/volume',
    holdKey: 'cinder.openstack.org/deploy',
    kind: cinderExternalVolumes,
    parse: parseOnOff,
  },
  images: {
    ansibleEEContainerImage: runnerImage,
    cinderVolumeContainerImage: serviceImage('CINDER_VOLUME', 'openstack-cinder-volume'),
  },
  dependency: {
    kind: { apiVersion: 'v1', kind: 'Secret' },
    objectName: cinderSecret,
    condition: 'CinderConfigReady',
  },
  requiredSecrets: (service) => [
    { secret: cinderSecret(service), namedBy: 'cinderConfigSecretName', keys: [CINDER_PART] },
  ],
  facts: ({ service, secretValue, hostName, address }) => {
    const secret = cinderSecret(service)
    const read = readPublishedOptions(secretValue(secret, CINDER_PART))
    const [transportUrl, connection] = [read('transport_url', 'DEFAULT'), read('connection', 'database')]
    if (!transportUrl) return { kind: 'missing', secret, field: 'transport_url' }
    if (!connection) return { kind: 'missing', secret, field: 'connection' }
    return { kind: 'found', facts: { host: hostName, transportUrl, connection, ...(address && { myIp: address }) } }
  },
  files: (facts, customServiceConfig) =>
    renderCinderVolumeConfig(facts as unknown as CinderVolumeFacts, customServiceConfig),
  generatedFile: CINDER_VOLUME_GENERATED,
  configSecret: (name) => `${name}-cinder-volume-config-data`,
  binding,
  variablePrefix: 'edpm_cinder_volume_',
  steps: [
    {
      name: 'cinder-volume',
      playbook: 'cinder-volume',
      extraVars: ({ spec }) => ({ edpm_cinder_volume_image: spec['cinderVolumeContainerImage'] }),
    },
  ],
}

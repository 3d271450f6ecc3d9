/** The OVN metadata agent on a node, as data for the service engine. */
import type { OvnMetadataAgentSpec } from '../../../api/ovn-metadata-agent.ts'
import { ovnMetadataAnnotation } from '../../../api/service-annotation.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { ovnMetadataImages } from '../../../api/service-images.ts'
import { metadataAgentBinding } from '../../../ini/binding.ts'
import { parseIni } from '../../../ini/parse.ts'
import type { Option } from '../../../ini/write.ts'
import type { ServiceDefinition } from '../service-definition.ts'

/** The keys under which neutron and nova publish their part of the configuration. */
const NEUTRON_PART = '10-neutron-metadata.conf'
const NOVA_PART = '05-nova-metadata.conf'

const specOf = ({ spec }: ServiceObject): OvnMetadataAgentSpec => spec as OvnMetadataAgentSpec
const neutronSecret = (service: ServiceObject): string => specOf(service).neutronConfigSecretName ?? ''
const novaSecret = (service: ServiceObject): string => specOf(service).novaMetadataSecretName ?? ''

export const ovnMetadataService: ServiceDefinition = {
  name: 'ovn-metadata',
  annotation: ovnMetadataAnnotation,
  images: ovnMetadataImages,
  // neutron-operator has no object per agent: the Secret that it publishes for data plane nodes is what there is to wait for.
  dependency: {
    kind: { apiVersion: 'v1', kind: 'Secret' },
    nameOf: neutronSecret,
    condition: 'NeutronConfigReady',
  },
  needs: (service) => [
    { secret: neutronSecret(service), keys: [NEUTRON_PART] },
    { secret: novaSecret(service), keys: [NOVA_PART] },
  ],
  facts: (service, _, valueOf) => ({
    neutron: valueOf(neutronSecret(service), NEUTRON_PART),
    nova: valueOf(novaSecret(service), NOVA_PART),
  }),
  // Both parts are options already: they are read and written anew, so that a broken one is found here and not on the host.
  generate: (facts) => [
    { section: 'DEFAULT', key: 'state_path', value: '/var/lib/neutron' },
    ...published(facts['nova']),
    ...published(facts['neutron']),
    { section: 'agent', key: 'root_helper', value: 'sudo neutron-rootwrap /etc/neutron/rootwrap.conf' },
  ],
  configSecret: (name) => `${name}-ovn-metadata-config-data`,
  generatedFile: '01-ovn-metadata-agent.conf',
  overrideFile: '02-ovn-metadata-agent-override.conf',
  files: {},
  binding: metadataAgentBinding,
  steps: [
    {
      name: 'ovn-metadata',
      playbook: 'ovn-metadata.yaml',
      extraVars: ({ spec }) => ({ edpm_ovn_metadata_agent_image: spec['ovnMetadataAgentContainerImage'] }),
    },
  ],
}

function published(text = ''): readonly Option[] {
  return parseIni(text).assignments.map(({ section, key, value }) => ({ section, key, value }))
}

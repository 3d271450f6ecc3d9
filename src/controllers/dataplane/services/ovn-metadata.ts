/** The OVN metadata agent on a node, as data for the service engine. */
import type { OvnMetadataAgentSpec } from '../../../api/ovn-metadata-agent.ts'
import { ovnMetadataAnnotation } from '../../../api/service-annotation.ts'
import type { ServiceObject } from '../../../api/service-cr.ts'
import { ovnMetadataImages } from '../../../api/service-images.ts'
import { metadataAgentBinding } from '../../../ini/binding.ts'
import { type Assignment, parseIni } from '../../../ini/parse.ts'
import { METADATA_GENERATED, type MetadataFacts, metadataConfigFiles } from '../config-files.ts'
import type { Facts, ServiceDefinition } from '../service-definition.ts'

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
  facts: ({ service, valueOf, hostName }) => {
    const [neutron, nova] = [neutronSecret(service), novaSecret(service)]
    const published = [...optionsOf(valueOf(neutron, NEUTRON_PART)), ...optionsOf(valueOf(nova, NOVA_PART))]
    const read = (key: string): string | undefined => published.findLast((one) => one.key === key)?.value
    const wanted = [
      ['ovnSbConnection', 'ovn_sb_connection', neutron],
      ['novaMetadataHost', 'nova_metadata_host', nova],
      ['sharedSecret', 'metadata_proxy_shared_secret', nova],
    ] as const
    const missing = wanted.find(([, key]) => !read(key))
    if (missing) return { kind: 'missing', secret: missing[2], field: missing[1] }
    const optional = {
      novaMetadataPort: read('nova_metadata_port'),
      novaMetadataProtocol: read('nova_metadata_protocol'),
    }
    const given = Object.entries(optional).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    )
    const facts = Object.fromEntries([...wanted.map(([name, key]) => [name, read(key)]), ...given])
    return { kind: 'found', facts: { host: hostName, ...facts } }
  },
  files: (facts, customServiceConfig) => metadataConfigFiles(metadataFacts(facts), customServiceConfig),
  generatedFile: METADATA_GENERATED,
  configSecret: (name) => `${name}-ovn-metadata-config-data`,
  binding: metadataAgentBinding,
  variables: 'edpm_ovn_metadata_agent_',
  steps: [
    {
      name: 'ovn-metadata',
      playbook: 'ovn-metadata',
      extraVars: ({ spec }) => ({ edpm_ovn_metadata_agent_image: spec['ovnMetadataAgentContainerImage'] }),
    },
  ],
}

function optionsOf(text: string): readonly Assignment[] {
  return parseIni(text).assignments
}

function metadataFacts({ novaMetadataPort, ...facts }: Facts): MetadataFacts {
  const port = novaMetadataPort === undefined ? {} : { novaMetadataPort: Number(novaMetadataPort) }
  return { ...(facts as unknown as MetadataFacts), ...port }
}

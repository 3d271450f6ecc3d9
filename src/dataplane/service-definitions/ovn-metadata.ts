/** Defines the service ovn-metadata: the OVN metadata agent on a node. */

import { type BindingRule, credentialsRule, journalRule } from '../../ini/binding.ts'
import { type OvnMetadataAgentSpec, ovnMetadataAgentKind, ovnMetadataAgents } from '../kinds/ovn-metadata-agent.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { parseOnOff, type ServiceAnnotation } from '../rules/service-annotation.ts'
import type { ConfigFacts, ServiceDefinition } from './definition.ts'
import { runnerImage, serviceImage } from './images.ts'
import { METADATA_GENERATED, type MetadataFacts, renderMetadataConfig } from './ovn-metadata-config.ts'
import { readPublishedOptions } from './published-options.ts'

/** The Secret keys under which neutron and nova publish their parts of the configuration. */
const NEUTRON_PART = '10-neutron-metadata.conf'
const NOVA_PART = '05-nova-metadata.conf'

const specOf = ({ spec }: ServiceObject): OvnMetadataAgentSpec => spec as OvnMetadataAgentSpec
const neutronSecret = (service: ServiceObject): string => specOf(service).neutronConfigSecretName ?? ''
const novaSecret = (service: ServiceObject): string => specOf(service).novaMetadataSecretName ?? ''

const annotation: ServiceAnnotation = {
  key: 'neutron.openstack.org/ovn-metadata-agent',
  holdKey: 'neutron.openstack.org/deploy',
  kind: ovnMetadataAgents,
  parse: parseOnOff,
}

const binding: readonly BindingRule[] = [
  {
    section: 'DEFAULT',
    keys: ['host'],
    verdict: 'refused',
    why: 'it must be the chassis name under which this node is known to OVN',
  },
  {
    section: 'DEFAULT',
    keys: ['transport_url'],
    verdict: 'refused',
    why: 'the message bus binds the agent to its cloud',
  },
  {
    section: 'ovn',
    keys: ['ovn_sb_connection', 'ovn_nb_connection'],
    verdict: 'refused',
    why: 'the southbound database binds the agent to its cloud',
  },
  {
    section: 'DEFAULT',
    keys: ['metadata_proxy_shared_secret', 'nova_metadata_host', 'nova_metadata_port', 'nova_metadata_protocol'],
    verdict: 'warned',
    why: 'it must be what the metadata service of this cell has',
  },
  credentialsRule,
  journalRule,
]

export const ovnMetadataService: ServiceDefinition = {
  name: 'ovn-metadata',
  crd: ovnMetadataAgentKind,
  annotation,
  images: {
    ansibleEEContainerImage: runnerImage,
    ovnMetadataAgentContainerImage: serviceImage('OVN_METADATA_AGENT', 'openstack-neutron-metadata-agent-ovn'),
  },
  // neutron-operator has no object per agent, so the dependency is the Secret that it publishes for data plane nodes.
  dependency: {
    kind: { apiVersion: 'v1', kind: 'Secret' },
    objectName: neutronSecret,
    condition: 'NeutronConfigReady',
  },
  requiredSecrets: (service) => [
    { secret: neutronSecret(service), namedBy: 'neutronConfigSecretName', keys: [NEUTRON_PART] },
    { secret: novaSecret(service), namedBy: 'novaMetadataSecretName', keys: [NOVA_PART] },
  ],
  facts: ({ service, secretValue, hostName }) => {
    const [neutron, nova] = [neutronSecret(service), novaSecret(service)]
    const read = readPublishedOptions(secretValue(neutron, NEUTRON_PART), secretValue(nova, NOVA_PART))
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
    const given = Object.entries(optional).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    const facts = Object.fromEntries([...wanted.map(([name, key]) => [name, read(key)]), ...given])
    return { kind: 'found', facts: { host: hostName, ...facts } }
  },
  files: (facts, customServiceConfig) => renderMetadataConfig(metadataFacts(facts), customServiceConfig),
  generatedFile: METADATA_GENERATED,
  configSecret: (name) => `${name}-ovn-metadata-config-data`,
  binding,
  variablePrefix: 'edpm_ovn_metadata_agent_',
  steps: [
    {
      name: 'ovn-metadata',
      playbook: 'ovn-metadata',
      extraVars: ({ spec }) => ({ edpm_ovn_metadata_agent_image: spec['ovnMetadataAgentContainerImage'] }),
    },
  ],
  nodeSetService: {
    type: 'neutron-metadata',
    playbook: 'osp.edpm.neutron_metadata',
    order: 10,
    secrets: () => ['neutron-ovn-metadata-agent-neutron-config', 'nova-metadata-neutron-config'],
  },
}

function metadataFacts({ novaMetadataPort, ...facts }: ConfigFacts): MetadataFacts {
  const port = novaMetadataPort === undefined ? {} : { novaMetadataPort: Number(novaMetadataPort) }
  return { ...(facts as unknown as MetadataFacts), ...port }
}

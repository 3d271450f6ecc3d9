/** Defines the service sriov: the SR-IOV NIC switch agent on a node. */

import { type BindingRule, credentialsRule, journalRule } from '../../ini/binding.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { type SriovAgentSpec, sriovAgentKind, sriovAgents } from '../kinds/sriov-agent.ts'
import { parseOnOff } from '../rules/service-annotation.ts'
import type { ServiceDefinition } from './definition.ts'
import { runnerImage, serviceImage } from './images.ts'
import { readPublishedOptions } from './published-options.ts'
import { renderSriovConfig, SRIOV_GENERATED, type SriovFacts } from './sriov-config.ts'

/** The Secret key under which neutron publishes its part of the configuration. */
const NEUTRON_PART = '10-neutron-sriov.conf'

const neutronSecret = ({ spec }: ServiceObject): string => (spec as SriovAgentSpec).neutronConfigSecretName ?? ''

const binding: readonly BindingRule[] = [
  {
    section: 'DEFAULT',
    keys: ['host'],
    verdict: 'refused',
    why: 'ports are bound to the agent of this name, which is that of nova-compute',
  },
  {
    section: 'DEFAULT',
    keys: ['transport_url'],
    verdict: 'refused',
    why: 'the message bus binds the agent to its cloud',
  },
  credentialsRule,
  journalRule,
]

export const sriovService: ServiceDefinition = {
  name: 'sriov',
  crd: sriovAgentKind,
  annotation: {
    key: 'neutron.openstack.org/sriov-agent',
    holdKey: 'neutron.openstack.org/deploy-sriov-agent',
    kind: sriovAgents,
    parse: parseOnOff,
  },
  images: {
    ansibleEEContainerImage: runnerImage,
    sriovAgentContainerImage: serviceImage('NEUTRON_SRIOV_AGENT', 'openstack-neutron-sriov-agent'),
  },
  dependency: {
    kind: { apiVersion: 'v1', kind: 'Secret' },
    objectName: neutronSecret,
    condition: 'NeutronConfigReady',
  },
  requiredSecrets: (service) => [
    { secret: neutronSecret(service), namedBy: 'neutronConfigSecretName', keys: [NEUTRON_PART] },
  ],
  facts: ({ service, secretValue, hostName }) => {
    const secret = neutronSecret(service)
    const url = readPublishedOptions(secretValue(secret, NEUTRON_PART))('transport_url', 'DEFAULT')
    if (!url) return { kind: 'missing', secret, field: 'transport_url' }
    return { kind: 'found', facts: { host: hostName, transportUrl: url } }
  },
  files: (facts, customServiceConfig) => renderSriovConfig(facts as unknown as SriovFacts, customServiceConfig),
  generatedFile: SRIOV_GENERATED,
  configSecret: (name) => `${name}-sriov-config-data`,
  binding,
  variablePrefix: 'edpm_neutron_sriov_',
  steps: [
    {
      name: 'sriov',
      playbook: 'sriov',
      extraVars: ({ spec }) => ({ edpm_neutron_sriov_image: spec['sriovAgentContainerImage'] }),
    },
  ],
  nodeSetService: {
    type: 'neutron-sriov',
    playbook: 'osp.edpm.neutron_sriov',
    order: 15,
    secrets: () => ['neutron-sriov-agent-neutron-config'],
  },
}

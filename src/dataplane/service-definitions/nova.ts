/** Defines the service nova: nova-compute and libvirt on a node. */

import { MIGRATION_SECRET } from '../../api/node-secrets.ts'
import { type BindingRule, credentialsRule, journalRule, notificationBusRule } from '../../ini/binding.ts'
import { type NovaCell, novaCellKind, novaCells, novaExternalComputeKind, novaExternalComputes } from '../kinds/nova.ts'
import type { ServiceAnnotation } from '../rules/service-annotation.ts'
import type { ServiceDefinition } from './definition.ts'
import { runnerImage, serviceImage } from './images.ts'
import { type ComputeFacts, NOVA_GENERATED, renderComputeConfig } from './nova-config.ts'

const TRANSPORT_URL = 'transport_url'
const PASSWORD = 'ServicePassword'

/** RFC 1123, as Kubernetes names objects. */
const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/
const CELL0 = /(^|-)cell0$/

const annotation: ServiceAnnotation = {
  key: 'nova.openstack.org/cell',
  holdKey: 'nova.openstack.org/deploy',
  kind: novaExternalComputes,
  immutableField: 'cellName',
  parse: (text) => {
    if (text === '') return { kind: 'none' }
    const remedy = 'name a NovaCell object, such as nova-cell1; leave it empty for a node that is not a compute node'
    if (!NAME.test(text) || text.length > 253) {
      return { kind: 'malformed', why: 'it is not the name of an object', remedy }
    }
    if (CELL0.test(text)) return { kind: 'malformed', why: 'cell0 never has compute nodes', remedy }
    return { kind: 'requested', fields: { cellName: text } }
  },
}

const binding: readonly BindingRule[] = [
  {
    section: 'DEFAULT',
    keys: ['transport_url'],
    verdict: 'refused',
    why: 'the message bus is what binds a compute node to its cell',
  },
  {
    section: 'DEFAULT',
    keys: ['host'],
    verdict: 'refused',
    why: 'the compute service, its allocations and its network agents are found by this name',
  },
  ...['database', 'api_database'].map(
    (section): BindingRule => ({
      section,
      keys: ['connection', 'slave_connection'],
      verdict: 'refused',
      why: 'a compute node must not reach a database',
    }),
  ),
  {
    section: 'DEFAULT',
    keys: ['compute_driver', 'my_ip', 'state_path'],
    verdict: 'warned',
    why: 'the playbooks and the running instances rely on the generated one',
  },
  notificationBusRule,
  credentialsRule,
  journalRule,
]

export const novaService: ServiceDefinition = {
  name: 'nova',
  crd: novaExternalComputeKind,
  annotation,
  images: {
    ansibleEEContainerImage: runnerImage,
    novaComputeContainerImage: serviceImage('NOVA_COMPUTE', 'openstack-nova-compute'),
    novaLibvirtContainerImage: serviceImage('NOVA_LIBVIRT', 'openstack-nova-libvirt'),
  },
  deprecated: { novaInstance: 'name the NovaCell object in cellName, such as nova-cell1' },
  dependency: {
    kind: novaCells,
    fallbackCrd: novaCellKind,
    objectName: ({ spec }) => spec['cellName'] as string | undefined,
    condition: 'NovaCellReady',
  },
  requiredSecrets: (_, cell) => {
    const { cellMessageBusSecretName = '', secret = '' } = (cell as NovaCell).spec
    const of = `of NovaCell ${cell.metadata.name}`
    return [
      {
        secret: cellMessageBusSecretName,
        namedBy: `cellMessageBusSecretName ${of}`,
        keys: [TRANSPORT_URL],
      },
      { secret, namedBy: `secret ${of}`, keys: [PASSWORD] },
    ]
  },
  facts: ({ dependency, secretValue, hostName, address }) => {
    const { spec } = dependency as NovaCell
    const { cellMessageBusSecretName = '', secret = '', serviceUser = 'nova', keystoneAuthURL = '' } = spec
    const facts = {
      transportUrl: secretValue(cellMessageBusSecretName, TRANSPORT_URL),
      servicePassword: secretValue(secret, PASSWORD),
      serviceUser,
      keystoneAuthUrl: keystoneAuthURL,
      host: hostName,
      ...(address !== undefined && { myIp: address }),
    }
    return { kind: 'found', facts }
  },
  files: (facts, customServiceConfig) => renderComputeConfig(facts as unknown as ComputeFacts, customServiceConfig),
  generatedFile: NOVA_GENERATED,
  configSecret: (name) => `${name}-config-data`,
  binding,
  variablePrefix: 'edpm_nova_',
  // nova-compute needs libvirt's sockets.
  steps: [
    {
      name: 'libvirt',
      playbook: 'libvirt',
      extraVars: ({ spec }) => ({ edpm_libvirt_image: spec['novaLibvirtContainerImage'] }),
    },
    {
      name: 'nova',
      playbook: 'nova',
      extraVars: ({ spec }) => ({ edpm_nova_compute_image: spec['novaComputeContainerImage'] }),
    },
  ],
  registration: 'compute-host',
  nodeSetService: {
    type: 'nova',
    playbook: 'osp.edpm.nova',
    order: 20,
    after: ['libvirt'],
    secrets: ({ cellName }) => [`${cellName}-compute-config`, MIGRATION_SECRET],
  },
}

/** nova-compute and libvirt on a node, as data for the service engine. */
import type { NovaCell } from '../../../api/nova-cell.ts'
import { novaCells } from '../../../api/nova-cell.ts'
import { novaCellAnnotation } from '../../../api/service-annotation.ts'
import { novaImages } from '../../../api/service-images.ts'
import { computeBinding } from '../../../ini/binding.ts'
import { type ComputeFacts, computeConfigFiles, NOVA_GENERATED } from '../config-files.ts'
import type { ServiceDefinition } from '../service-definition.ts'

const TRANSPORT_URL = 'transport_url'
const PASSWORD = 'ServicePassword'

export const novaService: ServiceDefinition = {
  name: 'nova',
  annotation: novaCellAnnotation,
  images: novaImages,
  dependency: {
    kind: novaCells,
    nameOf: ({ spec }) => spec['cellName'] as string | undefined,
    condition: 'NovaCellReady',
  },
  needs: (_, cell) => {
    const { cellMessageBusSecretName = '', secret = '' } = (cell as NovaCell).spec
    return [
      { secret: cellMessageBusSecretName, keys: [TRANSPORT_URL] },
      { secret, keys: [PASSWORD] },
    ]
  },
  facts: ({ dependency, valueOf, hostName, address }) => {
    const { spec } = dependency as NovaCell
    const { cellMessageBusSecretName = '', secret = '', serviceUser = 'nova', keystoneAuthURL = '' } = spec
    const facts = {
      transportUrl: valueOf(cellMessageBusSecretName, TRANSPORT_URL),
      servicePassword: valueOf(secret, PASSWORD),
      serviceUser,
      keystoneAuthUrl: keystoneAuthURL,
      host: hostName,
      ...(address !== undefined && { myIp: address }),
    }
    return { kind: 'found', facts }
  },
  files: (facts, customServiceConfig) =>
    computeConfigFiles(facts as unknown as ComputeFacts, customServiceConfig),
  generatedFile: NOVA_GENERATED,
  configSecret: (name) => `${name}-config-data`,
  binding: computeBinding,
  variables: 'edpm_nova_',
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
  controlPlane: 'compute-host',
}

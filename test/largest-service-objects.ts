/** Builds the largest objects of the services on nodes that etcd stores, in several shapes. */
import { nodeServices } from '../src/dataplane/service-definitions/all.ts'
import { SSH_SECRET } from './data-plane.ts'
import { BYTES, build, fill, type LargestObject, NODE } from './large-values.ts'

export const SERVICE_SECRET = 'all'
export const serviceKinds = nodeServices.map(({ crd }) => crd)

/** With all that its configuration is made of; only Nova waits for its cell. */
const bound = {
  dataplaneNodeName: NODE,
  inventoryConfigMapName: `dataplanenode-${NODE}`,
  sshKeySecretName: SSH_SECRET,
  neutronConfigSecretName: SERVICE_SECRET,
  novaMetadataSecretName: SERVICE_SECRET,
}

export const largestServiceObjects: readonly LargestObject[] = serviceKinds.flatMap((kind) => [
  {
    shape: 'a long configuration',
    object: build(kind, {
      ...bound,
      customServiceConfig: `[DEFAULT]\n${fill((n) => n, BYTES / 2)
        .map((n) => `o${n}=1`)
        .join('\n')}`,
    }),
  },
  {
    shape: 'a configuration of wrong lines',
    object: build(kind, { ...bound, customServiceConfig: 'a\n'.repeat(BYTES / 3) }),
  },
  {
    shape: 'a configuration of sections',
    object: build(kind, {
      ...bound,
      customServiceConfig: fill((n) => n, BYTES / 2)
        .map((n) => `[s${n}]\n`)
        .join(''),
    }),
  },
  {
    shape: 'a configuration of one long line',
    object: build(kind, {
      ...bound,
      customServiceConfig: `[DEFAULT]\na=${' ='.repeat(BYTES / 2 - 20)}`,
    }),
  },
  {
    shape: 'a configuration with substitutions',
    object: build(kind, {
      ...bound,
      customServiceConfig: `[DEFAULT]\n${'a = $a$a$a$a$a$a$a\n'.repeat(BYTES / 22)}`,
    }),
  },
  {
    shape: 'many files',
    object: build(kind, {
      ...bound,
      defaultConfigOverwrite: Object.fromEntries(fill((n) => [`f${n}`, '{{ }}'] as const, BYTES / 2)),
    }),
  },
])

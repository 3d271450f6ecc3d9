/**
 * The OpenStack services of nodes as today's API has them: entries in the list of a NodeSet, and a Service and a
 * ConfigMap of their own where the built-in one does not do.
 *
 * Pure. Which services there are, and what each is today, stands in `node-services`.
 */

import type { KubeObject } from '../../api/object.ts'
import { type Finding, finding } from '../../errors/finding.ts'
import { notConverted } from '../findings/runs.ts'
import type { DataPlaneNode } from '../kinds/node.ts'
import type { DataPlaneRole } from '../kinds/role.ts'
import type { ServiceObject } from '../kinds/service-object.ts'
import { readServiceRequest } from '../rules/service-annotation.ts'
import type { ConfigFacts, ServiceDefinition } from '../service-definitions/definition.ts'

/** A service that a node asks for. */
export interface RequestedService {
  readonly definition: ServiceDefinition
  /** What follows from the annotation. */
  readonly fields: ConfigFacts
  /** customServiceConfig; empty where nobody wrote one. */
  readonly config: string
}

/** What a node and its role ask for, in the order of today's lists. */
export function requestedServices(
  services: readonly ServiceDefinition[],
  objects: readonly ServiceObject[],
  node: DataPlaneNode,
  role: DataPlaneRole,
): readonly RequestedService[] {
  return services
    .flatMap((definition): readonly RequestedService[] => {
      const { annotation } = definition
      const asked = readServiceRequest(annotation, node, role)
      if (asked.kind !== 'requested') return []
      const object = objects.find(
        ({ kind, metadata }) => kind === annotation.kind.kind && metadata.name === node.metadata.name,
      )
      return [{ definition, fields: asked.fields, config: object?.spec.customServiceConfig ?? '' }]
    })
    .toSorted((a, b) => a.definition.nodeSetService.order - b.definition.nodeSetService.order)
}

/** What the service is bound to for good: the cell of a compute. */
export function boundValue({ definition, fields }: RequestedService): string | undefined {
  const { immutableField } = definition.annotation
  return immutableField === undefined ? undefined : fields[immutableField]
}

/** Its entries in the list of a NodeSet. */
export function nodeSetEntries(set: string, wanted: RequestedService): readonly string[] {
  return [...(wanted.definition.nodeSetService.after ?? []), serviceName(set, wanted)]
}

/** One for all that are bound alike; with a configuration of their own, one for the nodes that have it. */
function serviceName(set: string, wanted: RequestedService): string {
  const { type } = wanted.definition.nodeSetService
  if (wanted.config !== '') return `${type}-of-${set}`
  const bound = boundValue(wanted)
  return bound === undefined ? type : `${type}-of-${bound}`
}

/** What a NodeSet needs beside it for one of its services. */
export function serviceObjects(
  { name: set, namespace }: { readonly name: string; readonly namespace: string | undefined },
  wanted: RequestedService,
): readonly KubeObject[] {
  const { definition, fields, config } = wanted
  const { type, playbook, secrets } = definition.nodeSetService
  // Without a configuration of its own the built-in service does the same, unless it is bound to one of several.
  if (config === '' && boundValue(wanted) === undefined) return []
  const metadata = (name: string): KubeObject['metadata'] => ({ name, ...(namespace && { namespace }) })
  const extra = `${set}-${type}-config`
  const service: KubeObject = {
    apiVersion: 'dataplane.openstack.org/v1beta1',
    kind: 'OpenStackDataPlaneService',
    metadata: metadata(serviceName(set, wanted)),
    spec: {
      caCerts: 'combined-ca-bundle',
      edpmServiceType: type,
      playbook,
      dataSources: [
        ...secrets(fields).map((name) => ({ secretRef: { name } })),
        ...(config === '' ? [] : [{ configMapRef: { name: extra } }]),
      ],
    },
  }
  if (config === '') return [service]
  // Byte for byte, under a name that is read after the generated file.
  const data = { [`25-${type}-custom.conf`]: config }
  return [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(extra), data }, service]
}

/** Service objects that no annotation asks for: nothing is made of them. */
export function checkOrphans(
  objects: readonly ServiceObject[],
  isTaken: (object: ServiceObject) => boolean,
): readonly Finding[] {
  return objects
    .filter((object) => !isTaken(object))
    .map(({ kind, metadata }) =>
      finding(notConverted, {
        what: `${kind} ${metadata.name}`,
        why: 'no annotation of a node of its name asks for it; annotate the node, and convert again',
      }),
    )
}

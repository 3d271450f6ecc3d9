/**
 * Individual endpoints: pods that need a fixed address on a network of their cloud.
 *
 * The address reaches a pod through an annotation, and the control plane's schema takes annotations of a pod in one
 * place only, RabbitMQ's StatefulSet. For everything else the value is told in a finding.
 */

import type { NamedAddress, PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { rabbitmqNames } from '../../plan/slots/cloud-services.ts'
import { asFields, type Fields, setValue } from '../merge.ts'
import { staticName } from '../multus.ts'
import { type Attachment, NETWORKS_ANNOTATION, networksAnnotation } from '../networks-annotation.ts'
import { prefixLength } from '../spans.ts'

export interface Endpoint {
  readonly name: string
  readonly network: PlannedNetwork
  readonly attachment: Attachment
  /** The RabbitMQ whose pod gets the address; undefined where no slot takes an annotation. */
  readonly rabbitmq: string | undefined
}

export function listEndpoints(cloud: PlannedCloud): readonly Endpoint[] {
  const rabbitmqs = rabbitmqNames(cloud.from)
  return cloud.networks.flatMap((network) =>
    network.endpoints.map(({ name, address }: NamedAddress) => ({
      name,
      network,
      attachment: {
        name: staticName(network),
        namespace: cloud.namespace,
        ips: [`${address}/${prefixLength(network, address)}`],
      },
      rabbitmq: rabbitmqs.find((rabbitmq) => rabbitmq === name.replace(/^rabbitmq\./, '')),
    })),
  )
}

/** The spec with the annotations of those endpoints that a slot takes. */
export function addEndpointAnnotations(spec: Fields, cloud: PlannedCloud): Fields {
  if (cloud.networks.every((network) => network.endpoints.length === 0)) return spec
  const byRabbitmq = new Map<string, Attachment[]>()
  for (const { rabbitmq, attachment } of listEndpoints(cloud)) {
    if (rabbitmq !== undefined) byRabbitmq.set(rabbitmq, [...(byRabbitmq.get(rabbitmq) ?? []), attachment])
  }
  let filled = spec
  for (const [name, attachments] of byRabbitmq) {
    const path = [
      'rabbitmq',
      'templates',
      name,
      'override',
      'statefulSet',
      'spec',
      'template',
      'metadata',
      'annotations',
    ]
    filled = asFields(setValue(filled, [...path, NETWORKS_ANNOTATION], networksAnnotation(attachments)))
  }
  return filled
}

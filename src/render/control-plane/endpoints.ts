/**
 * Individual endpoints: pods that need a fixed address on a network of their cloud.
 *
 * The address reaches a pod through an annotation, and the control plane's schema takes annotations of a pod in one
 * place only, RabbitMQ's StatefulSet. For everything else the value is told in a finding.
 */

import type { NamedAddress, PlannedCloud, PlannedNetwork } from '../../plan/plan.ts'
import { rabbitmqNames } from '../../plan/slots/cloud-services.ts'
import { type Fields, fieldsOf, withValue } from '../merge.ts'
import { staticName } from '../multus.ts'
import { type Attachment, NETWORKS_ANNOTATION, networksAnnotation } from '../networks-annotation.ts'
import { prefixOf } from '../spans.ts'

export interface Endpoint {
  readonly name: string
  readonly network: PlannedNetwork
  readonly attachment: Attachment
  /** The RabbitMQ whose pod gets the address; undefined where no slot takes an annotation. */
  readonly rabbitmq: string | undefined
}

export function endpointsOf(cloud: PlannedCloud): readonly Endpoint[] {
  const rabbitmqs = rabbitmqNames(cloud.from)
  return cloud.networks.flatMap((network) =>
    network.endpoints.map(({ name, address }: NamedAddress) => ({
      name,
      network,
      attachment: {
        name: staticName(network),
        namespace: cloud.namespace,
        ips: [`${address}/${prefixOf(network, address)}`],
      },
      rabbitmq: rabbitmqs.find((one) => one === name.replace(/^rabbitmq\./, '')),
    })),
  )
}

/** The spec with the annotations of those endpoints that a slot takes. */
export function withEndpoints(spec: Fields, cloud: PlannedCloud): Fields {
  if (cloud.networks.every((network) => network.endpoints.length === 0)) return spec
  const byRabbitmq = new Map<string, Attachment[]>()
  for (const { rabbitmq, attachment } of endpointsOf(cloud)) {
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
    filled = fieldsOf(withValue(filled, [...path, NETWORKS_ANNOTATION], networksAnnotation(attachments)))
  }
  return filled
}

/** The OpenStack services that nodes can have, in the order in which people see them. A further one is one more entry. */
import type { ServiceDefinition } from './definition.ts'
import { novaService } from './nova.ts'
import { ovnMetadataService } from './ovn-metadata.ts'

export const nodeServices: readonly ServiceDefinition[] = [novaService, ovnMetadataService]

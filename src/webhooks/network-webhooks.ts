/** The webhooks of the network kinds: which there are, and who answers them. */
import { networkGroup } from '../api/netconfig.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import { defaultIpSet, validateIpSet, validateReservation } from './ipset.ts'
import { defaultNetConfig, validateNetConfig } from './netconfig.ts'
import type { NetworkView } from './network-view.ts'
import { type Webhook, webhookPath } from './webhook-configuration.ts'

const netConfig = { ...networkGroup, plural: 'netconfigs', singular: 'netconfig' }
const ipSet = { ...networkGroup, plural: 'ipsets', singular: 'ipset' }
const reservation = { ...networkGroup, plural: 'reservations', singular: 'reservation' }

export const networkWebhooks: readonly Webhook[] = [
  { kind: 'mutate', ...netConfig, operations: ['CREATE', 'UPDATE'] },
  { kind: 'mutate', ...ipSet, operations: ['CREATE'] },
  { kind: 'validate', ...netConfig, operations: ['CREATE', 'UPDATE', 'DELETE'] },
  { kind: 'validate', ...ipSet, operations: ['CREATE', 'UPDATE'] },
  {
    kind: 'validate',
    ...reservation,
    operations: ['CREATE', 'UPDATE'],
    // Made by hand or restored: what the controller writes for an IPSet needs no second look.
    only: { name: 'by-hand', expression: '!has(object.metadata.ownerReferences)' },
  },
]

export function networkHandlers(
  view: NetworkView,
  finalizers: readonly string[],
): Readonly<Record<string, AdmissionHandler>> {
  return {
    [webhookPath({ kind: 'mutate', ...netConfig })]: defaultNetConfig(view),
    [webhookPath({ kind: 'validate', ...netConfig })]: validateNetConfig(view),
    [webhookPath({ kind: 'mutate', ...ipSet })]: defaultIpSet(finalizers),
    [webhookPath({ kind: 'validate', ...ipSet })]: validateIpSet(view),
    [webhookPath({ kind: 'validate', ...reservation })]: validateReservation,
  }
}

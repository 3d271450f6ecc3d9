/** The webhooks of DNSMasq: which there are, and who answers them. A DNSData is taken as it is, as upstream does. */
import { networkGroup } from '../api/netconfig.ts'
import type { AdmissionHandler } from '../kube/admission.ts'
import { type DnsDefaults, defaultDnsMasq, validateDnsMasq } from './dnsmasq.ts'
import { type Webhook, webhookPath } from './webhook-configuration.ts'

const dnsMasq = { ...networkGroup, plural: 'dnsmasqs', singular: 'dnsmasq' }

export const dnsWebhooks: readonly Webhook[] = [
  { kind: 'mutate', ...dnsMasq, operations: ['CREATE', 'UPDATE'] },
  { kind: 'validate', ...dnsMasq, operations: ['CREATE', 'UPDATE'] },
]

export function dnsHandlers(defaults: DnsDefaults): Readonly<Record<string, AdmissionHandler>> {
  return {
    [webhookPath({ kind: 'mutate', ...dnsMasq })]: defaultDnsMasq(defaults),
    [webhookPath({ kind: 'validate', ...dnsMasq })]: validateDnsMasq,
  }
}

/** Serves the webhooks of DNSMasq: what they refuse and default. DNSData is accepted as it is, like upstream does. */
import { type DnsMasq, dnsMasqViolations } from '../api/dnsmasq.ts'
import { networkGroup } from '../api/netconfig.ts'
import { judgeViolations } from '../api/violation.ts'
import type { AdmissionHandler, JsonPatchOperation } from '../kube/admission.ts'
import { allowed, buildAnswer } from './admission-answer.ts'
import { type Webhook, webhookPath } from './webhook-configuration.ts'

const dnsMasq = { ...networkGroup, plural: 'dnsmasqs', singular: 'dnsmasq' }

export const dnsWebhooks: readonly Webhook[] = [
  { kind: 'mutate', ...dnsMasq, operations: ['CREATE', 'UPDATE'] },
  { kind: 'validate', ...dnsMasq, operations: ['CREATE', 'UPDATE'] },
]

export interface DnsDefaults {
  readonly image: string
  /** Whether the served CRD accepts an option with this key: the first version of the API has fewer. */
  readonly hasOption: (key: string) => Promise<boolean>
}

export function dnsHandlers(defaults: DnsDefaults): Readonly<Record<string, AdmissionHandler>> {
  return {
    [webhookPath({ kind: 'mutate', ...dnsMasq })]: defaultDnsMasq(defaults),
    [webhookPath({ kind: 'validate', ...dnsMasq })]: validateDnsMasq,
  }
}

export const validateDnsMasq: AdmissionHandler = (request) => {
  const { spec, metadata } = request.object as DnsMasq
  // The deletion of an invalid object must be possible.
  if (metadata.deletionTimestamp) return allowed
  const namespace = request.namespace ?? ''
  const old = (request.oldObject as DnsMasq | null | undefined)?.spec
  const verdict = judgeViolations(dnsMasqViolations(spec, namespace), old && dnsMasqViolations(old, namespace))
  return buildAnswer(request, verdict)
}

/** Sets an image, and the option that keeps queries for the cluster's own names from being forwarded, as upstream does. */
export function defaultDnsMasq({ image, hasOption }: DnsDefaults): AdmissionHandler {
  return async (request) => {
    if (!request.object) return allowed
    const spec = ((request.object as Partial<DnsMasq>).spec ?? {}) as DnsMasq['spec']
    const { options, containerImage } = spec
    const local = { key: 'local', values: [`/${request.namespace}.svc/`] }
    const needsLocal = !options?.some(({ key }) => key === 'local') && (await hasOption('local'))
    const patch: readonly JsonPatchOperation[] = [
      ...(request.object['spec'] ? [] : [{ op: 'add' as const, path: '/spec', value: {} }]),
      ...(containerImage ? [] : [{ op: 'add' as const, path: '/spec/containerImage', value: image }]),
      ...(needsLocal ? [{ op: 'add' as const, path: '/spec/options', value: [...(options ?? []), local] }] : []),
    ]
    return { allowed: true, ...(patch.length > 0 && { patch }) }
  }
}

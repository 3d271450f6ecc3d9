/** The webhooks of DNSMasq: what is refused, and what is filled in. */
import type { DnsMasq } from '../api/dnsmasq.ts'
import { dnsMasqViolations } from '../api/dnsmasq-rules.ts'
import { judgeViolations } from '../api/violation.ts'
import type { AdmissionHandler, JsonPatchOperation } from '../kube/admission.ts'
import { allowed, buildAnswer } from './admission-answer.ts'

export const validateDnsMasq: AdmissionHandler = (request) => {
  const { spec, metadata } = request.object as DnsMasq
  // One that is going away must be let go, whatever is wrong with it.
  if (metadata.deletionTimestamp) return allowed
  const namespace = request.namespace ?? ''
  const old = (request.oldObject as DnsMasq | null | undefined)?.spec
  return buildAnswer(
    request,
    judgeViolations(dnsMasqViolations(spec, namespace), old && dnsMasqViolations(old, namespace)),
  )
}

export interface DnsDefaults {
  readonly image: string
  /** Whether an option of this name may be stored: the API of 2023 knows fewer. */
  readonly hasOption: (key: string) => Promise<boolean>
}

/** As upstream's: an image, and that the cluster's own names are asked of nobody else. */
export function defaultDnsMasq({ image, hasOption }: DnsDefaults): AdmissionHandler {
  return async (request) => {
    if (!request.object) return allowed
    const spec = ((request.object as Partial<DnsMasq>).spec ?? {}) as DnsMasq['spec']
    const { options, containerImage } = spec
    const local = { key: 'local', values: [`/${request.namespace}.svc/`] }
    const wantsLocal = !options?.some((option) => option.key === 'local') && (await hasOption('local'))
    const patch: readonly JsonPatchOperation[] = [
      ...(request.object['spec'] ? [] : [{ op: 'add' as const, path: '/spec', value: {} }]),
      ...(containerImage ? [] : [{ op: 'add' as const, path: '/spec/containerImage', value: image }]),
      ...(wantsLocal ? [{ op: 'add' as const, path: '/spec/options', value: [...(options ?? []), local] }] : []),
    ]
    return { allowed: true, ...(patch.length > 0 && { patch }) }
  }
}

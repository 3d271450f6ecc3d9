/**
 * Defines the operator part that serves the verdicts about certificates of cert-manager as a metric and as Events. It reads
 * only, and no Secrets: certificates that cert-manager does not issue are read by `stackloom certificates`.
 */
import { Gauge, type Registry } from 'prom-client'
import { groupBy } from '../../api/collections.ts'
import { type KubeObject, objectKey } from '../../api/object.ts'
import { type CertificateVerdict, certificateVerdicts, judgeLifetime } from '../../certificates/judge-certificates.ts'
import { certificateKind, readManagedCertificate } from '../../certificates/read-certificates.ts'
import { systemClock } from '../../clock/clock.ts'
import type { Controller } from '../../kube/controller.ts'
import type { EventRecord } from '../../kube/event-recorder.ts'
import type { OperatorPart, PartContext } from './part.ts'

const kinds = [certificateKind]

export const certificatesPart: OperatorPart = {
  name: 'certificates',
  optional: true,
  kinds,
  crds: { own: [], upstream: [] },
  rules: [
    {
      apiGroups: ['cert-manager.io'],
      resources: ['certificates'],
      verbs: ['get', 'list', 'watch'],
      reason: 'report certificates that end soon',
    },
  ],
  webhooks: [],
  start: (context) => {
    startCertificates(context)
    return {}
  },
  observe: { kinds, start: startCertificates },
}

function startCertificates({ runtime, metrics, record }: PartContext): void {
  const certificates = runtime.cache({ kind: certificateKind })
  registerCertificateMetrics(metrics.registry, () => certificates.list(), systemClock.now)
  runtime.add(createCertificateObserver((key) => certificates.get(key), record))
}

/** Undefined for a certificate that was never issued. */
function judge(object: KubeObject, now: number): CertificateVerdict | undefined {
  const { notAfter, renewal } = readManagedCertificate(object)
  return notAfter === undefined ? undefined : judgeLifetime({ notAfter, renewal }, now)
}

/** Computed when Prometheus scrapes it; every verdict of a namespace is present, so that an alert sees a zero. */
export function registerCertificateMetrics(
  registry: Registry,
  list: () => readonly KubeObject[],
  now: () => number,
): void {
  const gauge: Gauge = new Gauge({
    name: 'stackloom_certificates',
    help: 'Certificates of cert-manager by cloud (namespace) and verdict (expired, critical: 3 days, soon: 14, due: 30, valid)',
    labelNames: ['cloud', 'verdict'],
    registers: [registry],
    collect: () => {
      gauge.reset()
      const verdicts = certificateVerdicts.filter((verdict) => verdict !== 'unreadable')
      for (const [cloud, certificates] of groupBy(list(), ({ metadata }) => metadata.namespace ?? '')) {
        const counts = groupBy(certificates, (certificate) => judge(certificate, now()))
        for (const verdict of verdicts) gauge.set({ cloud, verdict }, counts.get(verdict)?.length ?? 0)
      }
    },
  })
}

/** Verdicts that people act on: cert-manager should have renewed it. */
const alarming: readonly (CertificateVerdict | undefined)[] = ['expired', 'critical', 'soon']
const LOOK_AGAIN_MS = 3_600_000

export function createCertificateObserver(
  find: (key: string) => KubeObject | undefined,
  record: (event: EventRecord) => void,
): Controller {
  const announced = new Map<string, CertificateVerdict>()
  return {
    name: 'certificate-observer',
    watches: [{ kind: certificateKind }],
    reconcile: async (request, { clock }) => {
      const key = objectKey(request)
      const certificate = find(key)
      const verdict = certificate && judge(certificate, clock.now())
      if (!certificate || verdict === undefined || !alarming.includes(verdict)) {
        announced.delete(key)
      } else if (announced.get(key) !== verdict) {
        announced.set(key, verdict)
        const { notAfter = 0 } = readManagedCertificate(certificate)
        const end = `${verdict === 'expired' ? 'ended' : 'ends'} ${new Date(notAfter).toISOString()}`
        const note = `it ${end}, and cert-manager has not renewed it; see \`stackloom certificates\``
        record({ regarding: certificate, type: 'Warning', reason: 'CertificateEnds', action: 'Judge', note })
      }
      return certificate ? { requeueAfterMs: LOOK_AGAIN_MS } : undefined
    },
  }
}

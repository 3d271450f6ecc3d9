/** SL9610 to SL9614: webhooks. */
import { problem } from '../../errors/finding.ts'

export const webhookLeftover = problem<{ hook: string; service: string; kind: string; configuration: string }>({
  code: 'SL9610',
  severity: 'error',
  message: ({ hook, service }) =>
    `${hook} calls Service ${service}, which does not exist: every write of its kinds is rejected, including deletions`,
  remedy: ({ kind, configuration }) =>
    `if the operator was removed permanently: \`kubectl delete ${kind.toLowerCase()} ${configuration}\``,
})

export const webhookSilent = problem<{ hook: string; service: string; namespace: string }>({
  code: 'SL9611',
  severity: 'error',
  message: ({ hook, service }) =>
    `${hook} calls Service ${service}, which has no endpoints: every write of its kinds is rejected`,
  remedy: ({ namespace }) => `check why its pods are not ready: \`kubectl -n ${namespace} get pods\``,
})

export const webhookUntrusted = problem<{ hook: string; configuration: string }>({
  code: 'SL9612',
  severity: 'error',
  message: ({ hook }) =>
    `${hook} has no caBundle: the API server does not trust its certificate and rejects every write of its kinds`,
  remedy: () => 'check that the CA injector of cert-manager, or OLM, runs: `kubectl -n cert-manager get pods`',
})

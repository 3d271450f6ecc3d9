/** Collects the logs of the operator's pods: a request that the API server denied is a failure of any test with it. */
import { connect } from '../../../src/kube/connect.ts'

const home = 'stackloom-operator'

export interface OperatorLogs {
  /** Those of a pod that is gone cannot be read any more, so they are read again and again. */
  readonly keep: () => Promise<void>
  /** Lines about rights that were missing, by pod. */
  readonly denied: () => Promise<readonly string[]>
  /** How many pods have been seen. */
  readonly pods: () => number
}

export function collectOperatorLogs(kubeconfig: () => string): OperatorLogs {
  const logs = new Map<string, string>()
  const keep = async (): Promise<void> => {
    const { client, transport, close } = await connect({ kubeconfig: kubeconfig(), env: process.env })
    try {
      const labelSelector = 'app.kubernetes.io/name=stackloom-operator'
      const { items } = await client.list({ apiVersion: 'v1', kind: 'Pod' }, { namespace: home, labelSelector })
      for (const { metadata } of items) {
        const path = `/api/v1/namespaces/${home}/pods/${metadata.name}/log`
        const text = await transport
          .text({ method: 'GET', path, idempotent: true, verb: 'get', subject: 'log' })
          .catch(() => undefined)
        if (text !== undefined) logs.set(metadata.name, text)
      }
    } finally {
      await close()
    }
  }
  return {
    keep,
    denied: async () => {
      await keep()
      return [...logs].flatMap(([pod, text]) =>
        text
          .split('\n')
          .filter((line) => /forbidden|may not|unauthorized/i.test(line))
          .map((line) => `${pod}: ${line}`),
      )
    },
    pods: () => logs.size,
  }
}

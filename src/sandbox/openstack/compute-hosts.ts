/**
 * Keeps the compute hosts of a cloud as requested. A host that cannot start, or ends, is reported with its reason and tried
 * again; it keeps no other host from starting.
 */
import { formatError } from '../../errors/failure.ts'
import type { ComputeHost, ComputeRequest } from './compute-host.ts'

export interface ComputeStatus {
  readonly name: string
  readonly cell: string
  readonly state: 'starting' | 'running' | 'failed'
  /** Why it does not run. */
  readonly reason?: string
  readonly log: string
}

export interface ComputeHosts {
  /** Runs exactly these. */
  readonly request: (requests: readonly ComputeRequest[]) => void
  readonly statuses: () => readonly ComputeStatus[]
  /** Process ids by name. */
  readonly pids: () => Readonly<Record<string, number>>
  /** Ends all, and starts none any more. */
  readonly stop: () => Promise<void>
}

export interface ComputeHostsOptions {
  readonly start: (request: ComputeRequest) => Promise<ComputeHost>
  readonly log: (name: string) => string
  readonly onChange: () => void
  readonly retryMs?: number
}

const RETRY_MS = 10_000

export function createComputeHosts({ start, log, onChange, retryMs = RETRY_MS }: ComputeHostsOptions): ComputeHosts {
  const running = new Map<string, ComputeHost>()
  const reasons = new Map<string, string>()
  let requested: readonly ComputeRequest[] = []
  let stopped = false
  // One after the other.
  let syncing: Promise<void> = Promise.resolve()
  const queue = (): void => {
    syncing = syncing.then(sync)
  }
  const sync = async (): Promise<void> => {
    for (const [name, host] of running) {
      if (!stopped && requested.some((request) => JSON.stringify(request) === JSON.stringify(host.request))) continue
      running.delete(name)
      await host.stop()
    }
    for (const request of requested) {
      if (stopped) return
      if (!running.has(request.name)) await startOne(request)
    }
    for (const name of reasons.keys()) if (!requested.some((request) => request.name === name)) reasons.delete(name)
    onChange()
  }
  const startOne = async (request: ComputeRequest): Promise<void> => {
    const { name } = request
    try {
      const host = await start(request)
      running.set(name, host)
      reasons.delete(name)
      void host.ended.then(() => fail(host, name, 'it has ended'))
    } catch (error) {
      fail(undefined, name, formatError(error))
    }
    onChange()
  }
  const fail = (host: ComputeHost | undefined, name: string, reason: string): void => {
    // One that was stopped is no failure.
    if (stopped || running.get(name) !== host) return
    running.delete(name)
    reasons.set(name, reason)
    onChange()
    setTimeout(queue, retryMs).unref()
  }
  return {
    request: (requests) => {
      if (JSON.stringify(requests) === JSON.stringify(requested)) return
      requested = requests
      queue()
    },
    statuses: () =>
      requested.map(({ name, cell }) => {
        const host = running.get(name)
        const reason = host ? host.problem() : reasons.get(name)
        const state = reason === undefined ? (host ? 'running' : 'starting') : 'failed'
        return { name, cell, state, ...(reason !== undefined && { reason }), log: log(name) }
      }),
    pids: () => Object.fromEntries([...running].map(([name, { pid }]) => [name, pid])),
    stop: async () => {
      stopped = true
      queue()
      await syncing
    },
  }
}

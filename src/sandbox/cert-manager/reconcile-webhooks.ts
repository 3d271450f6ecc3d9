/** Registers the webhook of cert-manager where it runs, and waits until the API server trusts it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { failure } from '../../errors/failure.ts'
import type { KubeClient } from '../../kube/client.ts'
import { FIELD_MANAGER } from '../cluster-objects.ts'
import { certManagerSilent } from '../findings.ts'
import { certManagerObjects, certManagerWebhooks, hasAuthority } from './cert-manager-objects.ts'

/** Long, for busy machines: a program that ends is restarted by the supervisor. */
const TRUST_MS = 240_000

export interface WebhookOptions {
  readonly logs: string
  readonly signal?: AbortSignal | undefined
}

/** Deletes the configurations where it does not run: without a server they would reject every Certificate. */
export async function reconcileCertManager(
  client: KubeClient,
  isRunning: boolean,
  { logs, signal }: WebhookOptions,
): Promise<void> {
  if (!isRunning) {
    for (const ref of certManagerWebhooks) await client.delete(ref)
    return
  }
  for (const object of certManagerObjects()) await client.apply(object, { fieldManager: FIELD_MANAGER, force: true })
  const deadline = performance.now() + TRUST_MS
  for (;;) {
    signal?.throwIfAborted()
    const live = await Promise.all(certManagerWebhooks.map((ref) => client.get(ref)))
    if (live.every(hasAuthority)) return
    if (performance.now() > deadline) throw failure(certManagerSilent, { seconds: TRUST_MS / 1000, logs })
    await sleep(200)
  }
}

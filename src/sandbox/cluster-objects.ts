/** Writes the objects that a sandbox adds to its own cluster: the webhook configuration of MetalLB, and worker Nodes. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { KubeObject } from '../api/object.ts'
import type { KubeClient } from '../kube/client.ts'
import type { SandboxFolder } from './folder.ts'
import { METALLB_WEBHOOK_PORT } from './ports.ts'
import type { Part } from './settings.ts'

export const FIELD_MANAGER = 'stackloom-sandbox'

const NAME = 'metallb-webhook-configuration'
const KIND = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' }

/** Webhook paths of MetalLB, by resource. They are called by URL, because MetalLB runs as a process without a Service. */
const webhookPaths: readonly (readonly [resource: string, version: string, path: string])[] = [
  ['ipaddresspools', 'v1beta1', 'v1beta1-ipaddresspool'],
  ['l2advertisements', 'v1beta1', 'v1beta1-l2advertisement'],
  ['bgpadvertisements', 'v1beta1', 'v1beta1-bgpadvertisement'],
  ['communities', 'v1beta1', 'v1beta1-community'],
  ['bfdprofiles', 'v1beta1', 'v1beta1-bfdprofile'],
  ['bgppeers', 'v1beta2', 'v1beta2-bgppeer'],
]

/** Deletes the configuration when the webhooks do not run: without a server it would reject every pool. */
export async function reconcileAdmission(
  client: KubeClient,
  folder: SandboxFolder,
  parts: readonly Part[],
): Promise<void> {
  if (!parts.includes('metallb-webhooks')) {
    await client.delete({ ...KIND, name: NAME })
    return
  }
  const caBundle = await readFile(path.join(folder.pki, 'ca.crt'), 'base64')
  await client.apply(webhookConfiguration(caBundle), { fieldManager: FIELD_MANAGER, force: true })
}

function webhookConfiguration(caBundle: string): KubeObject {
  return {
    ...KIND,
    metadata: { name: NAME },
    webhooks: webhookPaths.map(([resource, version, route]) => ({
      name: `${resource}.metallb.io`,
      clientConfig: { url: `https://127.0.0.1:${METALLB_WEBHOOK_PORT}/validate-metallb-io-${route}`, caBundle },
      rules: [
        { apiGroups: ['metallb.io'], apiVersions: [version], operations: ['CREATE', 'UPDATE'], resources: [resource] },
      ],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
    })),
  }
}

/** Creates ready workers. Other labels and annotations of existing Nodes are kept. */
export async function ensureNodes(client: KubeClient, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await client.apply(workerNode(name), { fieldManager: FIELD_MANAGER })
    const conditions = [{ type: 'Ready', status: 'True', reason: 'SandboxNode', message: 'no kubelet runs' }]
    await client.apply(
      { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } },
      { fieldManager: FIELD_MANAGER, subresource: 'status' },
    )
  }
}

function workerNode(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, 'node-role.kubernetes.io/worker': '' } },
  }
}

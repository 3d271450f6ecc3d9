/**
 * MetalLB's admission as the API server is told of it: by URL, with our authority, because there is no Service
 * and no pod behind it here.
 */
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

/** The paths that MetalLB serves, by resource. */
const served: readonly (readonly [resource: string, version: string, path: string])[] = [
  ['ipaddresspools', 'v1beta1', 'v1beta1-ipaddresspool'],
  ['l2advertisements', 'v1beta1', 'v1beta1-l2advertisement'],
  ['bgpadvertisements', 'v1beta1', 'v1beta1-bgpadvertisement'],
  ['communities', 'v1beta1', 'v1beta1-community'],
  ['bfdprofiles', 'v1beta1', 'v1beta1-bfdprofile'],
  ['bgppeers', 'v1beta2', 'v1beta2-bgppeer'],
]

/** There when the webhooks run, gone when they do not: a configuration without a server refuses every pool. */
export async function reconcileAdmission(
  client: KubeClient,
  folder: SandboxFolder,
  parts: readonly Part[],
): Promise<void> {
  if (!parts.includes('metallb-webhooks')) {
    await client.delete({ ...KIND, name: NAME })
    return
  }
  const authority = await readFile(path.join(folder.pki, 'ca.crt'), 'base64')
  await client.apply(configuration(authority), { fieldManager: FIELD_MANAGER, force: true })
}

function configuration(caBundle: string): KubeObject {
  return {
    ...KIND,
    metadata: { name: NAME },
    webhooks: served.map(([resource, version, route]) => ({
      name: `${resource}.metallb.io`,
      clientConfig: {
        url: `https://127.0.0.1:${METALLB_WEBHOOK_PORT}/validate-metallb-io-${route}`,
        caBundle,
      },
      rules: [
        {
          apiGroups: ['metallb.io'],
          apiVersions: [version],
          operations: ['CREATE', 'UPDATE'],
          resources: [resource],
        },
      ],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
    })),
  }
}

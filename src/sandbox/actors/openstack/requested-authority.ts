/** Requests the authority of a cloud from cert-manager with the objects that openstack-operator creates, where cert-manager runs. */
import type { KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { createMissing } from '../actor-status.ts'
import { AUTHORITY } from './client-access.ts'

const SELF_SIGNED = 'selfsigned-issuer'
const API = 'cert-manager.io/v1'

/** Returns whether cert-manager has issued it. */
export async function requestAuthority(
  client: KubeClient,
  { apiVersion, kind, metadata }: KubeObject,
  actor: string,
): Promise<boolean> {
  const { namespace = '', name, uid = '' } = metadata
  if (await client.get({ apiVersion: 'v1', kind: 'Secret', namespace, name: AUTHORITY })) return true
  const owned = (objectName: string): KubeObject['metadata'] => ({
    name: objectName,
    namespace,
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  })
  const objects: readonly KubeObject[] = [
    { apiVersion: API, kind: 'Issuer', metadata: owned(SELF_SIGNED), spec: { selfSigned: {} } },
    {
      apiVersion: API,
      kind: 'Certificate',
      metadata: owned(AUTHORITY),
      spec: {
        isCA: true,
        commonName: AUTHORITY,
        secretName: AUTHORITY,
        duration: '87600h0m0s',
        privateKey: { algorithm: 'ECDSA', size: 256, encoding: 'PKCS8' },
        issuerRef: { name: SELF_SIGNED, kind: 'Issuer', group: 'cert-manager.io' },
      },
    },
    { apiVersion: API, kind: 'Issuer', metadata: owned(AUTHORITY), spec: { ca: { secretName: AUTHORITY } } },
  ]
  for (const object of objects) await createMissing(client, undefined, object, actor)
  return false
}

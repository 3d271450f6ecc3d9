/** Creates the client configuration (`openstack-config`, `openstack-config-secret`), the authority and the CA bundle. */
import { computeConfigSecret } from '../../../api/node-secrets.ts'
import type { KubeObject } from '../../../api/object.ts'
import { getField } from '../../../api/raw-object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { type Authority, createAuthority, loadAuthority } from '../../../pki/authority.ts'
import { decodeSecret } from '../../openstack/cloud-definition.ts'
import { createMissing } from '../actor-status.ts'

const ACTOR = 'actor-openstack'
/** Secret, Certificate and Issuer of the authority have one name. */
export const AUTHORITY = 'rootca-public'

export async function ensureAccess(
  client: KubeClient,
  controlPlane: KubeObject,
  secret: KubeObject,
  services: readonly KubeObject[],
): Promise<void> {
  const { apiVersion, kind, metadata } = controlPlane
  const { namespace = '', name, uid = '' } = metadata
  const owned = (objectName: string) => ({
    name: objectName,
    namespace,
    ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
  })
  const auth = {
    auth_url: keystoneUrl(services, namespace),
    project_name: 'admin',
    username: 'admin',
    user_domain_name: 'Default',
    project_domain_name: 'Default',
  }
  const { AdminPassword: password = '' } = decodeSecret(secret)
  const bundle = { apiVersion: 'v1', kind: 'Secret', namespace, name: 'combined-ca-bundle' }
  // JSON is valid YAML.
  const yaml = (cloud: object): string => `${JSON.stringify({ clouds: { default: cloud } })}\n`
  const objects: KubeObject[] = [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: owned('openstack-config'),
      data: { 'clouds.yaml': yaml({ auth, region_name: 'regionOne' }) },
    },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: owned('openstack-config-secret'),
      stringData: { 'secure.yaml': yaml({ auth: { password } }) },
    },
  ]
  if (!(await client.get(bundle))) {
    const { certificate } = await ensureAuthority(client, controlPlane)
    objects.push({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: owned(bundle.name),
      stringData: { 'tls-ca-bundle.pem': certificate },
    })
  }
  // nova-operator writes what nova-compute of a cell reads; without it hosts look outdated at once.
  for (const cell of computeCells(controlPlane)) {
    objects.push({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: owned(computeConfigSecret(cell)),
      stringData: { '01-nova.conf': '[DEFAULT]\n' },
    })
  }
  for (const object of objects) await createMissing(client, undefined, object, ACTOR)
}

/** cell0 has no computes. */
function computeCells(controlPlane: KubeObject): readonly string[] {
  const cells = getField(controlPlane, 'spec', 'nova', 'template', 'cellTemplates') ?? {}
  return Object.keys(cells).filter((cell) => cell !== 'cell0')
}

/** The authority of a cloud, in the Secret that cert-manager writes where it runs, or would write. */
export async function ensureAuthority(
  client: KubeClient,
  { apiVersion, kind, metadata }: KubeObject,
): Promise<Authority> {
  const { namespace = '', name, uid = '' } = metadata
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace, name: AUTHORITY }
  const found = await client.get(ref)
  if (found) {
    const { 'tls.crt': certificate = '', 'tls.key': privateKey = '' } = decodeSecret(found)
    return loadAuthority({ certificate, privateKey })
  }
  const authority = await createAuthority({ commonName: `${AUTHORITY} of ${namespace}` })
  const { certificate, privateKey } = authority
  const secret: KubeObject = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: {
      name: ref.name,
      namespace,
      ownerReferences: [{ apiVersion, kind, name, uid, controller: true }],
    },
    stringData: { 'ca.crt': certificate, 'tls.crt': certificate, 'tls.key': privateKey },
  }
  await client.create(secret, { fieldManager: ACTOR })
  return authority
}

/** The VIP if there is one, otherwise the host of the Route. */
function keystoneUrl(services: readonly KubeObject[], namespace: string): string {
  const service = services.find(({ metadata }) => metadata.name === 'keystone-public')
  const status = service?.['status'] as { loadBalancer?: { ingress?: readonly { ip?: string }[] } } | undefined
  const ip = status?.loadBalancer?.ingress?.[0]?.ip
  if (ip === undefined) return `https://keystone-public-${namespace}.apps.example.com`
  return `https://${ip.includes(':') ? `[${ip}]` : ip}:5000`
}

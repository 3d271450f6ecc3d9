/** Creates the client configuration (`openstack-config`, `openstack-config-secret`) and the CA bundle. No keystone answers. */
import type { KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { createAuthority } from '../../../pki/authority.ts'
import { createMissing } from '../actor-status.ts'

const ACTOR = 'actor-openstack'

export async function ensureAccess(
  client: KubeClient,
  { apiVersion, kind, metadata }: KubeObject,
  secret: KubeObject,
  services: readonly KubeObject[],
): Promise<void> {
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
  const { AdminPassword = '' } = (secret['data'] ?? {}) as Readonly<Record<string, string>>
  const password = Buffer.from(AdminPassword, 'base64').toString('utf8')
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
    const { certificate } = await createAuthority({ commonName: `rootca-public of ${namespace}` })
    objects.push({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: owned(bundle.name),
      stringData: { 'tls-ca-bundle.pem': certificate },
    })
  }
  for (const object of objects) await createMissing(client, undefined, object, ACTOR)
}

/** The VIP if there is one, otherwise the host of the Route. */
function keystoneUrl(services: readonly KubeObject[], namespace: string): string {
  const service = services.find(({ metadata }) => metadata.name === 'keystone-public')
  const status = service?.['status'] as { loadBalancer?: { ingress?: readonly { ip?: string }[] } } | undefined
  const ip = status?.loadBalancer?.ingress?.[0]?.ip
  if (ip === undefined) return `https://keystone-public-${namespace}.apps.example.com`
  return `https://${ip.includes(':') ? `[${ip}]` : ip}:5000`
}

/**
 * The DNS server of a control plane, as openstack-operator asks for it: a DNSMasq `dns` with the template's fields.
 *
 * Who serves it is another matter: infra-operator does, or Stackloom's operator. Neither need run here, so the actor
 * also makes its Service, owned by the DNSMasq as theirs is.
 */
import { createHash } from 'node:crypto'
import type { KubeObject } from '../../../api/object.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { annotation } from '../actor.ts'

const DNSMASQ = { apiVersion: 'network.openstack.org/v1beta1', kind: 'DNSMasq' }
const TEMPLATE = annotation('template')

/** Made where it is missing, changed where the template was; undefined where there is none, or no such kind. */
export async function ensureDnsMasq(
  client: KubeClient,
  { apiVersion, kind, metadata, ...rest }: KubeObject,
  fieldManager: string,
): Promise<KubeObject | undefined> {
  const { dns } = rest['spec'] as { readonly dns?: { enabled?: boolean; template?: object } }
  if (!dns?.template || dns.enabled === false || !(await client.resource(DNSMASQ))) return undefined
  const { namespace = '', name, uid = '' } = metadata
  const template = createHash('sha256').update(JSON.stringify(dns.template)).digest('hex')
  const live = await client.get({ ...DNSMASQ, namespace, name: 'dns' })
  if (live?.metadata.annotations?.[TEMPLATE] === template) return live
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
  const wanted = {
    ...DNSMASQ,
    metadata: {
      name: 'dns',
      namespace,
      annotations: { [TEMPLATE]: template },
      ownerReferences: [owner],
    },
    spec: dns.template,
  }
  return client.apply(wanted, { fieldManager, force: true })
}

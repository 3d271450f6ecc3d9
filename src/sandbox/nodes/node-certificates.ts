/** Lists the certificates that a sandbox with nodes needs in addition. Pure. */
import type { LeafRequest } from '../../pki/authority.ts'
import { API_SERVER_HOSTS } from '../certificates.ts'
import { CONTROL_ADDRESS, type NodeLayout } from './node-layout.ts'

/** Their users have the rights that Kubernetes grants to these names; the others have no built-in role. */
export function nodeCertificates({ nodes }: NodeLayout): Readonly<Record<string, LeafRequest>> {
  const administrator = (commonName: string): LeafRequest => ({
    commonName,
    organizations: ['system:masters'],
    uses: ['client'],
  })
  return {
    'apiserver-nodes': {
      commonName: 'kube-apiserver',
      hosts: [...API_SERVER_HOSTS, CONTROL_ADDRESS],
      uses: ['server'],
    },
    'apiserver-kubelet-client': administrator('kube-apiserver-kubelet-client'),
    scheduler: { commonName: 'system:kube-scheduler', uses: ['client'] },
    'kube-proxy': { commonName: 'system:kube-proxy', uses: ['client'] },
    coredns: administrator('coredns'),
    multus: administrator('multus'),
    ...Object.fromEntries(
      nodes.map(({ name }): [string, LeafRequest] => [
        kubeletCertificate(name),
        { commonName: `system:node:${name}`, organizations: ['system:nodes'], uses: ['client'] },
      ]),
    ),
  }
}

export function kubeletCertificate(node: string): string {
  return `kubelet-${node}`
}

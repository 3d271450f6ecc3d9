/** Configures CoreDNS, which runs beside the control plane, and the Service through which pods reach it. Pure. */
import type { KubeObject } from '../../api/object.ts'
import { CONTROL_ADDRESS } from './node-layout.ts'

export const CLUSTER_DNS = '10.96.0.10'
export const CLUSTER_DOMAIN = 'cluster.local'

const PORT = 53
const NAME = { name: 'kube-dns', namespace: 'kube-system' }

/** Knows the names of the cluster only; nothing is forwarded to the resolver of this machine. */
export function corefile(kubeconfig: string): string {
  return `.:${PORT} {
    bind ${CONTROL_ADDRESS}
    errors
    kubernetes ${CLUSTER_DOMAIN} in-addr.arpa ip6.arpa {
        kubeconfig ${JSON.stringify(kubeconfig)}
        pods insecure
        ttl 30
    }
    cache 30
    loadbalance
}
`
}

export function clusterDnsObjects(): readonly KubeObject[] {
  const protocols = [
    { name: 'dns', protocol: 'UDP' },
    { name: 'dns-tcp', protocol: 'TCP' },
  ]
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { ...NAME, labels: { 'k8s-app': 'kube-dns', 'kubernetes.io/name': 'CoreDNS' } },
      spec: {
        clusterIP: CLUSTER_DNS,
        clusterIPs: [CLUSTER_DNS],
        ports: protocols.map((protocol) => ({ ...protocol, port: PORT, targetPort: PORT })),
      },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...NAME, labels: { 'kubernetes.io/service-name': NAME.name } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [CONTROL_ADDRESS], conditions: { ready: true } }],
      ports: protocols.map((protocol) => ({ ...protocol, port: PORT })),
    },
  ]
}

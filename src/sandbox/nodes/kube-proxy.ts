/** Configures kube-proxy for a node. Pure. */
import path from 'node:path'
import { POD_RANGE, type SandboxNode } from './node-layout.ts'

export const KUBE_PROXY_PORT = 10_256

export function kubeProxyConfig({ name, folder, address }: SandboxNode): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clientConnection: { kubeconfig: path.join(folder, 'kube-proxy.kubeconfig') },
    clusterCIDR: POD_RANGE,
    hostnameOverride: name,
    healthzBindAddress: `${address}:${KUBE_PROXY_PORT}`,
    metricsBindAddress: `${address}:10249`,
    oomScoreAdj: 0,
    // These are settings of the machine, which a network namespace cannot change.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  }
}

/** Configures the kubelet of a node. Pure. */
import path from 'node:path'
import { CLUSTER_DNS, CLUSTER_DOMAIN } from './cluster-dns.ts'
import type { SandboxNode } from './node-layout.ts'

export const KUBELET_PORT = 10_250

export function kubeletConfig({ folder, socket, cgroup, address }: SandboxNode, clientCa: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address,
    port: KUBELET_PORT,
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: clientCa } },
    authorization: { mode: 'Webhook' },
    containerRuntimeEndpoint: `unix://${socket}`,
    // Several nodes share one machine, and nothing else on it belongs to them.
    cgroupRoot: cgroup,
    cgroupDriver: 'cgroupfs',
    failCgroupV1: false,
    failSwapOn: false,
    enforceNodeAllocatable: [],
    clusterDNS: [CLUSTER_DNS],
    clusterDomain: CLUSTER_DOMAIN,
    resolvConf: path.join(folder, 'resolv.conf'),
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
    // The disk is not the node's: a full one must not evict pods or remove images that no registry has.
    evictionHard: { 'nodefs.available': '0%', 'nodefs.inodesFree': '0%', 'imagefs.available': '0%' },
    imageGCHighThresholdPercent: 100,
    // kube-proxy has its own rules, and this one needs iptables.
    makeIPTablesUtilChains: false,
    healthzPort: 0,
    registerNode: true,
  }
}

export function kubeletArgs({ name, address, folder }: SandboxNode): readonly string[] {
  return [
    `--config=${path.join(folder, 'kubelet.json')}`,
    `--kubeconfig=${path.join(folder, 'kubelet.kubeconfig')}`,
    `--hostname-override=${name}`,
    `--node-ip=${address}`,
    '--v=1',
  ]
}

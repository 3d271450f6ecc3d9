/**
 * Configures the networks of pods on a node: Multus, which calls the bridge plugin for the pod network and the plugin of each
 * requested attachment, and whereabouts for their addresses. Pure.
 */
import type { SandboxNode } from './node-layout.ts'

/** Plugins by the name that configurations call them, and the programs that they are. */
export const cniPlugins = {
  bridge: 'cni-bridge',
  'host-local': 'cni-host-local',
  loopback: 'cni-loopback',
  macvlan: 'cni-macvlan',
  multus: 'multus',
  static: 'cni-static',
  whereabouts: 'whereabouts',
} as const

/** Below /etc/cni. */
export const MULTUS_CONFIG = 'net.d/00-multus.conf'
const KUBECONFIG = '/etc/cni/multus.kubeconfig'

/** Files below /etc/cni of the node. */
export function cniFiles(node: Pick<SandboxNode, 'podCidr'>, kubeconfig: string): ReadonlyMap<string, string> {
  return new Map([
    [MULTUS_CONFIG, format(multusConfig(node))],
    [
      'net.d/whereabouts.d/whereabouts.conf',
      format({ datastore: 'kubernetes', kubernetes: { kubeconfig: KUBECONFIG } }),
    ],
    ['multus.kubeconfig', kubeconfig],
  ])
}

function multusConfig(node: Pick<SandboxNode, 'podCidr'>): object {
  return {
    cniVersion: '0.3.1',
    name: 'multus-cni-network',
    type: 'multus',
    kubeconfig: KUBECONFIG,
    binDir: '/opt/cni/bin',
    // Its lines go to the log of containerd.
    logLevel: 'error',
    logToStderr: true,
    delegates: [bridgeConfig(node)],
  }
}

/** No masquerading: every node and the control plane have routes to the pods of the others. */
function bridgeConfig({ podCidr }: Pick<SandboxNode, 'podCidr'>): object {
  return {
    cniVersion: '0.3.1',
    name: 'pod-network',
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      // In memory: no pod survives a stop.
      dataDir: '/run/cni/addresses',
      ranges: [[{ subnet: podCidr }]],
      routes: [{ dst: '0.0.0.0/0' }],
    },
  }
}

function format(config: object): string {
  return `${JSON.stringify(config, null, 2)}\n`
}

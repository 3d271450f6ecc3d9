/**
 * Gives the nodes of a test a network for tunnels, and says what Open vSwitch knows of them. The kernel of the machine has
 * neither Geneve nor Open vSwitch: the datapath is a process, which sends tunnels through a bridge of its own only.
 */
import { succeeded } from '../../../src/exec/process.ts'
import type { DataPlaneNodes } from '../dataplane/nodes.ts'

/** The address of a node in the network for tunnels. */
export function tunnelAddress(nodes: DataPlaneNodes, host: string): string {
  return nodes.node(host).address.replace('192.168.122.', '172.19.0.')
}

export async function createTunnelNetwork(nodes: DataPlaneNodes, hosts: readonly string[]): Promise<void> {
  for (const host of hosts) {
    const script = `set -e
systemctl start openvswitch-switch
ip link add link eth0 name eth1 type macvlan mode bridge
ip link set eth1 up
# A macvlan device gets only frames to its own address, so that the bridge must have the same one.
address=$(cat /sys/class/net/eth1/address)
ovs-vsctl --timeout=60 add-br br-phy -- set bridge br-phy datapath_type=netdev other-config:hwaddr=$address -- add-port br-phy eth1
ip address add ${tunnelAddress(nodes, host)}/24 dev br-phy
ip link set br-phy up`
    const { exit, stderr } = await nodes.node(host).run('sh', '-c', script)
    if (!succeeded(exit)) throw new Error(stderr)
  }
}

/** What a person would look at when packets of one host do not arrive at another. */
export async function describeTunnels(nodes: DataPlaneNodes, hosts: readonly string[]): Promise<string> {
  const commands = [
    'ip -brief address',
    'ovs-vsctl show',
    'ovs-vsctl --columns=name,ofport,error,link_state,mac_in_use,options list Interface',
    'ovs-appctl dpif/show',
    'ovs-appctl ovs/route/show',
    'ovs-appctl tnl/ports/show',
    'ovs-appctl tnl/neigh/show',
    'ovs-appctl fdb/show br-phy',
    'ovs-appctl dpctl/dump-flows',
    'ovn-appctl -t ovn-controller connection-status',
    'tail -n 20 /var/log/openvswitch/ovs-vswitchd.log',
    'tail -n 10 /var/log/ovn/ovn-controller.log',
  ]
  const script = commands.map((command) => `echo "# ${command}"; timeout 20 ${command} 2>&1`).join('\n')
  const found = await Promise.all(
    hosts.map(async (host) => `## ${host}\n${(await nodes.node(host).run('sh', '-c', script)).stdout}`),
  )
  return found.join('\n')
}

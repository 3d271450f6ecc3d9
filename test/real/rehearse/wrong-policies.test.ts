/**
 * Applies wrong policies with the real nmstate on a virtual machine: the finding has the line that names the cause and says what
 * to change, and nmstate has rolled the node back.
 */
import { beforeEach, describe, expect, it } from 'vitest'
import { applyPolicies, differingLines } from '../../../src/rehearse/apply-policies.ts'
import { STATE_SCRIPT } from '../../../src/rehearse/node-scripts.ts'
import { requireSoak } from '../../counts.ts'
import { requireRehearsal } from './prepared.ts'
import { singleNodeTopology, startTopology } from './running-topology.ts'

const NIC = 'eth1'

function vlan(base: string, id: number, more: object = {}): object {
  return { name: `${base}.${id}`, type: 'vlan', state: 'up', mtu: 1500, vlan: { 'base-iface': base, id }, ...more }
}

function policy(name: string, ...interfaces: readonly object[]) {
  return {
    apiVersion: 'nmstate.io/v1',
    kind: 'NodeNetworkConfigurationPolicy',
    metadata: { name },
    spec: { desiredState: { interfaces } },
  }
}

const address = { enabled: true, dhcp: false, address: [{ ip: '172.17.0.10', 'prefix-length': 24 }] }
const right = policy('right', { name: NIC, type: 'ethernet', state: 'up', mtu: 1500 }, vlan(NIC, 20, { ipv4: address }))

const wrong = [
  {
    what: 'a NIC that the node lacks',
    iface: vlan('eth9', 50),
    line: /Failed to find a compatible device/,
    remedy: /no such NIC: correct `nic` or `nics`/,
  },
  {
    what: 'a VLAN id out of range',
    iface: vlan(NIC, 5000),
    line: /vlan\.id: .*out of range/,
    remedy: /from 1 to 4094/,
  },
  {
    what: 'an MTU above that of the NIC',
    iface: vlan(NIC, 51, { mtu: 9000 }),
    line: /mtu desire '9000', current '1500'/,
    remedy: /raise the MTU of the NIC/,
  },
  {
    what: 'a VLAN that another interface has',
    iface: vlan(NIC, 20, { name: 'internal' }),
    line: /Failed to create VLAN interface 'internal'.*File exists/,
    remedy: /another interface of the node has this VLAN/,
  },
  {
    what: 'a field that nmstate does not know',
    iface: vlan(NIC, 52, { mtuu: 1500 }),
    line: /unknown field `mtuu`/,
    remedy: /remove the field/,
  },
]

// Together: nmstate waits most of the minutes that it tries.
describe.concurrent('a wrong policy', { timeout: 1_800_000 }, () => {
  beforeEach(requireSoak)
  beforeEach(requireRehearsal)

  it.each(wrong)('is a finding with cause and remedy, and changes nothing: $what', async ({ iface, line, remedy }) => {
    const { nodes, close } = await startTopology(singleNodeTopology([NIC]), ['net.ipv4.ip_forward=1'])
    try {
      const [node] = nodes
      if (!node) throw new Error('no node')
      const [enacted] = await applyPolicies(node, { node: node.name, policies: [right] })
      expect(enacted?.finding).toBeUndefined()
      const before = await node.agent.run(STATE_SCRIPT)
      expect(before.output).toContain('172.17.0.10/24')
      const [outcome, ...rest] = await applyPolicies(node, {
        node: node.name,
        policies: [policy('wrong', iface), right],
      })
      expect(outcome?.finding?.message).toMatch(/^nmstate does not enact policy wrong on node: /)
      expect(outcome?.finding?.message).toMatch(line)
      expect(outcome?.finding?.remedy).toMatch(remedy)
      // No policy after one that failed.
      expect(rest).toEqual([])
      const after = await node.agent.run(STATE_SCRIPT)
      expect(differingLines(before.output, after.output)).toEqual([])
    } finally {
      await close()
    }
  })
})

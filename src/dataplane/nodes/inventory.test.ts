import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import { type EffectiveNode, resolveNode } from '../rules/inheritance.ts'
import { memoizeByNode, renderNodeInventory, renderRoleHost, renderRoleInventory } from './inventory.ts'

const role = dataPlaneRole('edpm-compute', {
  nodeTemplate: {
    ansiblePort: 22,
    ansibleUser: 'root',
    managementNetwork: 'ctlplane',
    ansibleVars: 'ctlplane_dns_nameservers:\n- 192.168.122.1\n',
  },
})
const node = dataPlaneNode('edpm-compute-0', {
  role: 'edpm-compute',
  ansibleHost: '192.168.122.100',
  node: { ansibleVars: 'ctlplane_ip: 192.168.122.100\n' },
})

describe("a role's inventory", () => {
  it('has shared variables in the group and those of a node at the host, as upstream', () => {
    expect(renderRoleInventory(role, [renderRoleHost(resolveNode(node, role), node)])).toEqual({
      inventory: `edpm-compute:
    vars:
        ansible_port: 22
        ansible_user: root
        ctlplane_dns_nameservers:
            - 192.168.122.1
        management_network: ctlplane
    hosts:
        edpm-compute-0:
            ansible_host: 192.168.122.100
            ctlplane_ip: 192.168.122.100
`,
      network: '',
    })
  })

  it('has granted addresses at the host, except variables that the role sets', () => {
    const plain = dataPlaneNode('later', { role: 'edpm-compute', hostName: 'later.example.org' })
    const granted = { ctlplane_ip: '192.168.122.7', ctlplane_dns_nameservers: ['192.168.122.80'] }
    expect(renderRoleHost(resolveNode(plain, role), plain, granted)).toBe(`        later:
            ansible_host: 192.168.122.7
            ctlplane_ip: 192.168.122.7
`)
  })

  it('contains the network template and multi-line texts', () => {
    const templated = dataPlaneRole('r', {
      nodeTemplate: {
        networkConfig: { template: 'network_config:\n- a\n' },
        ansibleVars: 'text: |\n  one\n\n  two\n',
      },
    })
    expect(renderRoleInventory(templated, [])).toEqual({
      inventory: `r:
    vars:
        edpm_network_config_template: /runner/network/nic-config-template
        text: |
            one

            two
`,
      network: 'network_config:\n- a\n',
    })
  })

  it('is a group even without nodes', () => {
    expect(renderRoleInventory(dataPlaneRole('r'), []).inventory).toBe('r: {}\n')
  })
})

describe("a node's inventory", () => {
  it('has everything at the host, the port as a string, and always networks, as upstream', () => {
    const plain = dataPlaneRole('r', {
      nodeTemplate: { ansiblePort: 22, ansibleUser: 'root', managementNetwork: 'ctlplane' },
    })
    const bare = dataPlaneNode('edpm-compute-0', { ansibleHost: '192.168.122.100' })
    expect(renderNodeInventory(resolveNode(bare, plain)).inventory).toBe(`all:
    hosts:
        edpm-compute-0:
            ansible_host: 192.168.122.100
            ansible_port: "22"
            ansible_user: root
            management_network: ctlplane
            networks: []
`)
  })
})

describe('memoizeByNode', () => {
  it('renders again when the effective node or its addresses change, and otherwise never', () => {
    const createEffective = (name: string): EffectiveNode => ({ name }) as EffectiveNode
    let times = 0
    const count = memoizeByNode(({ effective }) => {
      times += 1
      return `${effective.name} ${times}`
    })
    const [effective, addresses] = [createEffective('a'), { ctlplane_ip: '192.0.2.1' }]
    expect(count({ effective, addresses })).toBe('a 1')
    expect(count({ effective, addresses })).toBe('a 1')
    expect(count({ effective, addresses: { ...addresses } })).toBe('a 2')
    expect(count({ effective: createEffective('a'), addresses })).toBe('a 3')
    expect(count({ effective: createEffective('b'), addresses })).toBe('b 4')
  })
})

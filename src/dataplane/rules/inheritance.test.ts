import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import type { NodeSection } from '../kinds/data-plane.ts'
import { ansibleVarsProblem, effectiveAnnotation, resolveNode } from './inheritance.ts'

const mount = (name: string): NonNullable<NodeSection['extraMounts']>[number] => ({
  volumes: [{ name }],
  mounts: [],
})
const full: NodeSection = {
  ansibleUser: 'root',
  ansiblePort: 22,
  managementNetwork: 'ctlplane',
  networkConfig: { template: 'from the role' },
  networks: [{ name: 'ctlplane', subnetName: 'subnet1' }],
  ansibleSSHPrivateKeySecret: 'role-key',
  ansibleVars: 'a: {x: 1}\nb: 2\n',
  extraMounts: [mount('role')],
}
const role = dataPlaneRole('compute', {
  nodeTemplate: full,
  networkAttachments: ['ctlplane'],
  env: [{ name: 'A', value: '1' }],
  deployStrategy: { deploy: true, ansibleTags: 'role' },
  services: ['install-os'],
})

describe('the effective node', () => {
  it('inherits the values of its role', () => {
    const effective = resolveNode(dataPlaneNode('n', { role: 'compute', hostName: 'host' }), role)
    expect(effective).toEqual({
      name: 'n',
      role: 'compute',
      ansibleHost: '',
      hostName: 'host',
      ansibleUser: 'root',
      ansiblePort: 22,
      managementNetwork: 'ctlplane',
      networkTemplate: 'from the role',
      networks: full.networks,
      vars: { a: { x: 1 }, b: 2 },
      runner: {
        sshSecret: 'role-key',
        extraMounts: full.extraMounts,
        networkAttachments: ['ctlplane'],
        env: [{ name: 'A', value: '1' }],
        ansibleTags: 'role',
        ansibleSkipTags: '',
      },
      ansibleLimit: '',
      services: ['install-os'],
      hasStrategy: true,
      deploy: true,
      deployedBy: 'role',
    })
  })

  it('overrides whole values: lists are not joined, and variables are merged only at the top level', () => {
    const node = dataPlaneNode('n', {
      ansibleHost: '192.168.122.100',
      hostName: 'host',
      node: {
        ansibleUser: 'stack',
        ansiblePort: 2022,
        networks: [{ name: 'tenant', subnetName: 'subnet1' }],
        networkConfig: { template: 'own' },
        ansibleSSHPrivateKeySecret: 'own-key',
        ansibleVars: 'a: {y: 1}\n',
        extraMounts: [mount('own')],
      },
      networkAttachments: ['tenant'],
      env: [{ name: 'B', value: '2' }],
    })
    const { vars, networks, ansibleHost, ansiblePort, runner, networkTemplate } = resolveNode(node, role)
    expect(vars).toEqual({ a: { y: 1 }, b: 2 })
    expect(networks).toEqual([{ name: 'tenant', subnetName: 'subnet1' }])
    expect([ansibleHost, ansiblePort, networkTemplate]).toEqual(['192.168.122.100', 2022, 'own'])
    expect(runner).toMatchObject({ sshSecret: 'own-key', networkAttachments: ['tenant'] })
    expect(runner.extraMounts).toEqual([mount('own')])
    expect(runner.env).toEqual([{ name: 'B', value: '2' }])
  })

  it('treats empty lists and texts as not set', () => {
    const node = dataPlaneNode('n', {
      networkAttachments: [],
      node: { networks: [], ansibleUser: '', ansiblePort: 0 },
    })
    const { networks, ansibleUser, ansiblePort, runner } = resolveNode(node, role)
    expect([ansibleUser, ansiblePort, networks.length]).toEqual(['root', 22, 1])
    expect(runner.networkAttachments).toEqual(['ctlplane'])
  })

  it('deploys by the strategy of the node, else of the role, and not at all without one', () => {
    const deploy = (nodeStrategy?: object, roleStrategy?: object): readonly unknown[] => {
      const { deploy, deployedBy } = resolveNode(
        dataPlaneNode('n', nodeStrategy && { deployStrategy: nodeStrategy }),
        dataPlaneRole('r', roleStrategy && { deployStrategy: roleStrategy }),
      )
      return [deploy, deployedBy]
    }
    expect(deploy()).toEqual([false, 'role'])
    expect(deploy(undefined, { deploy: true })).toEqual([true, 'role'])
    expect(deploy({ deploy: false }, { deploy: true })).toEqual([false, 'node'])
    expect(deploy({}, { deploy: false })).toEqual([true, 'node'])
  })

  it('has only its own values, and no services, without a role', () => {
    expect(resolveNode(dataPlaneNode('n', {}), undefined)).toMatchObject({
      services: [],
      ansibleUser: '',
      deploy: false,
    })
  })

  it('overrides annotations by key, also with an empty value', () => {
    const annotated = dataPlaneRole('r', {}, { cell: 'one', other: 'role' })
    const annotation = (annotations: Record<string, string>, key: string): string | undefined =>
      effectiveAnnotation(dataPlaneNode('n', {}, annotations), annotated, key)
    expect(annotation({}, 'cell')).toBe('one')
    expect(annotation({ cell: 'two' }, 'cell')).toBe('two')
    expect(annotation({ cell: '' }, 'cell')).toBe('')
    expect(annotation({ cell: 'two' }, 'other')).toBe('role')
  })
})

describe('ansibleVars', () => {
  it('are a YAML mapping or empty; anything else is reported with its line', () => {
    expect(ansibleVarsProblem('a: 1')).toBeUndefined()
    expect(ansibleVarsProblem('')).toBeUndefined()
    expect(ansibleVarsProblem('# only a comment')).toBeUndefined()
    expect(ansibleVarsProblem('- a')).toBe('it is not a mapping of names to values')
    expect(ansibleVarsProblem('a: 1\nb: [')).toMatch(/^line [23]: /)
  })
})

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

describe('what holds for a node', () => {
  it("is its role's where it has nothing of its own", () => {
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

  it('is its own, as a whole value: lists are not joined and variables are not merged below their names', () => {
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

  it("takes empty lists and texts of its own for nothing: the role's hold", () => {
    const node = dataPlaneNode('n', {
      networkAttachments: [],
      node: { networks: [], ansibleUser: '', ansiblePort: 0 },
    })
    const { networks, ansibleUser, ansiblePort, runner } = resolveNode(node, role)
    expect([ansibleUser, ansiblePort, networks.length]).toEqual(['root', 22, 1])
    expect(runner.networkAttachments).toEqual(['ctlplane'])
  })

  it('deploys by the strategy of the node if it has one, else of the role; one that nobody wrote deploys nothing', () => {
    const deploy = (own?: object, roles?: object): readonly unknown[] => {
      const { deploy, deployedBy } = resolveNode(
        dataPlaneNode('n', own && { deployStrategy: own }),
        dataPlaneRole('r', roles && { deployStrategy: roles }),
      )
      return [deploy, deployedBy]
    }
    expect(deploy()).toEqual([false, 'role'])
    expect(deploy(undefined, { deploy: true })).toEqual([true, 'role'])
    expect(deploy({ deploy: false }, { deploy: true })).toEqual([false, 'node'])
    expect(deploy({}, { deploy: false })).toEqual([true, 'node'])
  })

  it('has nothing but its own values, and no services, without a role', () => {
    expect(resolveNode(dataPlaneNode('n', {}), undefined)).toMatchObject({
      services: [],
      ansibleUser: '',
      deploy: false,
    })
  })

  it('knows annotations key by key: an empty one on the node wins too', () => {
    const annotated = dataPlaneRole('r', {}, { cell: 'one', other: 'role' })
    const of = (own: Record<string, string>, key: string): string | undefined =>
      effectiveAnnotation(dataPlaneNode('n', {}, own), annotated, key)
    expect(of({}, 'cell')).toBe('one')
    expect(of({ cell: 'two' }, 'cell')).toBe('two')
    expect(of({ cell: '' }, 'cell')).toBe('')
    expect(of({ cell: 'two' }, 'other')).toBe('role')
  })
})

describe('ansibleVars', () => {
  it('are a mapping in YAML, or nothing; anything else is said with its line', () => {
    expect(ansibleVarsProblem('a: 1')).toBeUndefined()
    expect(ansibleVarsProblem('')).toBeUndefined()
    expect(ansibleVarsProblem('# only a comment')).toBeUndefined()
    expect(ansibleVarsProblem('- a')).toBe('it is not a mapping of names to values')
    expect(ansibleVarsProblem('a: 1\nb: [')).toMatch(/^line [23]: /)
  })
})

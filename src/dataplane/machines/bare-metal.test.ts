import { describe, expect, it } from 'vitest'
import { dataPlaneNode, dataPlaneRole } from '../../../test/data-plane.ts'
import type { BaremetalTemplate } from '../kinds/baremetal-template.ts'
import {
  type BareMetalHost,
  bareMetalHosts,
  chooseMachine,
  resolveMachine,
  withClaim,
  withoutClaim,
} from './bare-metal.ts'
import { renderNetworkData, renderUserData } from './cloud-init.ts'

const template: BaremetalTemplate = {
  ctlplaneInterface: 'eno1',
  deploymentSSHSecret: 'key',
  bmhNamespace: 'metal',
  osImage: 'http://images/os',
  domainName: 'example.org',
  ctlplaneGateway: '192.168.122.1',
  bootstrapDns: ['192.168.122.2'],
}
const host = (name: string, more: Partial<BareMetalHost> = {}): BareMetalHost => ({
  ...bareMetalHosts,
  metadata: { name, namespace: 'metal', labels: { rack: 'a' } },
  spec: { online: false },
  status: {
    provisioning: { state: 'available' },
    hardware: {
      cpu: { arch: 'x86_64', count: 8 },
      ramMebibytes: 65_536,
      storage: [{ sizeBytes: 2 ** 40, rotational: false }],
    },
  },
  ...more,
})
const why = (hosts: readonly BareMetalHost[], requirements: Partial<BaremetalTemplate> = {}): string => {
  const choice = chooseMachine(hosts, { ...template, ...requirements })
  return choice.kind === 'found' ? choice.host.metadata.name : choice.why
}

describe('the machine of a node', () => {
  it('is the first free one with the labels and the hardware', () => {
    expect(why([host('b'), host('a')])).toBe('a')
    expect(why([])).toBe('there are none')
    expect(why([host('a')], { bmhNamespace: 'elsewhere' })).toBe('there are none')
    expect(why([host('a')], { bmhLabelSelector: { rack: 'b' } })).toBe('none has the labels')
    expect(why([host('a', { spec: { consumerRef: { name: 'x' } } })])).toBe('all are claimed or not available')
    expect(why([host('a', { status: { provisioning: { state: 'inspecting' } } })])).toBe(
      'all are claimed or not available',
    )
  })

  it.each<[string, BaremetalTemplate['hardwareReqs'] & {}]>([
    ['processors', { cpuReqs: { countReq: { count: 16 } } }],
    ['exactly so many processors', { cpuReqs: { countReq: { count: 4, exactMatch: true } } }],
    ['another architecture', { cpuReqs: { arch: 'ppc64le' } }],
    ['memory', { memReqs: { gbReq: { gb: 128 } } }],
    ['a disk of the size', { diskReqs: { gbReq: { gb: 2_000 } } }],
    ['a disk that turns', { diskReqs: { ssdReq: { ssd: false, exactMatch: true } } }],
  ])('is not one without %s', (_, hardwareReqs) => {
    expect(why([host('a')], { hardwareReqs })).toBe('none has the hardware')
  })

  it('is needed only when the role is not preProvisioned and has a template', () => {
    const of = (spec: object): string => resolveMachine(dataPlaneRole('r', spec), () => undefined).kind
    expect(of({})).toBe('not-needed')
    expect(of({ preProvisioned: true, baremetalSetTemplate: template })).toBe('not-needed')
    expect(of({ baremetalSetTemplate: template })).toBe('awaited')
  })

  it('has no claim after it is released', () => {
    const taken = withClaim(host('a'), dataPlaneNode('n'), template, { userData: 'u', networkData: 'd' })
    expect(taken.spec).toMatchObject({
      online: true,
      consumerRef: { kind: 'OpenStackDataPlaneNode', name: 'n' },
    })
    expect(withoutClaim(taken).spec).toEqual({ online: false, automatedCleaningMode: 'metadata' })
  })
})

describe('the first boot of a machine', () => {
  it('authorizes the cloud user by key, and configures the address', () => {
    const text = renderUserData(template, {
      hostName: 'n',
      authorizedKeys: 'ssh-ed25519 A\n\nssh-rsa B\n',
      rootPassword: undefined,
    })
    const [mark = '', ...rest] = text.split('\n')
    expect(mark).toBe('#cloud-config')
    const content = JSON.parse(rest.join('\n')) as Record<string, unknown>
    expect(content).toMatchObject({
      fqdn: 'n.example.org',
      users: [{ name: 'cloud-admin', ssh_authorized_keys: ['ssh-ed25519 A', 'ssh-rsa B'] }],
    })
    expect(content).not.toHaveProperty('chpasswd')
    expect(JSON.parse(renderNetworkData(template, '192.168.122.100'))).toMatchObject({
      networks: [{ link: 'eno1', type: 'ipv4', ip_address: '192.168.122.100', routes: [{ gateway: '192.168.122.1' }] }],
      services: [{ type: 'dns', address: '192.168.122.2' }],
    })
  })
})

import { describe, expect, it } from 'vitest'
import { type AnsibleRun, type AnsibleRunSpec, ansibleRuns } from '../kinds/ansible-run.ts'
import { findForbidden, type RunPolicy, safeRunPolicy } from './run-policy.ts'

const run = (spec: AnsibleRunSpec): AnsibleRun => ({ ...ansibleRuns, metadata: { name: 'r', namespace: 'ns' }, spec })
const volume = (source: object): AnsibleRunSpec => ({
  extraMounts: [{ volumes: [{ name: 'v', ...source }], mounts: [{ name: 'v', mountPath: '/v' }] }],
})
const codes = (spec: AnsibleRunSpec, policy: RunPolicy = safeRunPolicy): readonly string[] =>
  findForbidden(run(spec), policy).map(({ code }) => code)
const token = { sources: [{ serviceAccountToken: { path: 'token' } }] }

describe('findForbidden', () => {
  it.each<[string, AnsibleRunSpec]>([
    ['a folder of the node', volume({ hostPath: { path: '/' } })],
    ['a driver', volume({ csi: { driver: 'x' } })],
    ['a kind of volume that this version does not know', volume({ future: {} })],
    ['a token of the service account', volume({ projected: token })],
    ['a service account', { serviceAccountName: 'admin' }],
    ['root', { uid: 0 }],
    ['a privileged init container', { initContainers: [{ name: 'c', securityContext: { privileged: true } }] }],
    ['a port of the node', { initContainers: [{ name: 'c', ports: [{ hostPort: 22 }] }] }],
    ['a device', { initContainers: [{ name: 'c', volumeDevices: [{ name: 'v', devicePath: '/dev/x' }] }] }],
    [
      'mounts that reach the node',
      { extraMounts: [{ volumes: [], mounts: [{ name: 'v', mountPath: '/v', mountPropagation: 'Bidirectional' }] }] },
    ],
  ])('refuses %s by default', (_, spec) => {
    expect(codes(spec)).toEqual(['SL7540'])
    const everything = {
      volumes: ['hostPath', 'csi', 'future', 'projected'],
      serviceAccounts: ['admin'],
      privileged: true,
    }
    expect(codes(spec, everything)).toEqual([])
  })

  it('accepts the default account by its name', () => {
    expect(codes({ serviceAccountName: 'default' })).toEqual([])
  })

  it('accepts what is in the namespace of the run', () => {
    const projected = { sources: [{ secret: { name: 's' } }, { configMap: { name: 'c' } }] }
    for (const source of [
      { secret: { secretName: 's' } },
      { configMap: { name: 'c' } },
      { emptyDir: {} },
      { projected },
    ])
      expect(codes(volume(source))).toEqual([])
    expect(codes({ uid: 1001, initContainers: [{ name: 'c', image: 'i', command: ['true'] }] })).toEqual([])
  })
})

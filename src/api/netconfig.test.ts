import { describe, expect, it } from 'vitest'
import { type NetConfig, networkVersion, resolveServiceNetwork, selectNetConfig } from './netconfig.ts'

function netConfig(name: string, creationTimestamp: string): NetConfig {
  return {
    apiVersion: networkVersion,
    kind: 'NetConfig',
    metadata: { name, namespace: 'openstack', creationTimestamp },
    spec: { networks: [] },
  }
}

describe('the NetConfig of a namespace', () => {
  it('is the oldest of several, in whatever order they are known', () => {
    const [old, young] = [netConfig('z', '2026-01-01T00:00:00Z'), netConfig('a', '2026-01-02T00:00:00Z')]
    expect(selectNetConfig([young, old])).toBe(old)
    expect(selectNetConfig([old, young])).toBe(old)
    expect(selectNetConfig([])).toBeUndefined()
  })
})

describe('a service network', () => {
  it('is what the network says, or its own name where it says nothing', () => {
    expect(resolveServiceNetwork('Storage', 'storagemgmt')).toBe('storagemgmt')
    expect(resolveServiceNetwork('CtlPlane', undefined)).toBe('ctlplane')
    expect(resolveServiceNetwork('CtlPlane', '')).toBe('ctlplane')
  })
})

import { describe, expect, it } from 'vitest'
import { combineSettings, rejectRunningChange, type StartRequest } from './start-request.ts'

const start = (request: Partial<StartRequest> & { readonly crds?: string } = {}, before?: Settings) =>
  combineSettings({ name: 'one', crds: 'today', ...request }, before, undefined)
type Settings = ReturnType<typeof combineSettings>

describe('the settings of a start', () => {
  it('put programs that listen on all interfaces into a network of their own', () => {
    expect(start().netns).toBe(false)
    expect(start({ certManager: true })).toMatchObject({ netns: true, parts: expect.arrayContaining(['cert-manager']) })
    expect(start({ olm: true })).toMatchObject({ netns: true, parts: expect.arrayContaining(['olm']) })
  })

  it('keep cert-manager and OLM of the start before, until a start says otherwise', () => {
    const before = start({ certManager: true, olm: true })
    expect(start({}, before).parts).toEqual(before.parts)
    expect(start({ certManager: false }, before).parts).not.toContain('cert-manager')
  })

  it('refuse cert-manager without its CRDs', () => {
    expect(() => start({ certManager: true, crds: 'none' })).toThrow('--crd none')
  })

  it('refuse OpenStack in a sandbox with pods', () => {
    const pods = { nodes: [{ name: 'worker-0', nics: {} }] } as unknown as NonNullable<Settings['pods']>
    const request = { name: 'one', crds: 'today', openstack: true } as const
    expect(() => combineSettings(request, undefined, pods)).toThrow(
      '--openstack and --pods cannot be combined: the VIPs',
    )
  })

  it('refuse to start it in a sandbox that runs', () => {
    expect(() => rejectRunningChange({ name: 'one', certManager: true }, start())).toThrow('--cert-manager')
  })

  it('leave out the actor of a program that runs, and keep the operators that OLM installs simulated', () => {
    expect(start({ olm: true, actors: ['olm', 'openstack'] }).actors).toEqual(['operators', 'openstack'])
  })
})

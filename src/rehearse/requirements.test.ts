import { describe, expect, it } from 'vitest'
import { type HostFacts, judgeHost } from './requirements.ts'

const fit: HostFacts = { platform: 'linux', arch: 'x64', isRoot: true, hasTun: true, missing: [] }
const messages = (facts: Partial<HostFacts>) =>
  judgeHost({ ...fit, ...facts }).map(({ code, message, remedy }) => `${code} ${message}; ${remedy}`)

describe('a machine for rehearsals', () => {
  it('has no finding with all programs, as root on Linux', () => {
    expect(messages({})).toEqual([])
  })

  it('gets the packages with the missing programs', () => {
    expect(messages({ missing: ['mmdebstrap', 'qemu-img', 'unshare', 'nsenter'] })).toEqual([
      'SL9300 rehearse needs qemu-img, mmdebstrap, unshare, nsenter, which this machine does not have; ' +
        'install them: `apt-get install qemu-utils mmdebstrap util-linux`',
    ])
  })

  it.each([
    { facts: { platform: 'darwin' }, reason: 'this is darwin, not Linux' },
    { facts: { arch: 'arm64' }, reason: 'the processor is arm64; the nodes are x86_64' },
    { facts: { isRoot: false }, reason: 'this user is not root' },
    // Only root may open the device, so another user is not told that there is none.
    { facts: { isRoot: false, hasTun: false }, reason: 'this user is not root' },
    { facts: { hasTun: false }, reason: 'there is no /dev/net/tun; load its module' },
  ])('is refused where $reason', ({ facts, reason }) => {
    expect(messages(facts)).toEqual([expect.stringContaining(`SL9301 rehearse cannot run here: ${reason}`)])
  })
})

import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { DEFAULT_IMAGE } from '../../controllers/dns/dnsmasq-deployment.ts'
import { DNSMASQ_REFERENCE, PROBE_REFERENCE } from '../../sandbox/images/image-table.ts'
import { main } from '../main.ts'
import { define as defineVerify } from '../verify/command.ts'

describe('the names of images', () => {
  it('are those that objects have by default', () => {
    const verify = new Command()
    defineVerify(verify, { io: testIo(), act: async () => undefined })
    expect(DNSMASQ_REFERENCE).toBe(DEFAULT_IMAGE)
    expect(PROBE_REFERENCE).toBe(`docker.io/library/${verify.opts()['probeImage']}`)
  })
})

describe('`sandbox image build`', () => {
  it('refuses an image that it does not know, and names those that it does', async () => {
    const io = testIo()
    expect(await main(['sandbox', 'image', 'build', 'nova'], io)).toBe(2)
    expect(io.err()).toContain('pause, operator, dnsmasq, ansible-runner, probe')
  })

  it('loads into the nodes of an existing sandbox only', async () => {
    const io = testIo({ env: { XDG_STATE_HOME: '/nonexistent' } })
    expect(await main(['sandbox', 'image', 'build', 'probe', '--load', '--name', 'absent'], io)).not.toBe(0)
    expect(io.err()).toContain('SL1213')
  })
})

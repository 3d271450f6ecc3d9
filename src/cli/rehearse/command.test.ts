import { describe, expect, it } from 'vitest'
import { testIo } from '../../../test/io.ts'
import { main } from '../main.ts'

async function rehearse(env: Record<string, string>, ...words: readonly string[]) {
  const io = testIo({ env })
  const code = await main(['rehearse', '-f', 'examples/two-clouds.yaml', ...words], io)
  return { code, err: io.err() }
}

describe('stackloom rehearse', () => {
  it('names the packages that are missing and starts nothing', async () => {
    const { code, err } = await rehearse({ PATH: '/nonexistent' })
    expect(code).toBe(2)
    expect(err).toContain('SL9300')
    expect(err).toMatch(/apt-get install qemu-system-x86 .*mmdebstrap/)
  })

  it('says that no machine is kept', async () => {
    const env = { XDG_STATE_HOME: '/nonexistent' }
    const entered = await rehearse(env, '--enter', 'worker-0')
    expect(entered.code).toBe(2)
    expect(entered.err).toContain('SL9341')
    expect(entered.err).toContain('stackloom rehearse --keep')
    expect(await rehearse(env, '--stop')).toEqual({ code: 0, err: 'no rehearsal is kept\n' })
  })

  it('refuses a report where no folder can be, before machines start', async () => {
    const { code, err } = await rehearse({}, '--report', 'examples/two-clouds.yaml')
    expect(code).toBe(2)
    expect(err).toContain('cannot write examples/two-clouds.yaml: file already exists')
  })

  it('refuses an unknown fault, cloud and number of nodes', async () => {
    expect((await rehearse({}, '--fault', 'nothing')).err).toContain('missing-vlan')
    expect((await rehearse({ PATH: process.env['PATH'] ?? '' }, '--cloud', 'rhoso9')).err).toContain('rhoso9')
    expect((await rehearse({}, '--nodes', '0')).code).toBe(2)
  })
})

/** The script that reads the state of a node, in an enclosure without a machine. */
import { beforeEach, describe, expect, it } from 'vitest'
import { openEnclosure } from '../../../src/rehearse/enclosure.ts'
import { STATE_SCRIPT } from '../../../src/rehearse/node-scripts.ts'
import { requireRoot, requireTool } from '../../tools.ts'

const COMMANDS = `
link add a0 type veth peer name b0
link set a0 up
link set b0 up
address add fd00::6/64 dev a0
`

describe('the state of a node', { timeout: 60_000 }, () => {
  beforeEach((context) => {
    requireRoot(context)
    for (const tool of ['unshare', 'nsenter', 'ip', 'bridge']) requireTool(context, tool)
  })

  it('is read when the kernel has tested new IPv6 addresses, so that a later one does not differ by that', async () => {
    const enclosure = await openEnclosure()
    try {
      await enclosure.exec({ file: 'ip', args: ['-batch', '-'], input: COMMANDS })
      const { stdout } = await enclosure.exec({ file: 'sh', args: ['-c', STATE_SCRIPT] })
      expect(stdout).toMatch(/a0 +inet6 fd00::6\/64 scope global/)
      expect(stdout).not.toContain('tentative')
    } finally {
      await enclosure.close()
    }
  })
})

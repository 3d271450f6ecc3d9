import { describe, expect, it } from 'vitest'
import { extractCause } from './failure-cause.ts'

describe('extractCause', () => {
  it("returns Ansible's first failed task and host, not the recap and not an ignored failure", () => {
    const output = `TASK [common : harmless] ****
fatal: [node2]: FAILED! => {"msg": "never mind"}
...ignoring

TASK [nova-cell : Waiting for nova-compute services] ****
fatal: [node1]: FAILED! => {"changed": false, "msg": "Too many retries"}
fatal: [node2 -> node1]: UNREACHABLE! => {"changed": false, "msg": "timed out", "unreachable": true}

PLAY RECAP ****
node1 : ok=12 failed=1`
    expect(extractCause(output)).toEqual({
      kind: 'ansible',
      task: 'nova-cell : Waiting for nova-compute services',
      host: 'node1',
      cause: 'Too many retries',
      more: 1,
    })
  })

  it('parses results of several lines and of single items', () => {
    const output = `TASK [prechecks : VIP] ****
failed: [node1] (item=10.0.2.250) => {"ansible_loop_var": "item", "stderr": "the VIP answers", "msg": ""}
`
    expect(extractCause(output)).toMatchObject({ host: 'node1', cause: 'the VIP answers' })
    const block = 'TASK [x] ***\nfatal: [node3]: FAILED! => {\n    "msg": "no volume group"\n}\n'
    expect(extractCause(block)).toMatchObject({ host: 'node3', cause: 'no volume group' })
  })

  it.each([
    ['time="2026" level=info msg="x"\ntime="2026" level=fatal msg="disk \\"a\\" is locked"', 'disk "a" is locked'],
    [
      '╷\n│ Error: Error creating network: forbidden\n│ \n│   on networks.tf line 4\n╵',
      'Error: Error creating network: forbidden',
    ],
    ['Collecting\nERROR: No matching distribution\nhint: none', 'ERROR: No matching distribution'],
    ['one\ntwo\n', 'two'],
    ['', ''],
  ])('returns the error line of other tools, or their last line: %j', (output, cause) => {
    expect(extractCause(output)).toEqual({ kind: 'plain', cause })
  })
})

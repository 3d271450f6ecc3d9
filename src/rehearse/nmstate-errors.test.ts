import { describe, expect, it } from 'vitest'
import { explainNmstateError } from './nmstate-errors.ts'

/** Texts that nmstate 2.2.62 printed for wrong policies on a node. */
const cases: readonly {
  readonly what: string
  readonly output: string
  readonly line: RegExp
  readonly remedy: RegExp
}[] = [
  {
    what: 'a missing NIC',
    output: `[2026-11-16T10:00:00Z INFO  nmstate::nm] Retrying\nNmstateError: Bug: Manager(UnknownDevice): Failed to find a compatible device for this connection\n`,
    line: /^Manager\(UnknownDevice\): Failed to find a compatible device/,
    remedy: /has no such NIC/,
  },
  {
    what: 'a VLAN id out of range',
    output:
      "NmstateError: InvalidArgument: Connection(InvalidProperty):vlan.id: value \"5000\" of type 'guint' is out of range for property 'id'\n",
    line: /^InvalidArgument: .*out of range/,
    remedy: /1 to 4094/,
  },
  {
    what: 'an MTU above that of the NIC',
    output:
      "NmstateError: VerificationError: Verification failure: eth1.51.interface.mtu desire '9000', current '1500'\n",
    line: /eth1\.51\.interface\.mtu desire '9000', current '1500'/,
    remedy: /raise the MTU of the NIC/,
  },
  {
    what: 'a VLAN that exists under another name',
    output:
      "NmstateError: Bug: Device(CreationFailed): Failed to create VLAN interface 'internal' for 'internal': File exists\n",
    line: /Failed to create VLAN interface 'internal'/,
    remedy: /has this VLAN already/,
  },
  {
    what: 'an unknown field',
    output: 'Provide file is not valid NetworkState or NetworkPolicy: interfaces: unknown field `mtuu`\n',
    line: /unknown field `mtuu`/,
    remedy: /remove the field/,
  },
]

describe("nmstate's output", () => {
  it.each(cases)('is reduced to the useful line for $what', ({ output, line, remedy }) => {
    const explained = explainNmstateError(output)
    expect(explained.line).toMatch(line)
    expect(explained.remedy).toMatch(remedy)
    expect(explained.isPermanent).toBe(true)
  })

  it('is quoted with its last line when the cause is unknown', () => {
    expect(explainNmstateError('first\nsecond\n').line).toBe('second')
    expect(
      explainNmstateError('NmstateError: VerificationError: Desired route rule not found after apply').isPermanent,
    ).toBe(false)
    expect(explainNmstateError('').line).toBe('nmstatectl gave no reason')
  })
})

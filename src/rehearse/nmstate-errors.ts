/** Finds the line of nmstate's output that names the cause, and says what to change. Pure. */

export interface NmstateError {
  /** The useful line, without the names of nmstate's error classes. */
  readonly line: string
  readonly remedy: string
  /** Whether the policy itself is wrong, so that a second attempt would fail, too. */
  readonly isPermanent: boolean
}

const DEFAULT_REMEDY = 'correct the site file so that nmstate accepts the policy; `stackloom render` prints it'

const causes: readonly { readonly pattern: RegExp; readonly remedy: string }[] = [
  {
    pattern: /Failed to find a compatible device/,
    remedy: 'the node has no such NIC: correct `nic` or `nics` of this node in the site file',
  },
  { pattern: /vlan\.id: .*out of range/, remedy: 'choose a VLAN id from 1 to 4094' },
  {
    pattern: /\.mtu desire '(\d+)', current '(\d+)'/,
    remedy: 'the interface below has a smaller MTU: raise the MTU of the NIC or bond, or lower `mtu` of the network',
  },
  {
    pattern: /Failed to create VLAN interface .*File exists/,
    remedy: 'another interface of the node has this VLAN already: remove it, or choose another `vlan`',
  },
  { pattern: /unknown field/, remedy: 'remove the field: nmstate does not know it' },
]

export function explainNmstateError(output: string): NmstateError {
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const found =
    lines.findLast((line) => /^\w*Error: /.test(line)) ??
    lines.findLast((line) => line.startsWith('Provide')) ??
    lines.at(-1) ??
    'nmstatectl gave no reason'
  const line = found.replace(/^NmstateError: /, '').replace(/^Bug: /, '')
  const cause = causes.find(({ pattern }) => pattern.test(line))
  return { line, remedy: cause?.remedy ?? DEFAULT_REMEDY, isPermanent: cause !== undefined }
}

/** Draws a subnet as a bar: spans by role, reserved ranges, and where addresses are used. */
import type { JSX } from 'preact'
import type { SubnetBar as Subnet } from '../../src/console/documents/addresses.ts'
import { inWindow, WHOLE, type Window } from './zoom-window.ts'

interface SubnetBarProps {
  readonly subnet: Subnet
  readonly window?: Window
  readonly tall?: boolean
}

export function SubnetBar({ subnet, window = WHOLE, tall }: SubnetBarProps): JSX.Element {
  const place = ({ from, to }: Window): Record<string, string> => ({
    left: `${inWindow(window, from)}%`,
    width: `max(2px, ${inWindow(window, to) - inWindow(window, from)}%)`,
  })
  return (
    <div class={`bar${tall ? ' tall' : ''}`} role="img" aria-label={describeSubnet(subnet)}>
      {subnet.spans.map((span) => (
        <span key={span.id} class={`span ${span.role}`} style={place(span)} title={describeSpan(span)}>
          <span class="span-label">{span.role}</span>
        </span>
      ))}
      {subnet.reserved.map((range) => (
        <span key={range.id} class="reserved" style={place(range)} title={`reserved ${range.start} to ${range.end}`} />
      ))}
      {!tall && <Sparkline values={subnet.sparkline} />}
    </div>
  )
}

function describeSpan({ role, start, end, planned, live, size }: Subnet['spans'][number]): string {
  const use = live === undefined ? `${planned} planned` : `${planned} planned, ${live} live`
  return `${role} ${start} to ${end}: ${use} of ${size}`
}

function describeSubnet(subnet: Subnet): string {
  return [`${subnet.cloud} ${subnet.network} ${subnet.cidr}`, ...subnet.spans.map(describeSpan)].join('; ')
}

/** Use of equal pieces of a subnet as one path: fifty clouds have hundreds of them. */
export function Sparkline({ values }: { readonly values: readonly number[] }): JSX.Element {
  const path = values.map((value, index) => (value > 0 ? `M${index} 8v${-Math.max(1.6, value * 8)}h1V8z` : '')).join('')
  return (
    <svg class="sparkline" viewBox={`0 0 ${values.length} 8`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}

export function RoleLegend(): JSX.Element {
  return (
    <ul class="legend" aria-label="Roles of spans">
      {(['nodes', 'pods', 'vips', 'hosts'] as const).map((role) => (
        <li key={role}>
          <span class={`swatch ${role}`} />
          {role}
        </li>
      ))}
      <li>
        <span class="swatch reserved" />
        reserved
      </li>
      <li>
        <span class="swatch used" />
        used
      </li>
    </ul>
  )
}

/** Draws a subnet as a bar: spans by role, reserved ranges, and which addresses are planned, used or wrong. */
import type { ComponentChildren, JSX } from 'preact'
import type { SubnetBar as Subnet } from '../../src/console/documents/addresses.ts'
import { param } from '../state/location.ts'
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
      {!tall && <Use subnet={subnet} />}
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

/** What the chosen mode counts: planned addresses are lighter than live ones, and problems are red. */
function Use({ subnet: { runs, spans } }: { readonly subnet: Subnet }): JSX.Element {
  const mode = param('mode')
  const hasLive = spans.some(({ live }) => live !== undefined)
  const isFull = ({ planned, live }: Run): boolean => (mode === 'plan' || !hasLive ? planned : live)
  const isLight = (run: Run): boolean => run.planned && !isFull(run)
  return (
    <svg class="sparkline" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
      {mode !== 'live' && <path class="only-planned" d={drawRuns(runs.filter(isLight))} />}
      {mode !== 'difference' && <path d={drawRuns(runs.filter(isFull))} />}
      {mode !== 'plan' && <path class="wrong" d={drawRuns(runs.filter(({ problem }) => problem))} />}
    </svg>
  )
}

const modeFields: Readonly<Record<string, 'planned' | 'live' | 'problem' | undefined>> = {
  plan: 'planned',
  live: 'live',
  difference: 'problem',
}

/** What the chosen mode counts as one path: fifty clouds have hundreds of these. */
export function Sparkline({ subnet }: { readonly subnet: Subnet }): JSX.Element {
  const field = modeFields[param('mode')]
  return (
    <svg class="sparkline" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
      <path d={drawRuns(field ? subnet.runs.filter((run) => run[field]) : subnet.runs)} />
    </svg>
  )
}

type Run = Subnet['runs'][number]

/** A run is at least as wide as the eye needs. */
const THINNEST = 6

function drawRuns(runs: readonly Run[]): string {
  return runs
    .map(({ from, to }) => `M${(from * 1000).toFixed(1)} 8V0h${Math.max(THINNEST, (to - from) * 1000).toFixed(1)}V8z`)
    .join('')
}

interface RoleLegendProps {
  readonly hasLive: boolean
  readonly children?: ComponentChildren
}

export function RoleLegend({ hasLive, children }: RoleLegendProps): JSX.Element {
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
      {hasLive && (
        <li>
          <span class="swatch only-planned" />
          planned
        </li>
      )}
      <li>
        <span class="swatch used" />
        {hasLive ? 'live' : 'planned'}
      </li>
      {hasLive && (
        <li>
          <span class="swatch wrong" />
          problem
        </li>
      )}
      {children}
    </ul>
  )
}

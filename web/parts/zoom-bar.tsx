/** A bar with single addresses that can be zoomed: by a span, a dragged range, buttons, or Ctrl and the wheel. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import type { AddressMark, NetworkDocument } from '../../src/console/documents/addresses.ts'
import { param, setParams } from '../state/location.ts'
import { SubnetBar } from './subnet-bar.tsx'
import {
  formatWindow,
  inWindow,
  parseWindow,
  scaleWindow,
  sortWindow,
  WHOLE,
  type Window,
  widen,
} from './zoom-window.ts'

type Subnet = NetworkDocument['subnets'][number]

interface ZoomBarProps {
  readonly subnet: Subnet
  readonly marks: readonly AddressMark[]
}

/** A mark this near to the pointer is the one that is meant, in pixels. */
const NEAR = 8
const WHEEL_END_MS = 150

export function ZoomBar({ subnet, marks }: ZoomBarProps): JSX.Element {
  // While the wheel turns only this bar is drawn again; the address, which draws the whole view, follows at the end.
  const turning = useSignal<Window | undefined>(undefined)
  const window = turning.value ?? parseWindow(param('zoom'))
  useEffect(() => {
    if (!turning.value) return undefined
    const timer = setTimeout(() => {
      if (turning.value) zoomTo(turning.value)
      turning.value = undefined
    }, WHEEL_END_MS)
    return () => clearTimeout(timer)
  }, [turning.value])
  const near = useSignal<AddressMark | undefined>(undefined)
  const drag = useSignal<Window | undefined>(undefined)
  const selected = marks.find(({ id }) => id === param('selected'))
  const zoomTo = (next: Window): void => setParams({ zoom: formatWindow(next) }, 'replace')
  const fractionAt = (event: MouseEvent, box: DOMRect): number =>
    window.from + ((event.clientX - box.left) / box.width) * (window.to - window.from)
  const nearest = (event: MouseEvent, box: DOMRect): AddressMark | undefined => {
    const pointer = fractionAt(event, box)
    const limit = (NEAR / box.width) * (window.to - window.from)
    const distance = ({ position }: AddressMark): number => Math.abs(position - pointer)
    return marks.reduce<AddressMark | undefined>(
      (best, mark) => (distance(mark) <= (best ? distance(best) : limit) ? mark : best),
      undefined,
    )
  }
  return (
    <div class="zoom">
      <div
        class="zoom-area"
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect()
          near.value = nearest(event, box)
          if (drag.value) drag.value = { ...drag.value, to: fractionAt(event, box) }
        }}
        onPointerLeave={() => {
          near.value = undefined
        }}
        onPointerDown={(event) => {
          const start = fractionAt(event, event.currentTarget.getBoundingClientRect())
          drag.value = { from: start, to: start }
        }}
        onPointerUp={(event) => {
          const range = drag.value && sortWindow(drag.value)
          drag.value = undefined
          if (range && range.to - range.from > (window.to - window.from) * 0.02) zoomTo(range)
          else {
            const mark = nearest(event, event.currentTarget.getBoundingClientRect())
            if (mark) setParams({ selected: mark.id }, 'replace')
          }
        }}
        onWheel={(event) => {
          if (!event.ctrlKey) return
          event.preventDefault()
          const around = fractionAt(event, event.currentTarget.getBoundingClientRect())
          turning.value = scaleWindow(window, event.deltaY > 0 ? 1.25 : 0.8, around)
        }}
      >
        <SubnetBar subnet={subnet} window={window} tall />
        <Marks marks={marks} window={window} selected={selected ?? near.value} />
        {drag.value && <Range range={sortWindow(drag.value)} window={window} />}
      </div>
      <div class="zoom-tools">
        <span class="code zoom-text">{describeMark(near.value ?? selected)}</span>
        {subnet.spans.map((span) => (
          <button type="button" class="small" key={span.id} onClick={() => zoomTo(widen(span))}>
            {`${span.role} ${span.start}–${lastPart(span.end)}`}
          </button>
        ))}
        <span class="zoom-steps">
          <button type="button" class="small" aria-label="Zoom in" onClick={() => zoomTo(scaleWindow(window, 0.5))}>
            +
          </button>
          <button type="button" class="small" aria-label="Zoom out" onClick={() => zoomTo(scaleWindow(window, 2))}>
            −
          </button>
          <button type="button" class="small" onClick={() => zoomTo(WHOLE)} disabled={window.to - window.from >= 1}>
            All
          </button>
        </span>
      </div>
    </div>
  )
}

interface MarksProps {
  readonly marks: readonly AddressMark[]
  readonly window: Window
  readonly selected: AddressMark | undefined
}

/** One path per state: a subnet may have thousands of addresses. */
function Marks({ marks, window, selected }: MarksProps): JSX.Element {
  const states = [...new Set(marks.map(({ state }) => state))]
  const path = (state: string): string =>
    marks
      .filter((mark) => mark.state === state && mark.position >= window.from && mark.position <= window.to)
      .map(({ position }) => `M${(inWindow(window, position) * 10).toFixed(2)} 0v10`)
      .join('')
  return (
    <svg class="marks" viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true">
      {states.map((state) => (
        <path key={state} class={`tick ${state}`} d={path(state)} />
      ))}
      {selected && <path class="tick chosen" d={`M${inWindow(window, selected.position) * 10} 0v10`} />}
    </svg>
  )
}

function Range({ range, window }: { readonly range: Window; readonly window: Window }): JSX.Element {
  const left = inWindow(window, range.from)
  return <span class="drag" style={{ left: `${left}%`, width: `${inWindow(window, range.to) - left}%` }} />
}

function describeMark(mark: AddressMark | undefined): string {
  if (!mark) return ''
  const holders = mark.live.length > 0 ? mark.live : mark.planned
  return `${mark.id}  ${mark.kind}  ${holders.join(', ')}${mark.reason ? `  ${mark.reason}` : ''}`
}

/** `90` of `172.17.0.90`. */
function lastPart(address: string): string {
  return address.slice(Math.max(address.lastIndexOf('.'), address.lastIndexOf(':')) + 1)
}

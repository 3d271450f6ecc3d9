/** A small bar that shows how full something is, with its figures. */
import type { JSX } from 'preact'

interface MeterProps {
  readonly fraction: number
  readonly label: string
  readonly text: string
}

/** From here on the bar has the colour of a warning. */
const NEARLY_FULL = 0.8

export function Meter({ fraction, label, text }: MeterProps): JSX.Element {
  const tone = fraction >= 1 ? 'full' : fraction >= NEARLY_FULL ? 'nearly' : ''
  return (
    <span class="meter">
      <span class="meter-label">{label}</span>
      <svg viewBox="0 0 60 6" preserveAspectRatio="none" aria-hidden="true">
        <rect width="60" height="6" class="track" />
        <rect width={Math.min(60, Math.max(fraction > 0 ? 1 : 0, fraction * 60))} height="6" class={`fill ${tone}`} />
      </svg>
      <span class="quiet number">{text}</span>
    </span>
  )
}

/** Used addresses of a subnet over time, as a line. */
import type { JSX } from 'preact'
import { formatTime } from './format.ts'

interface UseChartProps {
  readonly title: string
  readonly of: string
  readonly points: readonly { readonly time: string; readonly used: number }[]
}

const WIDTH = 240
const HEIGHT = 40

export function UseChart({ title, of, points }: UseChartProps): JSX.Element {
  const [first, last] = [points[0], points.at(-1)]
  const begin = Date.parse(first?.time ?? '')
  const length = Math.max(1, Date.parse(last?.time ?? '') - begin)
  const most = Math.max(1, ...points.map(({ used }) => used))
  const path = points
    .map(({ time, used }, index) => {
      const x = ((Date.parse(time) - begin) / length) * WIDTH
      const y = HEIGHT - 2 - (used / most) * (HEIGHT - 4)
      return `${index === 0 ? `M${x.toFixed(1)} ${y.toFixed(1)}` : `H${x.toFixed(1)}V${y.toFixed(1)}`}`
    })
    .join('')
  return (
    <figure class="chart">
      <figcaption>
        {title} <span class="quiet number">{last ? `${last.used} of ${of}` : ''}</span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        <path d={path} />
      </svg>
      <p class="quiet">{first && last ? `${formatTime(first.time)} to ${formatTime(last.time)}` : ''}</p>
    </figure>
  )
}

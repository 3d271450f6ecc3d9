/** Draws a state as a shape with its word, so that no state is shown by colour alone. */
import type { JSX } from 'preact'

export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'quiet'
type Shape = 'check' | 'dot' | 'half' | 'ring' | 'cross' | 'triangle' | 'square' | 'dash'

const paths: Readonly<Record<Shape, JSX.Element>> = {
  check: <path d="M2 6.5 4.8 9.2 10 3" class="stroke" />,
  dot: <circle cx="6" cy="6" r="3.5" />,
  half: (
    <>
      <circle cx="6" cy="6" r="4" class="stroke" />
      <path d="M6 2a4 4 0 0 1 0 8z" />
    </>
  ),
  ring: <circle cx="6" cy="6" r="4" class="stroke" />,
  cross: <path d="M2.5 2.5l7 7M9.5 2.5l-7 7" class="stroke" />,
  triangle: <path d="M6 1.5 11 10.5H1z" />,
  square: <rect x="2.5" y="2.5" width="7" height="7" />,
  dash: <path d="M2.5 6h7" class="stroke" />,
}

interface Look {
  readonly tone: Tone
  readonly shape: Shape
}

/** Every state of every view; a word that is not listed is shown quietly. */
const looks: Readonly<Record<string, Look>> = {
  ready: { tone: 'good', shape: 'check' },
  done: { tone: 'good', shape: 'check' },
  current: { tone: 'good', shape: 'check' },
  ok: { tone: 'good', shape: 'check' },
  passed: { tone: 'good', shape: 'check' },
  same: { tone: 'good', shape: 'check' },
  succeeded: { tone: 'good', shape: 'check' },
  valid: { tone: 'good', shape: 'check' },
  fine: { tone: 'good', shape: 'check' },
  live: { tone: 'good', shape: 'dot' },
  running: { tone: 'busy', shape: 'half' },
  progressing: { tone: 'busy', shape: 'half' },
  waiting: { tone: 'busy', shape: 'half' },
  connecting: { tone: 'busy', shape: 'half' },
  behind: { tone: 'warn', shape: 'triangle' },
  warning: { tone: 'warn', shape: 'triangle' },
  soon: { tone: 'warn', shape: 'triangle' },
  due: { tone: 'warn', shape: 'triangle' },
  changed: { tone: 'warn', shape: 'triangle' },
  interrupted: { tone: 'warn', shape: 'square' },
  stopped: { tone: 'warn', shape: 'square' },
  blocked: { tone: 'warn', shape: 'square' },
  denied: { tone: 'warn', shape: 'square' },
  partial: { tone: 'warn', shape: 'triangle' },
  failed: { tone: 'bad', shape: 'cross' },
  invalid: { tone: 'bad', shape: 'cross' },
  error: { tone: 'bad', shape: 'cross' },
  foreign: { tone: 'bad', shape: 'cross' },
  differs: { tone: 'bad', shape: 'cross' },
  conflict: { tone: 'bad', shape: 'cross' },
  outside: { tone: 'bad', shape: 'cross' },
  expired: { tone: 'bad', shape: 'cross' },
  critical: { tone: 'bad', shape: 'cross' },
  unreadable: { tone: 'bad', shape: 'cross' },
  lost: { tone: 'bad', shape: 'cross' },
  unreachable: { tone: 'bad', shape: 'ring' },
  pending: { tone: 'quiet', shape: 'ring' },
  planned: { tone: 'quiet', shape: 'ring' },
  unused: { tone: 'quiet', shape: 'ring' },
  never: { tone: 'quiet', shape: 'ring' },
  skipped: { tone: 'quiet', shape: 'dash' },
  info: { tone: 'quiet', shape: 'dot' },
}

const UNKNOWN: Look = { tone: 'quiet', shape: 'dash' }

interface MarkProps {
  readonly state: string
  /** What to read instead of the state's own word. */
  readonly label?: string
  /** The word is for screen readers only. */
  readonly short?: boolean
}

export function Mark({ state, label, short }: MarkProps): JSX.Element {
  const { tone, shape } = looks[state] ?? UNKNOWN
  return (
    <span class={`mark ${tone}`}>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        {paths[shape]}
      </svg>
      <span class={short ? 'unseen' : ''}>{label ?? state}</span>
    </span>
  )
}

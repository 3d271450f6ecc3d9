/** Chooses between plan, live addresses, both, and only what differs. */
import type { JSX } from 'preact'
import { Choice } from './choice.tsx'

export function ModeChoice({ hasLive }: { readonly hasLive: boolean }): JSX.Element | null {
  if (!hasLive) return null
  return (
    <Choice
      label="What is shown"
      name="mode"
      values={[
        ['', 'Plan and live'],
        ['plan', 'Plan'],
        ['live', 'Live'],
        ['difference', 'Difference'],
      ]}
    />
  )
}

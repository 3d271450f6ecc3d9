/** A choice between a few values, kept in the address. */
import type { JSX } from 'preact'
import { param, setParams } from '../state/location.ts'

interface ChoiceProps {
  readonly label: string
  readonly name: string
  /** The first is the default, which the address leaves out. */
  readonly values: readonly (readonly [value: string, title: string])[]
}

export function Choice({ label, name, values }: ChoiceProps): JSX.Element {
  const chosen = param(name) || (values[0]?.[0] ?? '')
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {values.map(([value, title], index) => (
        <label key={value} class={chosen === value ? 'chosen' : ''}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={chosen === value}
            onChange={() => setParams({ [name]: index === 0 ? '' : value })}
          />
          {title}
        </label>
      ))}
    </fieldset>
  )
}

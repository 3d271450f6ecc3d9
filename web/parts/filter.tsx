/** The filter of a view: its text is in the address, and every word must occur. */
import type { JSX } from 'preact'
import { param, setParams } from '../state/location.ts'

export function Filter({ label, shown, total }: FilterProps): JSX.Element {
  return (
    <label class="filter">
      <span class="unseen">{label}</span>
      <input
        type="search"
        data-filter
        placeholder={`${label}  /`}
        value={param('filter')}
        onInput={(event) => setParams({ filter: event.currentTarget.value }, 'replace')}
      />
      <span class="quiet" role="status">
        {shown === total ? `${total}` : `${shown} of ${total}`}
      </span>
    </label>
  )
}

interface FilterProps {
  readonly label: string
  readonly shown: number
  readonly total: number
}

/** Whether a line with these texts is shown. */
export function matchesFilter(filter: string, texts: readonly (string | undefined)[]): boolean {
  if (filter === '') return true
  const line = texts.join(' ').toLowerCase()
  return filter
    .toLowerCase()
    .split(/\s+/)
    .every((word) => line.includes(word))
}

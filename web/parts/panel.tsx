/** A titled part of a view. */
import type { ComponentChildren, JSX } from 'preact'
import { Sentence } from './sentence.tsx'

interface PanelProps {
  readonly title: string
  readonly more?: ComponentChildren
  readonly children: ComponentChildren
}

export function Panel({ title, more, children }: PanelProps): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {more}
      </header>
      {children}
    </section>
  )
}

/** Says why there is nothing to show, and what to do. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <div class="empty">
      <p>
        <Sentence text={title} />
      </p>
      {children}
    </div>
  )
}

/** Pairs of name and value; a pair without a value is left out. */
export function Facts({
  of: pairs,
}: {
  readonly of: readonly (readonly [string, ComponentChildren])[]
}): JSX.Element | null {
  const given = pairs.filter(([, value]) => value !== undefined && value !== '')
  if (given.length === 0) return null
  return (
    <dl class="facts">
      {given.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}

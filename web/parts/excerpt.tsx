/** Lines of a file with their numbers; the marked ones are what a finding is about. */
import type { JSX } from 'preact'

interface ExcerptProps {
  readonly file: string
  readonly lines: readonly { readonly number: number; readonly text: string; readonly marked: boolean }[]
}

export function Excerpt({ file, lines }: ExcerptProps): JSX.Element {
  return (
    <figure class="excerpt">
      <figcaption class="code quiet">{file}</figcaption>
      <ol start={lines[0]?.number} aria-label={`Lines of ${file}`} tabIndex={0}>
        {lines.map(({ number, text, marked }) => (
          <li key={number} class={marked ? 'marked' : ''}>
            <span class="line-number" aria-hidden="true">
              {number}
            </span>
            <code>{marked ? <mark>{text}</mark> : text}</code>
          </li>
        ))}
      </ol>
    </figure>
  )
}
